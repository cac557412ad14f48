"""SparseRows: one meaning for every kind of rows, each item once in a record, and what is refused."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from discreet.core.errors import InputError
from discreet.core.records.sparse_rows import SparseRows
from discreet.publish import DeltaSketch, SketchFamily

FAMILY = SketchFamily("key", components=9)


def as_dicts(rows: SparseRows) -> list[dict[Any, float]]:
    weights = np.ones(rows.items.size) if rows.weights is None else rows.weights
    return [
        {rows.names[rows.items[at]]: weights[at] for at in range(rows.indptr[t], rows.indptr[t + 1])}
        for t in range(len(rows))
    ]


@given(
    entries=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(-100, 100)), min_size=1, max_size=20
    ),
    kind=st.sampled_from([np.int8, np.int16, np.int64, np.float32, np.float64]),
)
def test_what_a_matrix_holds_twice_is_added_up_without_overflow(
    entries: list[tuple[int, int, int]], kind: Any
) -> None:
    rows, columns, values = (list(part) for part in zip(*entries, strict=True))
    laid = sparse.coo_array((np.array(values, kind), (rows, columns)), shape=(4, 6))
    expected: list[dict[int, float]] = [{} for _ in range(4)]
    for row, column, value in entries:
        expected[row][column] = expected[row].get(column, 0) + value
    wanted = [{name: value for name, value in record.items() if value} for record in expected]
    order = np.argsort(rows, kind="stable")
    bounds = np.searchsorted(np.array(rows)[order], range(5))
    unsorted = sparse.csr_array((laid.data[order], laid.col[order], bounds), shape=(4, 6))
    for matrix in (laid, unsorted):
        before = matrix.copy()
        assert as_dicts(SparseRows.of(matrix)) == wanted
        assert (matrix.data == before.data).all()


class Pairs(Mapping[str, float]):
    """A mapping that may name an item more than once, as a multidict does."""

    def __init__(self, *pairs: tuple[str, float]) -> None:
        self.pairs = pairs

    def __getitem__(self, name: str) -> float:
        return dict(self.pairs)[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def items(self) -> ItemsView[str, float]:
        return list(self.pairs)  # type: ignore[return-value]


def test_an_item_named_twice_is_refused_since_it_would_not_be_hidden() -> None:
    """Twice 1 of one item is 2 of it: the sketch of a single item, which must not be published."""
    assert FAMILY.sketch([Pairs(("a", 1), ("b", 2))]).equals(FAMILY.sketch([{"a": 1, "b": 2}]))
    with pytest.raises(InputError, match="Record 1 names an item more than once") as caught:
        DeltaSketch(0.5, family=FAMILY).release([{"a": 1, "b": 1}, Pairs(("planted", 1), ("planted", 1))])
    assert "planted" not in str(caught.value)
    nan = float("nan")
    for rows, names in (([{nan: 1, float("nan"): 1}], None), (np.ones((1, 2)), [nan, float("nan")])):
        with pytest.raises(InputError, match="not NaN"):
            DeltaSketch(0.5, family=FAMILY).release(rows, names=names)
    one, other = Five(), Five()
    with pytest.raises(InputError, match="same name"):
        FAMILY.sketch([{one: 1, other: 1}])


class Five:
    """A name that is spelled as 5 and equals nothing but itself."""

    def __index__(self) -> int:
        return 5


def test_a_matrix_that_is_none_is_refused() -> None:
    beyond = sparse.csr_array(np.eye(3))
    for column in (-1, 3, 10**6):
        beyond.indices[1] = column
        with pytest.raises(InputError, match="1 entries of the sparse rows lie outside their 3 columns"):
            FAMILY.sketch(beyond)
    torn = sparse.csr_array(np.eye(3))
    torn.indptr[1] = 9
    with pytest.raises(InputError, match="bounds of the sparse rows"):
        FAMILY.sketch(torn)
    with pytest.raises(InputError, match="2 dimensions"):
        FAMILY.sketch(sparse.coo_array(np.ones(3)))
    with pytest.raises(InputError, match="1 values of the records are masked"):
        FAMILY.sketch(np.ma.masked_array([[1.0, 5.0]], mask=[[False, True]]))
    with pytest.raises(InputError, match="NaN or infinite"):
        FAMILY.sketch(np.array([[np.longdouble("1e4000")]]))
    with pytest.raises(InputError, match="column's name"):
        FAMILY.sketch(np.ones((1, 1)), names=[["planted"]])
    with pytest.raises(InputError, match="no number"):
        FAMILY.sketch([{"a": 10**400}])


def test_room_that_a_matrix_keeps_for_more_is_not_looked_at() -> None:
    roomy = sparse.csr_array(np.array([[1.0, 2.0], [0.0, 3.0]]))
    roomy.data, roomy.indices = np.append(roomy.data, [np.nan, 9.0]), np.append(roomy.indices, [99, 0])
    rows = SparseRows.of(roomy)
    assert as_dicts(rows) == [{0: 1, 1: 2}, {1: 3}]
    assert rows.largest.tolist() == [2, 3]
