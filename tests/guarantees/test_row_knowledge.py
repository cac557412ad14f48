"""People with several rows: no release lets those who know row counts infer more without a caution.

The judge deals the rows of every class to its people in every way, each person as many rows as they have there, and
counts in how many dealings a person has a value.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet import Table, person, quasi, sensitive
from discreet.errors import InfeasibleError, StrictError
from discreet.guarantees import (
    AlphaKAnonymity,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EnhancedBetaLikeness,
    EntropyDiversity,
    Guarantee,
    KAnonymity,
    PerUnit,
    RecursiveDiversity,
    TCloseness,
)
from discreet.guarantees.row_knowledge import row_knowledge
from discreet.measure import cautions
from discreet.publish import (
    Generalization,
    GlobalRecoding,
    LocalRecoding,
    Microaggregation,
    Mondrian,
    OptimalLattice,
    Samarati,
)

Rows = list[tuple[int, int, str]]
CODE = "known-row-counts"
ABOUT_VALUES = [
    AlphaKAnonymity(0.5, 2),
    DistinctDiversity(2),
    EntropyDiversity(2),
    RecursiveDiversity(2, 2),
    TCloseness(0.5, "equal"),
    BasicBetaLikeness(1.5),
    EnhancedBetaLikeness(1.5),
    DeltaDisclosure(2.0),
]
PUBLISHERS: list[Callable[[Guarantee], Any]] = [
    Mondrian,
    lambda guarantee: Generalization(guarantee, levels={"age": 1}),
    OptimalLattice,
    Samarati,
    LocalRecoding,
    GlobalRecoding,
    Microaggregation,
]


def table_of(rows: Rows, who: Any = None) -> Table:
    columns = [list(column) for column in zip(*rows, strict=True)]
    frame = pa.table(dict(zip(("who", "age", "disease"), columns, strict=True)))
    return Table(frame, {"who": who or person(), "age": quasi(), "disease": sensitive()})


def codes(release: Any) -> dict[str, bool]:
    return {one.code: one.public for one in cautions(release)}


def heavy(value: str, age: int, first: int) -> Rows:
    """One person with six visits for one disease, and four with a visit each for other ones."""
    return [(first, age, value)] * 6 + [(first + k, age, f"other {k}") for k in range(1, 5)]


@pytest.mark.parametrize("guarantee", ABOUT_VALUES, ids=str)
def test_most_rows_of_a_class_are_one_persons(guarantee: Guarantee) -> None:
    """Six of ten rows have the value, and one person has six rows: at least two are among them, for certain."""
    table = table_of(heavy("hiv", 30, 0) + heavy("flu", 40, 10))
    release = Generalization(guarantee & KAnonymity(2), levels={"age": 0}).release(table)
    assert release.verdict.ok
    [found] = [one for one in cautions(release) if one.code == CODE]
    assert "2 of them for certain" in found.text
    assert "hiv" not in found.text
    assert not found.public
    assert "infer more" in release.guarantee.describe()


def test_pseudonyms_make_the_count_public_and_sizes_alone_are_no_matter() -> None:
    rows = heavy("hiv", 30, 0) + heavy("flu", 40, 10)
    key = b"0123456789abcdef0123456789abcdef"
    release = Generalization(DistinctDiversity(2), levels={"age": 0}).release(
        table_of(rows, person(pseudonym=key))
    )
    assert codes(release)[CODE]
    assert CODE not in codes(Mondrian(KAnonymity(2)).release(table_of(rows)))


@pytest.mark.parametrize("guarantee", ABOUT_VALUES, ids=str)
def test_one_row_each_infers_nothing_more(guarantee: Guarantee) -> None:
    """What the guarantee says of rows is all that row counts show where everybody has one."""
    rng = np.random.default_rng(3)
    for _ in range(30):
        rows = [(who, int(rng.integers(3)), str(rng.choice(list("abcd")))) for who in range(24)]
        table = table_of(rows)
        judged = PerUnit(guarantee, "who").bound_to(table)
        if judged.check(table).ok:
            assert not list(row_knowledge(judged, table))


def test_a_strict_release_is_refused(tmp_path: Any) -> None:
    release = Generalization(AlphaKAnonymity(0.5, 2), levels={"age": 0}).release(
        table_of(heavy("hiv", 30, 0) + heavy("flu", 40, 10))
    )
    with pytest.raises(StrictError, match="how many rows a person has"):
        release.write(tmp_path / "release", strict=True)


def dealt(counts: Counter[str], rows: int, value: str) -> float:
    """In which share of all dealings a person with so many rows has the value."""
    values = list(counts.elements())
    hands = list(combinations(values, rows))
    return sum(value in hand for hand in hands) / len(hands)


@pytest.mark.parametrize(
    "publisher", PUBLISHERS, ids=["mondrian", "levels", "optimal", "samarati", "local", "global", "means"]
)
def test_no_release_without_the_caution_exceeds_alpha(publisher: Callable[[Guarantee], Any]) -> None:
    rng = np.random.default_rng(11)
    cautioned = 0
    for _ in range(40):
        whose = rng.choice(7, 12, p=[0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1])
        ages = rng.integers(0, 2, 7)
        rows = [(int(who), int(ages[who]), str(rng.choice(list("abcde")))) for who in whose]
        try:
            release = publisher(AlphaKAnonymity(0.5, 2)).release(table_of(rows))
        except InfeasibleError:
            continue
        worst, pairs = 0.0, 0
        table = release.judged_table
        for counts, held in by_class(release):
            for r in held.values():
                top = max(dealt(counts, r, value) for value in counts)
                worst, pairs = max(worst, top), pairs + (top > 0.5 + 1e-9)
        found = list(row_knowledge(release.guarantee, table))
        assert [one.beyond for one in found] == ([pairs] if pairs else [])
        assert (CODE in codes(release)) == (worst > 0.5 + 1e-9)
        cautioned += pairs > 0
    assert cautioned


def by_class(release: Any) -> list[tuple[Counter[str], Counter[int]]]:
    """The values and the people's numbers of rows in every released class."""
    table = release.judged_table
    labels, _ = table.classes
    units, values = table.codes(table.units.column), table.codes("disease")
    found = []
    for label in np.unique(labels):
        inside = np.flatnonzero(labels == label)
        counts: Counter[Any] = Counter()
        held: Counter[Any] = Counter()
        for at in inside:
            counts[str(values[at])] += int(table.tuples.counts[at])
            held[int(units[at])] += int(table.tuples.counts[at])
        found.append((counts, held))
    return found


def test_beliefs_about_large_classes_are_those_of_the_formula() -> None:
    rows = [(0, 1, "a")] * 40 + [(1 + k % 300, 1, "abcdefghij"[k % 10]) for k in range(1_000)]
    table = table_of(rows)
    lacking = math.comb(1_040 - 140, 40) / math.comb(1_040, 40)
    for alpha, expected in ((1 - lacking - 1e-6, 1), (1 - lacking + 1e-6, 0)):
        judged = PerUnit(AlphaKAnonymity(alpha, 2), "who").bound_to(table)
        assert sum(one.beyond for one in row_knowledge(judged, table)) == expected
