"""Rank swapping: values change places with others of near rank (Moore 1996, after Dalenius & Reiss 1982)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.collect.category_estimates import arrow_values
from discreet.collect.frames import frame_of, released_frame, require_columns, require_hidden
from discreet.collect.secure_random import Chance
from discreet.core.arrays import IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import Constraints, EachOf, FloatIn, InstanceOf, check_parameters
from discreet.core.rng import RandomState

if TYPE_CHECKING:
    import narwhals as nw

_NAMES = EachOf(InstanceOf((str,), "the name of a column"), "a list of the names of columns")


@public
class RankSwapping:
    """Swap the values of columns between rows of near rank, so that every column as a whole stays exactly as it was.

    The rows are sorted by a column, ties by chance. From the lowest on, each value that has not moved yet changes
    places with one drawn among those at most ``window`` times the number of rows above it that have not moved either.
    Numbers, dates and times have ranks. Texts, categories and bools have none: their partner is drawn among all rows of
    the same class (``within``). Nulls are the lowest value. Columns are swapped one by one, each by chance of its own.

    **It promises nothing.** No guarantee judges the result: a rare value is still there, and whoever knows somebody's
    value knows within a window where it went. What survives are counts, sums and quantiles of single columns; relations
    between columns weaken with the window. See what it does to an attack with `discreet.measure.linkage`, before and
    after: a match after swapping may be somebody else's row.

    Parameters
    ----------
    columns
        The columns to swap.
    window
        How far a value may move, as a share of the rows.
    within
        Columns that stay: values are swapped only between rows that are equal in all of them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": list(range(20, 60)), "town": ["A", "B"] * 20})
    >>> swapping = RankSwapping(["age"], window=0.1)
    >>> swapped = swapping.perturb(people, random_state=3)
    >>> sorted(swapped["age"].to_pylist()) == people["age"].to_pylist()
    True
    >>> max(abs(a - b) for a, b in zip(people["age"].to_pylist(), swapped["age"].to_pylist()))
    4
    >>> swapping.changed(people, swapped)
    {'age': 1.0, 'rows': 1.0}

    References
    ----------
    R. Moore: Controlled data-swapping techniques for masking public use microdata sets. U.S. Bureau of the Census,
    RR 96-04, 1996.

    T. Dalenius, S. Reiss: Data-swapping: a technique for disclosure control. Journal of Statistical Planning and
    Inference 6(1), 1982.
    """

    constraints: ClassVar[Constraints] = {
        "columns": _NAMES,
        "window": FloatIn(0, 1),
        "within": (InstanceOf((tuple,), "empty"), _NAMES),
    }

    def __init__(self, columns: Sequence[str], *, window: float = 0.05, within: Sequence[str] = ()) -> None:
        self.columns = columns
        self.window = window
        self.within = within
        check_parameters(self)
        twice = [name for name in columns if name in within or list(columns).count(name) > 1]
        if twice:
            raise ParameterError(
                "The 'columns' parameter of RankSwapping must name columns once, and none of 'within'."
            )

    def perturb(self, data: Any, *, random_state: RandomState = None) -> Any:
        """Swap the columns of a pandas, Polars or Arrow frame; the rows stay in order, and the same kind comes back."""
        frame = frame_of(data)
        require_hidden(frame, [*self.columns, *self.within])
        chance = Chance(random_state, owner=self)
        classes = self._classes(frame)
        swapped = []
        for name in self.columns:
            column = frame.get_column(name)
            partner = self._partners(column, classes, chance)
            swapped.append(column[partner] if partner is not None else column)
        return released_frame(frame.with_columns(*swapped))

    def changed(self, original: Any, swapped: Any) -> dict[str, float]:
        """Return the share of rows whose value changed, in each column and in any of them (``rows``).

        Both frames must have their rows in the same order; values that met an equal one did not change.
        """
        before, after = frame_of(original), frame_of(swapped)
        for frame in (before, after):
            require_columns(frame, self.columns)
        if len(before) != len(after) or not len(before):
            raise InputError("The two frames must have the same rows, and at least one.")
        moved = [_codes(before, name) != _codes(after, name, like=before) for name in self.columns]
        shares = {name: float(column.mean()) for name, column in zip(self.columns, moved, strict=True)}
        return shares | {"rows": float(np.any(moved, axis=0).mean())}

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain data."""
        return {"columns": list(self.columns), "window": float(self.window), "within": list(self.within)}

    def _classes(self, frame: nw.DataFrame[Any]) -> list[IntArray]:
        """Return the rows of each class: those that are equal in the columns that stay."""
        number = np.zeros(len(frame), np.int64)
        for name in self.within:
            # Renumbered column by column, so that numbers stay below
            # the number of rows however many columns there are.
            number = np.unique(np.stack([number, _codes(frame, name)]), axis=1, return_inverse=True)[
                1
            ].reshape(-1)
        order = np.argsort(number, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(number[order])) + 1)

    def _partners(
        self, column: nw.Series[Any], classes: Sequence[IntArray], chance: Chance
    ) -> IntArray | None:
        """Return the row whose value each row gets; None where the window is 0."""
        if not self.window:
            return None
        ranked = column.dtype.is_numeric() or column.dtype.is_temporal()
        ranks = _codes(column.to_frame(), column.name)
        partner = np.arange(len(column))
        ties = chance.uniform(len(column))
        drawn = chance.uniform(len(column))
        for rows in classes:
            order = rows[np.lexsort([ties[rows], ranks[rows]])] if ranked else rows[np.argsort(ties[rows])]
            # A share of 0.29 of 100 rows is 28.99… in floats. Without ranks the order is random, so that the
            # next row is a random partner.
            width = int(self.window * rows.size + 1e-9) if ranked else 1
            _swap(partner, order, width, drawn[rows])
        largest = max((rows.size for rows in classes), default=0)
        if largest == 1 and len(column) > 1:
            raise ParameterError(
                "The 'within' parameter of RankSwapping leaves every row alone, so that no value can move; name fewer "
                "or coarser columns."
            )
        if ranked and not any(int(self.window * rows.size + 1e-9) for rows in classes) and len(column) > 1:
            raise ParameterError(
                f"The 'window' parameter of RankSwapping lets no value move among {largest} rows; it must be at least "
                f"{1 / largest:.2g}."
            )
        return partner

    def __repr__(self) -> str:
        return f"RankSwapping({', '.join(self.columns)}, window={self.window:g})"


def _swap(partner: IntArray, order: IntArray, width: int, drawn: Any) -> None:
    """Swap each row that is still free with a free one at most so many places after it, in place.

    Every row is in at most one swap, so that columns keep their values; n rows take n times the width at most.
    """
    free = np.ones(order.size, np.bool_)
    for at in range(order.size):
        # Near the upper end, or among rows that have moved, there may be no partner; the value stays then.
        ahead = np.flatnonzero(free[at + 1 : at + 1 + width]) if free[at] else ()
        if not len(ahead):
            continue
        other = at + 1 + int(ahead[int(drawn[at] * len(ahead))])
        free[at] = free[other] = False
        partner[order[at]], partner[order[other]] = order[other], order[at]


def _codes(frame: nw.DataFrame[Any], name: str, like: nw.DataFrame[Any] | None = None) -> IntArray:
    """Return the place of each value among the sorted values of a column, or of another frame's; null is 0."""
    import pyarrow.compute as pc

    from discreet.core.hierarchy.bound import domain_of

    values, among = (arrow_values(one.get_column(name)) for one in (frame, frame if like is None else like))
    places = pc.index_in(values, value_set=domain_of(among).cast(values.type))
    return np.asarray(pc.fill_null(places, -1)).astype(np.int64) + 1
