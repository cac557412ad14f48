"""Cautions: what a careful data officer would say although the guarantee holds."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet import Baskets, Release, Table, identifier, intervals, other, person, quasi, sensitive
from discreet.core.errors import StrictError
from discreet.guarantees import DistinctDiversity, KAnonymity, RecursiveDiversity, TCloseness
from discreet.output.hiding import ExactHiding
from discreet.publish import (
    Anatomy,
    Cahd,
    Condensation,
    DeltaSketch,
    Generalization,
    KVarianceSketch,
    Mondrian,
    SketchFamily,
)
from discreet.report import render


def codes(release: Release) -> dict[str, bool]:
    return {caution.code: caution.public for caution in release.cautions}


def test_a_class_that_is_nearly_one_value_is_named() -> None:
    frame = pa.table({"age": [30] * 20 + [40] * 20, "disease": ["SECRET"] * 19 + ["b"] + ["a", "b"] * 10})
    table = Table(frame, {"age": quasi(), "disease": sensitive()})
    release = Mondrian(KAnonymity(5) & DistinctDiversity(2)).release(table)
    assert release.verdict.ok
    (caution,) = release.cautions
    assert caution.code == "dominated-class"
    assert "1 classes (20 rows)" in caution.text
    assert "SECRET" not in caution.text


@pytest.mark.parametrize("publisher", [Mondrian(KAnonymity(5)), Condensation(5)])
def test_a_sensitive_value_that_everyone_has_is_named(publisher: Mondrian | Condensation) -> None:
    frame = pa.table({"age": [float(one) for one in range(20, 40)] * 3, "disease": ["SECRET"] * 60})
    columns = {"age": quasi(), "disease": sensitive()}
    release = publisher.release(Table(frame, columns))
    assert codes(release)["single-value"]
    assert not any("SECRET" in one.text for one in release.cautions)
    for other_cells in (["b"], [None]):
        mixed = frame.set_column(1, "disease", pa.array(["SECRET"] * 59 + other_cells))
        assert "single-value" not in codes(Mondrian(KAnonymity(5)).release(Table(mixed, columns)))


def test_rows_and_columns_of_stars_are_named() -> None:
    frame = pa.table({"age": list(range(40)), "town": ["a", "b"] * 20})
    table = Table(frame, {"age": quasi(), "town": quasi()})
    release = Generalization(KAnonymity(40), levels={"age": 1, "town": 1}).release(table)
    assert {"starred-rows", "hidden-column", "half-lost"} <= set(codes(release))
    assert not codes(release)["half-lost"], "the loss is computed from the original"
    assert any("40 rows (100.0%)" in caution.text for caution in release.cautions)


def test_a_column_that_is_nearly_constant_is_named() -> None:
    frame = pa.table({"age": [30, 40] * 60, "town": ["a"] * 120})
    release = Mondrian(KAnonymity(2)).release(Table(frame, {"age": quasi(), "town": quasi()}))
    assert codes(release) == {"constant-column": True}


def test_a_column_that_names_people_is_named() -> None:
    frame = pa.table({"age": [30, 40] * 30, "visit": [f"v{at}" for at in range(60)], "ward": ["x", "y"] * 30})
    table = Table(frame, {"age": quasi(), "visit": other(allow_unique=True), "ward": other()})
    release = Mondrian(KAnonymity(2)).release(table)
    assert codes(release) == {"unique-column": True}
    assert "'visit'" in release.cautions[0].text
    assert "v1" not in release.cautions[0].text


TWINS = ["hiv", "HIV ", "HIV\u200b", "\uff28\uff29\uff36", "Hiv\ufeff", "\u00a0hIV", "HIV\ufe0f", "H IV"]


def with_twins(*, sensitive: list[str]) -> Release:
    held = [[name, "tea"] for name in ("HIV", *TWINS, "HIV test", "HI")]
    baskets = Baskets.from_lists([*held, *([["tea", "milk"]] * 60)])
    return Cahd(3, sensitive=sensitive, random_state=1).release(baskets)


def test_items_that_are_spelled_like_a_sensitive_one_are_counted() -> None:
    release = with_twins(sensitive=["HIV"])
    assert codes(release) == {"spelled-like-sensitive": True, "group-forming": True}
    text = release.cautions[0].text
    assert text.startswith(f"{len(TWINS)} ordinary items")
    assert "hiv" not in text.casefold()
    assert "sensitive-spelled-alike" in codes(with_twins(sensitive=["HIV", *TWINS]))
    assert codes(with_twins(sensitive=["HIV test", "HI"])) == {"group-forming": True}


@pytest.mark.parametrize("kind", ["baskets", "table"])
def test_items_that_are_spelled_like_one_of_a_rule_are_counted_for_the_owner(kind: str) -> None:
    rows = [["HIV", "x"]] * 6 + [[name, "x"] for name in TWINS] + [["flu", "y"]] * 20
    if kind == "baskets":
        data, before = Baskets.from_lists(rows), ""
    else:
        frame = pa.table({"disease": [row[0] for row in rows], "ward": [row[1] for row in rows]})
        data, before = Table(frame, {"disease": quasi(), "ward": quasi()}), "disease="
    rules = [f"{before}HIV", f"{before}hiv"]
    release = ExactHiding([[rule] for rule in rules], min_support=3, random_state=1).hide(data)
    found = [one for one in release.cautions if one.code == "spelled-like-rules"]
    assert [one.public for one in found] == [False], "which rules are hidden is private"
    assert found[0].text.startswith(f"{len(TWINS) - 1} items")
    assert "hiv" not in found[0].text.casefold()
    flu = ExactHiding([[f"{before}flu"]], min_support=30, random_state=1).hide(data)
    assert "spelled-like-rules" not in codes(flu)


@pytest.mark.parametrize("publisher", [Mondrian(KAnonymity(2) & DistinctDiversity(2)), Anatomy(2)])
def test_sensitive_values_that_are_spelled_alike_are_counted(publisher: Mondrian | Anatomy) -> None:
    roles = {"age": quasi(), "disease": sensitive()}
    ages = [20 + number // 4 for number in range(40)]
    alike = Table(pa.table({"age": ages, "disease": ["HIV", "hiv ", "flu", None] * 10}), roles)
    (found,) = [one for one in publisher.release(alike).cautions if one.code == "sensitive-spelled-alike"]
    assert found.public, "it follows from the released values"
    assert found.text.startswith("2 values of 'disease'")
    assert "hiv" not in found.text.casefold()
    for values in (["HIV", "HIV 2", "flu", None], [1, 12, 3, None]):
        plain = Table(pa.table({"age": ages, "disease": values * 10}), roles)
        assert "sensitive-spelled-alike" not in codes(publisher.release(plain))


def test_numbers_are_spelled_in_one_way() -> None:
    baskets = Baskets.from_lists([[1, 2], [1], [2], [12], [1, 2], [2]] * 3)
    assert "spelled-like-sensitive" not in codes(Cahd(3, sensitive=[12]).release(baskets))
    hidden = ExactHiding(["1 => 2"], min_support=2, random_state=1).hide(baskets)
    assert "spelled-like-rules" not in codes(hidden)


def test_a_plain_release_has_none() -> None:
    frame = pa.table({"age": [30, 30, 40, 40] * 5, "disease": ["a", "b", "c", "d"] * 5})
    table = Table(frame, {"age": quasi(intervals(10)), "disease": sensitive()})
    assert Mondrian(KAnonymity(2)).release(table).cautions == ()


def test_strict_writes_nothing(tmp_path: Path) -> None:
    frame = pa.table({"age": [30, 40] * 60, "town": ["a"] * 120})
    release = Mondrian(KAnonymity(2)).release(Table(frame, {"age": quasi(), "town": quasi()}))
    with pytest.raises(StrictError, match="cautions"):
        release.write(tmp_path / "out", strict=True)
    assert list(tmp_path.iterdir()) == []
    record = json.loads((release.write(tmp_path / "out") / "release.json").read_text())
    assert [caution["code"] for caution in record["cautions"]] == ["constant-column"]
    assert "Before you hand it on" in (tmp_path / "out" / "report.html").read_text()


def test_categories_that_show_the_value_of_their_group_are_named() -> None:
    """Whole ZIP codes share a value: the groups of a ZIP code show it in the pseudo-records too."""
    rng = np.random.default_rng(5)
    n = 1200
    zips = rng.integers(0, 60, n)
    weight = 50 + zips + rng.normal(0, 0.5, n)
    tied = np.where(rng.random(n) < 0.9, np.array(["flu", "cold", "gout"])[zips % 3], "flu")
    free = rng.choice(["flu", "cold", "gout"], n)
    roles = {"weight": quasi(), "zip": quasi(), "disease": sensitive()}
    found = {}
    for name, disease in (("tied", tied), ("free", free)):
        frame = pa.table(
            {"weight": weight, "zip": [f"Z{one:02d}" for one in zips], "disease": disease.tolist()}
        )
        release = Condensation(10, random_state=1).release(Table(frame, roles))
        found[name] = [one for one in release.cautions if one.code == "telling-category"]
    assert not found["free"]
    (caution,) = found["tied"]
    assert caution.public
    assert "'zip'" in caution.text
    assert "Z01" not in caution.text


def test_a_value_that_everyone_has_is_no_news_in_a_class() -> None:
    frame = pa.table({"age": [30] * 50 + [40] * 50, "drug": ["No"] * 98 + ["Up"] * 2})
    release = Mondrian(KAnonymity(5)).release(Table(frame, {"age": quasi(), "drug": sensitive()}))
    assert codes(release) == {}
    many = pa.table({"age": [30] * 50 + [40] * 50, **{f"d{at}": ["a"] * 50 + ["b"] * 50 for at in range(5)}})
    roles = {"age": quasi(), **{f"d{at}": sensitive() for at in range(5)}}
    release = Mondrian(KAnonymity(5)).release(Table(many, roles))
    (caution,) = [one for one in release.cautions if one.code == "dominated-class"]
    assert "5 sensitive columns" in caution.text


def test_anatomy_says_how_many_quasi_identifiers_are_unique() -> None:
    frame = pa.table({"age": [*range(40), 40, 40], "disease": ["a", "b", "SECRET"] * 14})
    release = Anatomy(3).release(Table(frame, {"age": quasi(), "disease": sensitive()}))
    (caution,) = release.cautions
    assert (caution.code, caution.public) == ("unique-quasi-identifiers", True)
    assert "40 of 42 rows (95%)" in caution.text
    assert "SECRET" not in caution.text
    alike = pa.table({"age": [20, 30] * 21, "disease": ["a", "b", "c"] * 14})
    assert codes(Anatomy(3).release(Table(alike, {"age": quasi(), "disease": sensitive()}))) == {}


def test_pseudonyms_that_link_rows_are_named_whatever_their_role() -> None:
    """Two rows of a person in one table: whoever knows both finds the pseudonym that is in both classes."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(40), 2)
    frame = pa.table({"who": [f"p{one}" for one in who], "age": rng.integers(20, 80, 80)})
    key = bytes(range(32))
    for role in (identifier, person):
        release = Mondrian(KAnonymity(4)).release(Table(frame, {"who": role(pseudonym=key), "age": quasi()}))
        (linked,) = [caution for caution in release.cautions if caution.code == "linked-rows"]
        assert linked.public
        classes: dict[str, set[str]] = {}
        for name, age in zip(*(release.frame[column].to_pylist() for column in ("who", "age")), strict=True):
            classes.setdefault(name, set()).add(age)
        several = Counter(tuple(sorted(ages)) for ages in classes.values() if len(ages) > 1)
        assert f"{sum(count == 1 for count in several.values())} of 40" in linked.text
    dropped = Mondrian(KAnonymity(4)).release(Table(frame, {"who": identifier(), "age": quasi()}))
    assert "linked-rows" not in codes(dropped)


def test_levels_that_show_where_copies_are_avoided_are_named() -> None:
    frame = pa.table({"age": list(range(60)), "level": [1, 5, 5] * 20})
    table = Table(frame, {"age": quasi(), "level": quasi()})
    release = Condensation("level", random_state=1).release(table)
    assert codes(release)["levels-show"]
    assert "level 1" in render(release)
    assert "levels-show" not in codes(
        Condensation("level", avoid_copies=False, random_state=1).release(table)
    )
    assert "levels-show" not in codes(Condensation(5, random_state=1).release(table))


def test_a_label_that_decides_what_is_drawn_and_left_out_is_named() -> None:
    frame = pa.table({"age": [1, 2, 3, 4, 9, 9, 9, 9] * 2, "ill": ["flu", "hiv"] * 8})
    table = Table(frame, {"age": quasi(), "ill": sensitive()})
    release = Condensation(2, label="ill", random_state=1).release(table)
    assert codes(release)["label-shows"]
    assert "label-shows" not in codes(Condensation(2, random_state=1).release(table))
    assert "label-shows" not in codes(
        Condensation(2, label="ill", avoid_copies=False, random_state=1).release(table)
    )


def test_hidden_rules_are_a_claim_to_others_and_verified_to_the_owner() -> None:
    shop = Baskets.from_lists([["a", "b"]] * 6 + [["a"], ["b"], ["c"]] * 4)
    release = ExactHiding([["a", "b"]], min_support=3).hide(shop)
    assert release.verdict.verified
    page = render(release)
    assert "the guarantee is claimed" in page
    assert "Recomputed from the released data alone" not in page
    assert "the guarantee is verified" in render(release, internal=True)


def test_the_caution_on_suppressed_sketches_names_what_suppressed_them() -> None:
    lists = [["a"], ["a", "b"], ["a", "b", "c"], ["d"], ["d", "e"], ["f"], ["f", "g"]] * 4
    baskets = Baskets.from_lists([[*items, f"x{at % 3}"] for at, items in enumerate(lists)])
    family = SketchFamily(bytes(range(32)), 64)
    near = KVarianceSketch(3, family=family, gap="distance", random_state=1).release(baskets)
    short = DeltaSketch(3.0, family=family, random_state=1).release(baskets)
    texts = {}
    for name, release in {"near": near, "short": short}.items():
        texts[name] = " ".join(one.text for one in release.cautions if one.code == "suppressed-records")
    assert "neighbors are too near" in texts["near"]
    assert "delta" not in texts["near"]
    assert "the shortest records go first" in texts["short"]


@pytest.mark.parametrize(
    ("guarantee", "remedy"),
    [
        (KAnonymity(2), "Diversity or t-closeness limits that."),
        (KAnonymity(2) & TCloseness(0.9), "It is within the guarantee; a smaller t limits that further."),
        (
            KAnonymity(2) & RecursiveDiversity(50, 2),
            "It is within the guarantee; a larger l limits that further.",
        ),
    ],
)
def test_a_dominated_class_names_what_is_stronger_than_the_guarantee(guarantee, remedy: str) -> None:
    """First use (24): under t-closeness the caution said that t-closeness would limit that."""
    frame = pa.table({"age": [20] * 20 + [60] * 20, "ill": ["flu"] * 19 + ["cold"] + ["cold", "HIV"] * 10})
    release = Generalization(guarantee, levels={"age": 0}).release(
        Table(frame, {"age": quasi(), "ill": sensitive()})
    )
    (caution,) = (each for each in release.cautions if each.code == "dominated-class")
    assert caution.text.endswith(remedy)


def test_of_several_dominated_columns_those_without_a_guarantee_are_counted() -> None:
    values = ["flu"] * 19 + ["cold"] + ["cold", "HIV"] * 10
    names = [f"ill {number}" for number in range(5)]
    frame = pa.table({"age": [20] * 20 + [60] * 20} | dict.fromkeys(names, values))
    columns = {"age": quasi()} | {name: sensitive() for name in names}
    guarantee = KAnonymity(2) & TCloseness(0.9, of="ill 0")
    release = Generalization(guarantee, levels={"age": 0}).release(Table(frame, columns))
    (caution,) = (each for each in release.cautions if each.code == "dominated-class")
    assert "4 of them have no guarantee of their own: diversity or t-closeness limits that" in caution.text
    assert caution.text.endswith("elsewhere a smaller t does.")
