"""Digests of earlier rows: who is found again, by people and by rows, and in samples."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Table, person, quasi, sensitive
from discreet.core.errors import InputError
from discreet.publish.recipes import earlier_rows
from discreet.publish.recipes.earlier_rows import EarlierRows

ROWS = st.lists(
    st.tuples(st.sampled_from([None, 1, 2]), st.sampled_from([None, "", "a", "b"])), min_size=1, max_size=8
)


def table(rows: list[tuple[object, object]]) -> Table:
    columns = {
        "age": pa.array([age for age, _ in rows], pa.int64()),
        "town": pa.array([town for _, town in rows], pa.string()),
    }
    return Table(pa.table(columns), {"age": quasi(), "town": sensitive()})


@given(ROWS, ROWS)
def test_rows_that_were_unlike_any_other_are_found_again(old: list, new: list) -> None:
    unique = {row for row in old if old.count(row) == 1}
    earlier = EarlierRows.from_bytes(EarlierRows.of(table(old)).to_bytes())
    assert earlier.overlap(table(new)) == (sum(row in unique for row in new), len(new))


def test_people_are_found_by_their_column() -> None:
    def visits(*people: str) -> Table:
        frame = pa.table({"who": list(people), "age": [30] * len(people)})
        return Table(frame, {"who": person(), "age": quasi()})

    assert EarlierRows.of(visits("a", "a", "b")).overlap(visits("b", "c", "a", "a")) == (3, 4)


def test_of_many_rows_a_sample_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(earlier_rows, "MOST", 100)
    ages = pa.table({"age": np.arange(1000)})
    earlier = EarlierRows.of(Table(ages, {"age": quasi()}))
    assert len(earlier.to_bytes()) < 100 * 8 + 64
    n_known, n_compared = earlier.overlap(Table(pa.table({"age": np.arange(500, 1500)}), {"age": quasi()}))
    assert 0 < n_known < n_compared < 300


def test_damaged_digests_are_refused() -> None:
    content = EarlierRows.of(table([(1, "a")])).to_bytes()
    for damaged in (b"", content[:-1], b"x" + content[1:]):
        with pytest.raises(InputError, match="damaged"):
            EarlierRows.from_bytes(damaged)
