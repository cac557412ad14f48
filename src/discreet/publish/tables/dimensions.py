"""The curse of dimensionality: what is lost as quasi-identifiers are added one by one (Aggarwal, VLDB 2005)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Literal

from discreet.core.boundary import public
from discreet.core.errors import InfeasibleError
from discreet.core.guarantee import A_GUARANTEE, Guarantee
from discreet.core.params import FloatIn, InstanceOf, OneOf, require
from discreet.core.schema import Role, identifier
from discreet.core.tables.table import Table
from discreet.guarantees.per_unit import fitted
from discreet.measure import loss, risk
from discreet.publish.tables.mondrian import Mondrian


@public
@dataclass(frozen=True)
class AddedColumn:
    """What it costs to keep a guarantee with some of the quasi-identifiers.

    Attributes
    ----------
    n_columns, column
        How many quasi-identifiers there are, and which was added last.
    loss
        The mean loss of their cells by Mondrian; None where no release keeps the guarantee.
    failing
        The share of rows that would have to be left out if nothing were generalized.
    unique
        The share of rows, or people, alone in their class before anything is generalized.
    volume
        (k/n)^(1/d), the side of a box that holds k of n evenly spread rows in d columns, as a share of each range.
    """

    n_columns: int
    column: str
    loss: float | None
    failing: float
    unique: float
    volume: float

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return asdict(self)


@public
def dimensions(
    table: Table,
    guarantee: Guarantee,
    *,
    order: Literal["named", "uniqueness"] = "named",
    time_limit: float = 60.0,
) -> Iterator[AddedColumn]:
    """Iterate over what a guarantee costs as the table's quasi-identifiers are added, each figure once it is known.

    Parameters
    ----------
    table
        The table.
    guarantee
        What every class must keep.
    order
        ``"named"``: as the table has them. ``"uniqueness"``: next the one that makes most rows unique.
    time_limit
        Seconds after which no further column is begun.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, quasi
    >>> from discreet.guarantees import KAnonymity
    >>> people = Table(pa.table({"age": [20, 20, 30, 30], "zip": [1, 2, 1, 2]}), {"age": quasi(), "zip": quasi()})
    >>> [(step.column, step.loss, step.unique) for step in dimensions(people, KAnonymity(2))]
    [('age', 0.0, 0.0), ('zip', 0.5, 1.0)]
    """
    owner = "dimensions"
    require(owner, "table", table, InstanceOf((Table,), "a Table"))
    require(owner, "guarantee", guarantee, A_GUARANTEE)
    require(owner, "order", order, OneOf(("named", "uniqueness")))
    require(owner, "time_limit", time_limit, FloatIn(0, closed="neither"))
    guarantee.columns(table.schema.sensitive)
    return _steps(table, guarantee, order, time.monotonic() + time_limit)


def _steps(table: Table, guarantee: Guarantee, order: str, deadline: float) -> Iterator[AddedColumn]:
    chosen: list[str] = []
    left = list(table.schema.quasi)
    while left and time.monotonic() < deadline:
        name = left[0]
        if order == "uniqueness":
            name = max(left, key=lambda column: risk(_with(table, [*chosen, column])).uniques)
        left.remove(name)
        chosen.append(name)
        yield _measured(_with(table, chosen), guarantee, name)


def _with(table: Table, names: list[str]) -> Table:
    """Return the table with some of its quasi-identifiers, and without the columns that no guarantee looks at."""
    left_out = (Role.QUASI, Role.OTHER)
    roles = {
        name: identifier() if column.role in left_out and name not in names else column
        for name, column in table.schema.items()
    }
    return Table(table.frame, roles)


def _measured(part: Table, guarantee: Guarantee, name: str) -> AddedColumn:
    d = len(part.schema.quasi)
    judged = fitted(guarantee, part).check(part)
    try:
        cost: float | None = loss(Mondrian(guarantee).release(part)).total
    except InfeasibleError:
        cost = None
    volume = min(guarantee.smallest / part.n_rows, 1.0) ** (1 / d)
    failing = judged.failing_rows / part.n_rows
    return AddedColumn(d, name, cost, failing, risk(part).uniques_share, volume)
