"""Anatomy: exact quasi-identifiers beside sensitive values counted per group of l (Xiao & Tao, VLDB 2006)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import count
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from discreet.core.arrays import CodeArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.boundary import public
from discreet.core.errors import InfeasibleError, SchemaError
from discreet.core.params import NONE, Constraints, InstanceOf, IntIn, check_parameters, require
from discreet.core.release import Cells, Evidence, Release
from discreet.core.rng import generator
from discreet.core.schema import Role, Schema, other
from discreet.core.tables.grouped import GroupedTable
from discreet.core.tables.publication import defused, publishable
from discreet.core.tables.source import Pieces, Replacement
from discreet.core.tables.table import Table
from discreet.guarantees import DistinctDiversity, PrivacyDegree
from discreet.guarantees.per_unit import refuse_units
from discreet.kernels.ragged import bounds
from discreet.measure.tables.risk import refuse_singling_out
from discreet.publish.baskets.grouping import ITEM_NAMES, BasketPublisher, SplitBaskets
from discreet.publish.recipes.recipe_parts import recipe_of


@public
@dataclass(repr=False, eq=False)
class Anatomy(BasketPublisher):
    """Put rows or baskets into groups of l that share no sensitive value, and publish those values as counts per group.

    Groups are drawn from the largest buckets of like sensitive values, whatever their other values are; the few rows
    left over join groups that lack their value. Everything else is published exactly, so nothing but the tie between a
    row and its sensitive value is hidden: who knows somebody's quasi-identifiers learns that they are in the release.
    A basket may hold several sensitive items or none, and baskets without any fill groups up.

    Who is in a group is drawn whatever else rows or baskets hold, so whoever knows the method learns no more from the
    groups than their counts say: exchanging the sensitive values of a group's members makes no release less likely.

    Parameters
    ----------
    l
        The size of a group: nobody can be tied to a sensitive value with a probability above 1/l. A number, a
        `PrivacyDegree`, or for tables a `DistinctDiversity`: the values of a group are all different.
    sensitive
        For baskets, the names of the sensitive items. A table's schema names its sensitive column.
    keep_empty
        Whether to publish baskets without ordinary items, as a group of their own. They are left out by default, since
        they would stand out; they can be kept only where at most one in l of them holds the same sensitive item.
    random_state
        Seeds who is grouped with whom, the numbers of the groups and the order of the rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, quasi, sensitive
    >>> patients = Table(pa.table({
    ...     "age": [23, 27, 35, 59], "disease": ["flu", "cold", "flu", "cold"]}),
    ...     {"age": quasi(), "disease": sensitive()})
    >>> release = Anatomy(2, random_state=1).release(patients)
    >>> release.frame.column_names, release.data.counts.column_names, release.verdict.ok
    (['age', 'group'], ['group', 'disease', 'count'], True)

    References
    ----------
    X. Xiao, Y. Tao: Anatomy: simple and effective privacy preservation. VLDB 2006.
    """

    l: int | PrivacyDegree | DistinctDiversity  # noqa: E741  # the published letter
    _: KW_ONLY
    sensitive: Sequence[Any] | None = None

    letter: ClassVar[str] = "l"
    constraints: ClassVar[Constraints] = {
        "l": (
            IntIn(1),
            InstanceOf((PrivacyDegree, DistinctDiversity), "a PrivacyDegree or DistinctDiversity"),
        ),
        **BasketPublisher.constraints,
        "sensitive": (NONE, ITEM_NAMES),
    }

    @property
    def _size(self) -> int:
        """The size of a group."""
        guarantee = self.guarantee
        return int(guarantee.p if isinstance(guarantee, PrivacyDegree) else guarantee.l)

    def release(self, data: Table | Baskets) -> Release:
        """Group a table's rows, or baskets, and publish the groups."""
        check_parameters(self)
        require(self, "data", data, InstanceOf((Table, Baskets), "a Table or Baskets"))
        rng = generator(self.random_state, owner=self)
        if isinstance(data, Baskets):
            return self._published(data, rng)
        refuse_units(self, data)
        return self._table(data, rng)

    def _grouped(self, parts: SplitBaskets, rng: np.random.Generator) -> tuple[CodeArray, dict[str, object]]:
        return self.groups(parts, rng), {}

    def groups(self, parts: SplitBaskets, rng: np.random.Generator) -> CodeArray:
        """Return the group of each basket; a bucket holds the baskets with the same sensitive items."""
        from discreet.kernels.tables.anatomy_groups import anatomy_groups

        secrets, n = parts.held, len(parts.ordinary)
        if secrets.items.size == 0:
            return np.zeros(n, np.int32)
        # Shuffled before they are put into buckets: chance, not the order of the data, says who comes first.
        mixed = rng.permutation(n)
        full = mixed[secrets.lengths[mixed] > 0]
        # Sets of different sizes as bytes, which NumPy can compare.
        wide = np.array(
            [secrets.items[secrets.indptr[row] : secrets.indptr[row + 1]].tobytes() for row in full], object
        )
        _, first, bucket = np.unique(wide, return_index=True, return_inverse=True)
        values = secrets.take(full[first])
        return anatomy_groups(
            _buckets(full, bucket, first.size),
            (values.indptr, values.items),
            mixed[secrets.lengths[mixed] == 0].astype(np.int32),
            n_values=secrets.n_items,
            n=n,
            l=self._size,
            rng=rng,
        )

    def _table(self, table: Table, rng: np.random.Generator) -> Release:
        from discreet.kernels.tables.anatomy_groups import anatomy_groups

        secret = _secret(table)
        self.guarantee.columns([secret])
        refuse_singling_out(table)
        _refuse_too_frequent(table, secret, self._size)
        tuple_of = np.repeat(np.arange(table.tuples.counts.size, dtype=np.int32), table.tuples.counts)
        value = table.codes(secret)[tuple_of].astype(np.int64)
        mixed = rng.permutation(value.size)
        n_values = table.encoded[secret].n_codes
        group = anatomy_groups(
            _buckets(mixed, value[mixed], n_values),
            (np.arange(n_values + 1), np.arange(n_values, dtype=np.int32)),
            np.empty(0, np.int32),
            n_values=n_values,
            n=value.size,
            l=self._size,
            rng=rng,
        )
        # Groups are made from the largest buckets first, so that their own order would say something of
        # values.
        numbers = rng.permutation(int(group.max()) + 1).astype(np.int32)[group]
        return self._published_table(table, secret, tuple_of, numbers, int(rng.integers(2**62)))

    def _published_table(
        self, table: Table, secret: str, tuple_of: CodeArray, group: CodeArray, seed: int
    ) -> Release:
        """Publish the rows with the group in the sensitive column's place, and the counts beside them."""
        n_groups = int(group.max()) + 1
        keys, counts = np.unique(tuple_of.astype(np.int64) * n_groups + group, return_counts=True)
        tuples, groups = np.divmod(keys, n_groups)
        others = [
            column for column in table.schema if table.schema[column].role not in (Role.IDENTIFIER, Role.DROP)
        ]
        name = _fresh_name("group", others)
        recoding = table.recoding(
            by_piece={
                secret: Replacement(groups.astype(np.int32), pa.array(np.arange(n_groups, dtype=np.int32)))
            },
            pieces=Pieces(tuples.astype(np.int32), counts),
            seed=seed,
            renamed={secret: name},
        )
        released = table.schema.released()
        roles = {name if column == secret else column: role for column, role in released.items()}
        recipe = recipe_of(self, table, parameters={})
        return Release(
            data=GroupedTable(table.recode(recoding), _counts(table, secret, tuple_of, group, name), name),
            kind="grouped-table",
            schema=Schema(roles | {name: other()}),
            guarantee=self.guarantee,
            evidence=_evidence(table, n_groups),
            recipe=recipe.public,
            private=recipe.private,
            original=table,
        )


def _buckets(rows: Any, bucket: Any, n_buckets: int) -> tuple[Any, CodeArray]:
    """Sort rows into buckets, keeping their order; gives compressed rows."""
    start = bounds(np.bincount(bucket, minlength=n_buckets))
    return start, rows[np.argsort(bucket, kind="stable")].astype(np.int32)


def _secret(table: Table) -> str:
    """Return the one sensitive column; another could be tied to people, since rows are published exactly."""
    if len(table.schema.sensitive) != 1:
        raise SchemaError(
            f"Anatomy needs exactly one sensitive column, and {len(table.schema.sensitive)} are named."
        )
    return table.schema.sensitive[0]


def _refuse_too_frequent(table: Table, secret: str, l: int) -> None:  # noqa: E741
    n, most = table.n_rows, int(table.overall(secret).max())
    if most * l > n:
        raise InfeasibleError(
            f"No release can keep the guarantee: with l={l} a value of '{secret}' may be in at most {n // l} of the "
            f"{n} rows, and one is in {most}. Use l={n // most} at most."
        )


def _counts(table: Table, secret: str, tuple_of: CodeArray, group: CodeArray, name: str) -> pa.Table:
    """Count each group's sensitive values, in the order of group and value."""
    book = table.encoded[secret]
    keys, counts = np.unique(
        group.astype(np.int64) * book.n_codes + table.codes(secret)[tuple_of], return_counts=True
    )
    groups, codes = np.divmod(keys, book.n_codes)
    values = book.values.take(pa.array(np.maximum(codes - 1, 0), mask=codes == 0))
    cells = defused(values) if table.spreadsheet_safe else values
    names = [name, secret, _fresh_name("count", [name, secret])]
    return publishable(
        pa.table([pa.array(groups, pa.int32()), cells, pa.array(counts, pa.int64())], names=names)
    )


def _evidence(table: Table, n_groups: int) -> Evidence:
    """Return what the cells cost: nothing, since every class is published as it is."""
    _, classes = table.classes
    cells = {
        name: Cells(classes[:, number], np.zeros(table.encoded[name].n_codes), table.overall(name))
        for number, name in enumerate(table.schema.quasi)
    }
    return Evidence(table.n_rows, table.groups().sizes, cells, details={"groups": n_groups})


def _fresh_name(stem: str, others: Iterable[str]) -> str:
    """Return a name that none of the others equals, also where upper and lower case are alike.

    >>> _fresh_name("group", ["age"]), _fresh_name("group", ["Group", "group_2"])
    ('group', 'group_3')
    """
    folded = {name.casefold() for name in others}
    names = (stem if number == 1 else f"{stem}_{number}" for number in count(1))
    return next(name for name in names if name.casefold() not in folded)
