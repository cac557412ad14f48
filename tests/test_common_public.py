"""What a release folder reveals: its public files are functions of the released data and of written-down facts.

Two originals with the same released data, the same parameters and the same number of records left out must give the
same public bytes. The originals differ where an attacker would look: in suppressed rows, in who holds a sensitive item,
in the domains beyond what is published, in evidence of any kind.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Baskets, Release, Table, intervals, masked, person, quasi, sensitive
from discreet.core.registry import Method
from discreet.core.release import Evidence
from discreet.guarantees import KAnonymity, RulesHidden
from discreet.publish import (
    Anatomy,
    AprioriAnonymization,
    Cahd,
    Condensation,
    DeltaSketch,
    Generalization,
    GlobalRecoding,
    Incognito,
    KVarianceSketch,
    LocalRecoding,
    LocalSuppression,
    Microaggregation,
    Mondrian,
    OptimalLattice,
    PermMondrian,
    Samarati,
    SketchFamily,
    UncertainRecords,
)
from discreet.report import render
from discreet.report.folder import public_record
from tests.hiding_methods import hiders

SCHEMA = {
    "age": quasi(intervals(5, 10, 20)),
    "zip": quasi(masked(), allow_unique=True),
    "disease": sensitive(),
}
TABLE_METHODS: dict[str, Callable[[], Any]] = {
    "mondrian": lambda: Mondrian(KAnonymity(3), random_state=1),
    "generalization": lambda: Generalization(
        KAnonymity(3), levels={"age": 2, "zip": 3}, max_suppressed=0.9, random_state=1
    ),
    "optimal": lambda: OptimalLattice(KAnonymity(3), max_suppressed=0.3, random_state=1),
    "samarati": lambda: Samarati(KAnonymity(3), max_suppressed=0.3, random_state=1),
    "incognito": lambda: Incognito(KAnonymity(3), max_suppressed=0.3, random_state=1),
    "global": lambda: GlobalRecoding(KAnonymity(3), max_suppressed=0.3, random_state=1),
    "local": lambda: LocalRecoding(KAnonymity(3), random_state=1),
    "local-suppression": lambda: LocalSuppression(KAnonymity(3), random_state=1),
    "microaggregation": lambda: Microaggregation(KAnonymity(3), random_state=1),
    "anatomy": lambda: Anatomy(2, random_state=1),
    "condensation": lambda: Condensation(3, random_state=1),
}


def people(n: int = 60, *, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 60, n),
            "zip": [f"{one:05d}" for one in rng.integers(0, 40, n)],
            "disease": rng.choice(["flu", "cold", "measles", "mumps"], n),
        }
    )


def public(release: Release) -> tuple[str, str]:
    """The public record and the public report, without what no reader can see."""
    record = json.dumps(public_record(release), sort_keys=True, default=str)
    return record, render(release)


def with_other_evidence(release: Release, other: Any) -> Release:
    """The same released data, as if made from another original with other evidence."""
    arrays = {name: np.ones_like(values) for name, values in release.evidence.arrays.items()}
    evidence = Evidence(
        release.evidence.n_rows,
        sizes=release.evidence.sizes + 1,
        suppressed=release.evidence.suppressed,
        arrays=arrays,
        order=None,
        details={"loss": 0.123, "largest": [1]},
    )
    changed = replace(release, evidence=evidence, original=other, private={"secret": "SECRET"})
    object.__setattr__(changed, "verdict", release.verdict)
    return changed


@pytest.mark.parametrize("method", [one for one in TABLE_METHODS if one not in ("anatomy", "condensation")])
def test_a_public_file_does_not_look_at_whose_rows_they_are(method: str) -> None:
    whose = pa.array(np.random.default_rng(5).integers(0, 40, 60))
    roles = SCHEMA | {"patient": person()}
    release = TABLE_METHODS[method]().release(Table(people().append_column("patient", whose), roles))
    others = people(33, seed=9).append_column("patient", pa.array(range(33)))
    assert public(with_other_evidence(release, Table(others, roles))) == public(release)


@pytest.mark.parametrize("method", TABLE_METHODS)
def test_a_public_file_does_not_look_at_the_original(method: str) -> None:
    release = TABLE_METHODS[method]().release(Table(people(), SCHEMA))
    changed = with_other_evidence(release, Table(people(33, seed=9), SCHEMA))
    assert public(changed) == public(release)


def test_a_public_file_of_uncertain_records_does_not_look_at_the_original() -> None:
    frames = [people(n, seed=seed).drop_columns(["zip", "disease"]) for n, seed in ((60, 0), (33, 9))]
    first, second = (Table(frame, {"age": quasi()}) for frame in frames)
    release = UncertainRecords(3, random_state=1).release(first)
    assert public(with_other_evidence(release, second)) == public(release)


BASKETS = Baskets.from_lists(
    [
        [
            f"item{at % 7}",
            f"item{(at * 3) % 11}",
            *(["secret-a"] if at % 9 == 0 else []),
            *(["secret-b"] if at % 11 == 0 else []),
        ]
        for at in range(90)
    ]
)
BASKET_METHODS: dict[str, Callable[[], Any]] = {
    "cahd": lambda: Cahd(4, sensitive=["secret-a", "secret-b"], random_state=1),
    "perm-mondrian": lambda: PermMondrian(4, sensitive=["secret-a", "secret-b"], random_state=1),
    "anatomy": lambda: Anatomy(4, sensitive=["secret-a", "secret-b"], random_state=1),
    "apriori": lambda: AprioriAnonymization(3, 2, random_state=1),
    "delta-sketch": lambda: DeltaSketch(0.25, family=SketchFamily("key"), random_state=1),
    "k-variance-sketch": lambda: KVarianceSketch(3, family=SketchFamily("key"), random_state=1),
}


@hiders("baskets")
def test_a_public_file_of_hidden_rules_does_not_look_at_the_original(method: Method) -> None:
    rules = ["item1 => item3"]
    release = method.make(RulesHidden(rules, 0.05, 0.1), random_state=1).hide(BASKETS)
    other = Baskets.from_lists([["item1", "item3"], ["y", "secret-b"], ["z"]] * 5)
    changed = with_other_evidence(release, other)
    assert public(changed) == public(release)
    hidden_otherwise = replace(changed, guarantee=RulesHidden(["item5, item6", "item2"], 3, 0.9, 0.3))
    object.__setattr__(hidden_otherwise, "verdict", release.verdict)
    assert public(hidden_otherwise) == public(release)


@hiders("table")
def test_a_public_file_of_a_table_with_hidden_rules_does_not_look_at_the_original(method: Method) -> None:
    made = Table(people(), {"age": quasi(), "zip": quasi(), "disease": sensitive()})
    rows = made.frame.to_pylist()
    rule = f"zip={rows[0]['zip']} => disease={rows[0]['disease']}"
    release = method.make(RulesHidden([rule], 1, 0.01), random_state=1).hide(made)
    changed = with_other_evidence(release, Table(people(33, seed=9), made.schema))
    assert public(changed) == public(release)


@pytest.mark.parametrize("method", BASKET_METHODS)
def test_a_public_file_of_baskets_does_not_look_at_the_original(method: str) -> None:
    release = BASKET_METHODS[method]().release(BASKETS)
    other = Baskets.from_lists([["x", "secret-a"], ["y", "secret-b"], ["z"]] * 5)
    assert public(with_other_evidence(release, other)) == public(release)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25)
def test_who_holds_a_sensitive_item_does_not_show(seed: int) -> None:
    """The attack that once worked: move the items inside the groups, and compare the report."""
    release = Cahd(3, sensitive=["s"], random_state=1).release(
        Baskets.from_lists(
            [[f"i{at % 5}", f"j{at % 3}", *(["s"] if at % 4 == 0 else [])] for at in range(24)]
        )
    )
    data = release.data
    rng = np.random.default_rng(seed)
    moved = []
    for group in range(data.n_groups):
        members = np.flatnonzero(data.group == group)
        held = int(data.sensitive.counts[data.sensitive.group == group].sum())
        holders = set(rng.permutation(members)[:held].tolist())
        moved += [(int(row), row in holders) for row in members]
    lists = [
        [*data.baskets.take(np.array([row])).lists()[0], *(["s"] if holds else [])] for row, holds in moved
    ]
    other = replace(release, original=Baskets.from_lists(lists))
    assert public(other) == public(release)


@given(
    age=st.integers(0, 99), code=st.integers(0, 99_999), disease=st.sampled_from(["rare", "flu", "plague"])
)
@settings(max_examples=25)
def test_the_one_suppressed_person_does_not_show(age: int, code: int, disease: str) -> None:
    """Figures before and after once gave all values of the only suppressed row."""
    base = people(50)
    made = []
    for one in ((age, f"{code:05d}", disease), (1, "99999", "mumps")):
        row = pa.table({"age": [one[0] + 200], "zip": [one[1]], "disease": [one[2]]})
        table = Table(pa.concat_tables([base, row]), {"age": quasi(), "zip": quasi(), "disease": sensitive()})
        publisher = Generalization(
            KAnonymity(2), levels={"age": 0, "zip": 1}, max_suppressed=1.0, random_state=1
        )
        made.append(publisher.release(table))
    first, second = made
    assert first.evidence.suppressed == second.evidence.suppressed
    assert public(first)[0] == public(second)[0]
    assert public(first)[1] == public(second)[1]


def release_pair(
    method: str, first: tuple[pa.Table, Any], second: tuple[pa.Table, Any]
) -> tuple[Release, Release]:
    """Release two originals by the same method; their released rows must be the same."""
    made = []
    for frame, columns in (first, second):
        publisher = ALL_ALIKE[method](frame.num_rows)
        made.append(publisher.release(Table(frame, columns)))
    one, other = (release.frame.sort_by([(name, "ascending") for name in NAMES]) for release in made)
    assert one.equals(other)
    return made[0], made[1]


NAMES = ("age", "zip", "disease")
ALL_ALIKE: dict[str, Callable[..., Any]] = {
    "mondrian": lambda n: Mondrian(KAnonymity(n), random_state=1),
    "generalization": lambda n: Generalization(
        KAnonymity(n), levels={"age": "top", "zip": "top"}, random_state=1
    ),
    "optimal": lambda n: OptimalLattice(KAnonymity(n), random_state=1),
    "samarati": lambda n: Samarati(KAnonymity(n), random_state=1),
    "incognito": lambda n: Incognito(KAnonymity(n), random_state=1),
    "global": lambda n: GlobalRecoding(KAnonymity(n), random_state=1),
    "local": lambda n: LocalRecoding(KAnonymity(n), random_state=1),
    "local-suppression": lambda n: LocalSuppression(KAnonymity(n), random_state=1),
}
"""Publishers of tables that make one class of all rows."""
SPREAD = st.sampled_from([(5, 10, 20), (5,), (3, 9, 27, 81), (7, 14)])


def starred(width: int, widths: tuple[int, ...], top: int | None, *, numbers: bool) -> tuple[pa.Table, Any]:
    """Return rows of which a release of one class shows nothing but stars and diseases."""
    codes = [f"{number}{'0' * (width - 1)}" for number in (1, 2, 3, 4, 5, 6)]
    frame = pa.table(
        {
            "age": pa.array([1, 15, 700, 20, 80, 900]),
            "zip": pa.array([int(code) for code in codes]) if numbers else pa.array(codes),
            "disease": ["flu", "cold", "flu", "cold", "flu", "cold"],
        }
    )
    columns = {
        "age": quasi(intervals(*widths, top=top)),
        "zip": quasi(masked(), allow_unique=True),
        "disease": sensitive(),
    }
    return frame, columns


@pytest.mark.parametrize("method", ALL_ALIKE)
@given(
    widths=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    intervals_=st.tuples(SPREAD, SPREAD),
    tops=st.tuples(st.sampled_from([None, 800]), st.sampled_from([None, 850])),
    numbers=st.tuples(st.booleans(), st.booleans()),
)
@settings(max_examples=15, deadline=None)
def test_a_starred_column_says_nothing_of_its_hierarchy(
    method: str, widths: Any, intervals_: Any, tops: Any, numbers: Any
) -> None:
    """The length of the longest code was in release.json once, although every cell was a star."""
    both = zip(widths, intervals_, tops, numbers, strict=True)
    first, second = (starred(width, steps, top, numbers=kind) for width, steps, top, kind in both)
    one, other = release_pair(method, first, second)
    assert set(one.frame["zip"].to_pylist()) == {"*"} == set(one.frame["age"].to_pylist())
    assert public(one)[0] == public(other)[0]
    assert public(one)[1] == public(other)[1]


@given(
    height=st.integers(2, 5),
    extra=st.sampled_from([(), (40,), (40, 120)]),
    top=st.sampled_from([None, 90, 200]),
    odd=st.integers(101, 100_000),
    code=st.text("0123456789", min_size=1, max_size=9),
)
@settings(max_examples=40, deadline=None)
def test_what_no_released_cell_shows_of_a_hierarchy_is_not_published(
    height: int, extra: Any, top: int | None, odd: int, code: str
) -> None:
    """Levels above those in use, ends beyond which nobody was published, widths that only a suppressed code has."""
    base = pa.table({"age": [21, 22, 23] * 4, "zip": ["02138"] * 12, "disease": ["a", "b", "c"] * 4})
    made = []
    for more, end, age, last, width in (((), None, 101, "1", 9), (extra, top, odd, code, 9)):
        row = pa.table({"age": [age], "zip": [last], "disease": ["a"]})
        columns = {
            "age": quasi(intervals(5, 10, *more, top=end)),
            "zip": quasi(masked(width=width), allow_unique=True),
            "disease": sensitive(),
        }
        publisher = Generalization(
            KAnonymity(3), levels={"age": 2, "zip": height}, max_suppressed=0.5, random_state=1
        )
        made.append(publisher.release(Table(pa.concat_tables([base, row]), columns)))
    one, other = made
    assert one.frame.sort_by("disease").equals(other.frame.sort_by("disease"))
    assert one.evidence.suppressed == other.evidence.suppressed == 1
    assert public(one)[0] == public(other)[0]


def test_what_is_shown_is_published_and_all_of_it_is_kept() -> None:
    table = Table(
        people(), {"age": quasi(intervals(5, 10, 20, top=50)), "zip": quasi(masked()), "disease": sensitive()}
    )
    publisher = Generalization(KAnonymity(2), levels={"age": 1, "zip": 4}, max_suppressed=0.9, random_state=1)
    release = publisher.release(table)
    age, code, _ = release.recipe["columns"]
    assert age["hierarchy"]["widths"] == [5]
    assert age["hierarchy"]["top"] == 50
    assert code["hierarchy"]["width"] == 5
    assert release.private["columns"]["age"]["hierarchy"]["widths"] == [5, 10, 20]


def test_only_the_private_folder_holds_what_compares(tmp_path: Path) -> None:
    release = Mondrian(KAnonymity(3), random_state=1).release(Table(people(), SCHEMA))
    folder = release.write(tmp_path / "out")
    text = (folder / "release.json").read_text() + (folder / "report.html").read_text()
    for word in ("risk_before", '"loss"', "Detail given up"):
        assert word not in text
    kept = json.loads((tmp_path / "out.private" / "recipe.private.json").read_text())
    assert kept["seed"] == 1
    assert kept["measures"]["loss"]["total"] >= 0
