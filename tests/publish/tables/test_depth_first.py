"""Strict Mondrian in one compiled run: the same groups as cut by cut with the guarantee's own judgment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Table, from_mapping, intervals, person, quasi, sensitive
from discreet.core.errors import InfeasibleError
from discreet.guarantees import (
    AlphaKAnonymity,
    BasicBetaLikeness,
    DistinctDiversity,
    EntropyDiversity,
    Guarantee,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
)
from discreet.guarantees.per_unit import counted_by_unit
from discreet.publish import Mondrian
from discreet.publish.tables import mondrian
from discreet.publish.tables.partition import can_divide

WARDS = from_mapping({"a": ["s", "*"], "b": ["s", "*"], "c": ["t", "*"], "d": ["t", "*"]})
RULES = st.one_of(
    st.builds(DistinctDiversity, st.integers(1, 3), of=st.sampled_from([None, "pay"])),
    st.builds(EntropyDiversity, st.sampled_from([1, 1.5, 2, 2.5])),
    st.builds(RecursiveDiversity, st.sampled_from([0.7, 1.0, 3.0]), st.integers(1, 3), of=st.just("ward")),
    st.builds(AlphaKAnonymity, st.sampled_from([0.4, 0.5, 0.8]), st.integers(1, 3)),
    st.builds(
        TCloseness,
        st.sampled_from([0.1, 0.2, 0.4]),
        st.sampled_from(["equal", "hierarchical", "ordered", "kl"]),
    ),
)
GUARANTEES = st.one_of(
    st.builds(KAnonymity, st.integers(1, 6)),
    st.builds(lambda k, guarantee: KAnonymity(k) & guarantee, st.integers(1, 4), RULES),
    st.builds(lambda first, second: first & second, RULES, RULES),
)


def table_of(seed: int, n_rows: int, wide: bool) -> Table:
    """Rows with nulls, ties, a constant, trees and lines; codes of one byte, or of two with a column of many values."""
    rng = np.random.default_rng(seed)

    def letters(skew: list[float]) -> pa.Array:
        return pa.array(rng.choice(np.array([None, *"abcd"], object), n_rows, p=skew).tolist(), pa.string())

    frame = pa.table(
        {
            "line": pa.array([None if x == 7 else int(x) for x in rng.integers(0, 9, n_rows)]),
            "many": pa.array(rng.integers(0, 10**6 if wide else 60, n_rows)),
            "constant": pa.array([1] * n_rows),
            "tree": pa.array(rng.integers(0, 20, n_rows)),
            "place": letters([0.1, 0.4, 0.3, 0.1, 0.1]),
            "ward": letters([0.05, 0.45, 0.3, 0.1, 0.1]),
            "pay": letters([0.0, 0.25, 0.25, 0.25, 0.25]),
        }
    )
    roles = {"line": quasi(), "many": quasi(), "constant": quasi(), "tree": quasi(intervals(5, 10))}
    return Table(frame, roles | {"place": quasi(WARDS), "ward": sensitive(WARDS), "pay": sensitive(WARDS)})


def members(publisher: Mondrian, table: Table) -> tuple[list[int], list[int], bool] | str:
    """Where groups begin, the group of each tuple, and whether values refused a cut; or why no release can be."""
    try:
        segments, tuples, refused = publisher._divided(table, np.random.default_rng(0))
    except InfeasibleError as error:
        return str(error)
    group_of = np.empty(tuples.size, np.int64)
    group_of[tuples] = np.repeat(np.arange(segments.low.size), segments.high - segments.low)
    assert (segments.codes[:, : len(table.encoded)] == table.tuples.codes[tuples]).all()
    assert (segments.weights == table.tuples.counts[tuples]).all()
    return segments.low.tolist(), group_of.tolist(), refused


@given(
    seed=st.integers(0, 10**6),
    n_rows=st.sampled_from([1, 2, 5, 30, 200, 900]),
    wide=st.booleans(),
    guarantee=GUARANTEES,
)
@settings(max_examples=200, deadline=None)
def test_equal_to_cutting_one_by_one(seed: int, n_rows: int, wide: bool, guarantee: Guarantee) -> None:
    table = table_of(seed, n_rows, wide)
    publisher = Mondrian(guarantee)
    assert can_divide(guarantee, table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mondrian, "can_divide", lambda *_: False)
        expected = members(publisher, table)
    assert members(publisher, table) == expected


def test_what_rules_do_not_say_is_cut_one_by_one() -> None:
    table = table_of(1, 200, False)
    assert not can_divide(BasicBetaLikeness(1.0), table)
    assert not can_divide(TCloseness(0.2, np.array([[0.0]])), table)  # type: ignore[arg-type]
    frame = pa.table({"q": np.arange(20) % 5, "who": np.arange(20) // 2})
    owned = Table(frame, {"q": quasi(), "who": person()})
    assert not can_divide(counted_by_unit(KAnonymity(2), owned), owned)


def test_columns_beyond_four_words_are_cut_one_by_one() -> None:
    def table(n_columns: int) -> Table:
        columns: dict[str, Any] = {f"q{number}": [1, 2, 1, 2] for number in range(n_columns)}
        return Table(pa.table(columns), {name: quasi() for name in columns})

    assert can_divide(KAnonymity(2), table(32))
    assert not can_divide(KAnonymity(2), table(33))
    for n_columns in (1, 8, 9, 16, 17, 32, 33):
        segments, _ = Mondrian(KAnonymity(2)).partition(table(n_columns))
        assert segments.sizes.tolist() == [2, 2]


def test_more_segments_than_there_is_room_for_at_first() -> None:
    counts = (2 ** np.minimum(np.arange(3000)[::-1], 3)).astype(int)
    values = np.repeat(np.arange(3000), counts)
    segments, _ = Mondrian(KAnonymity(1)).partition(Table(pa.table({"q": values}), {"q": quasi()}))
    assert segments.sizes.tolist() == counts.tolist()
