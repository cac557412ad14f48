"""Redrawing: no row looks like one person alone, the sensitive values play no part, and the rest stays as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Table, other, quasi, sensitive
from discreet.core.errors import InfeasibleError
from discreet.measure import copies
from discreet.publish import Condensation
from discreet.publish.pseudo.redraw import UnavoidableCopiesError


def discrete(ages: list[int], towns: list[str], ill: list[Any]) -> Table:
    frame = pa.table({"age": ages, "town": towns, "ill": ill})
    return Table(frame, {"age": quasi(), "town": quasi(), "ill": sensitive()})


def drawn(n: int = 300, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    ages = np.sort(rng.integers(20, 70, n))
    return {
        "ages": ages.tolist(),
        "towns": rng.choice(list("abcd"), n).tolist(),
        "ill": rng.choice(["no", "yes"], n).tolist(),
    }


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 12), st.sampled_from("ab"), st.sampled_from(["no", "yes"])),
        min_size=2,
        max_size=30,
    ),
    k=st.integers(1, 4),
)
@settings(max_examples=60, deadline=None)
def test_no_row_looks_like_one_person_alone(rows: list[tuple[int, str, str]], k: int) -> None:
    table = discrete(*(list(column) for column in zip(*rows, strict=True)))
    try:
        release = Condensation(k, random_state=0).release(table)
    except UnavoidableCopiesError:
        assert k > 1
        return
    except InfeasibleError:
        assert k > len(rows)
        return
    assert release.frame.num_rows + release.evidence.suppressed == len(rows)
    alone = {one for one in (row[:2] for row in rows) if sum(row[:2] == one for row in rows) == 1}
    published = set(zip(release.frame["age"].to_pylist(), release.frame["town"].to_pylist(), strict=True))
    if k > 1:
        assert not published & alone
    else:
        assert published == {row[:2] for row in rows}
    assert release.verdict.ok


def test_copies_were_there_before_and_are_not_now() -> None:
    table = discrete(**drawn())
    before = Condensation(5, avoid_copies=False, random_state=0).release(table)
    after = Condensation(5, random_state=0).release(table)
    assert copies(before).singled_out > 10
    assert copies(after).singled_out == 0
    assert after.evidence.details["redrawn"] > 10
    assert after.recipe["parameters"]["avoid_copies"] is True
    again = Condensation(5, random_state=0).release(table)
    assert again.frame.equals(after.frame)


def test_which_rows_are_drawn_again_does_not_depend_on_sensitive_values() -> None:
    """A published row must not prove that a person does not have its sensitive value."""
    rows = drawn()
    rng = np.random.default_rng(3)
    columns = [
        ["no"] * 300,
        ["yes"] * 300,
        rng.choice(["no", "yes"], 300).tolist(),
        rows["ages"],
        [None] * 300,
    ]
    releases = [Condensation(5, random_state=0).release(discrete(**rows | {"ill": ill})) for ill in columns]
    first = releases[0]
    assert first.evidence.details["redrawn"] > 10
    for release in releases[1:]:
        assert release.frame.drop(["ill"]).equals(first.frame.drop(["ill"]))
        assert release.evidence.details["redrawn"] == first.evidence.details["redrawn"]


def test_sensitive_columns_follow_the_others_where_copies_are_avoided() -> None:
    rng = np.random.default_rng(1)
    age = rng.integers(20, 90, 3000)
    income = age * 900.0 + rng.normal(0, 4000, 3000)
    frame = pa.table({"income": income, "age": age, "tax": income * 0.3 + rng.normal(0, 500, 3000)})
    table = Table(frame, {"income": sensitive(), "age": quasi(), "tax": sensitive()})
    for spread in ("uniform", "gaussian"):
        release = Condensation(30, spread=spread, random_state=0).release(table)
        assert release.frame.column_names == ["income", "age", "tax"]
        assert np.corrcoef(list(release.frame)) == pytest.approx(np.corrcoef(list(frame)), abs=0.01)


def test_others_than_sensitive_columns_follow_too_and_copies_may_be_grouped_by_all() -> None:
    """A column that is neither known to others nor sensitive has no part in what is drawn again."""
    rows = drawn()
    frame = pa.table({"age": rows["ages"], "town": rows["towns"], "class": rows["ill"]})
    flipped = frame.set_column(2, "class", [rows["ill"][::-1]])
    roles = {"age": quasi(), "town": quasi(), "class": other()}
    for avoid in (True, False):
        method = Condensation(5, avoid_copies=avoid, random_state=0)
        drawn_twice = [method.release(Table(each, roles)).frame.drop(["class"]) for each in (frame, flipped)]
        assert drawn_twice[0].equals(drawn_twice[1]) is avoid


def test_level_1_and_shared_records_are_left_alone() -> None:
    given = drawn(40)
    levels = [1] * 40
    release = Condensation(levels).release(discrete(**given))
    assert sorted(release.frame["age"].to_pylist()) == given["ages"]
    twice = {name: [*values, *values] for name, values in given.items()}
    release = Condensation(2, random_state=0).release(discrete(**twice))
    assert release.evidence.details["redrawn"] == 0


def test_what_cannot_be_avoided_is_left_out_and_counted_or_refused() -> None:
    with pytest.raises(UnavoidableCopiesError, match="do not avoid copies"):
        Condensation(2).release(discrete([30, 30], ["a", "b"], ["no", "yes"]))
    towns = ["a", "b", *"c" * 8]
    release = Condensation(2, random_state=0).release(discrete([0, 0, *[9] * 8], towns, ["no"] * 10))
    assert release.evidence.suppressed == 2
    assert release.frame["town"].to_pylist() == ["c"] * 8


def test_redrawing_keeps_means_and_classes() -> None:
    given = drawn(2000, seed=2)
    release = Condensation(10, label="ill", random_state=0).release(discrete(**given))
    assert release.frame["ill"].to_pylist().count("yes") == pytest.approx(given["ill"].count("yes"), abs=10)
    assert np.mean(release.frame["age"]) == pytest.approx(np.mean(given["ages"]), abs=0.5)
