"""LinkedTables: several tables about the same people, tied by a key, and what all of them show of a person together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import CodeArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError, SchemaError
from discreet.core.params import InstanceOf, OneOf, require
from discreet.core.schema import Schema
from discreet.core.tables.groups import Groups, SensitiveCounts
from discreet.core.tables.labels import texts, value_kind
from discreet.core.tables.table import Table
from discreet.core.tables.units import UnitPairs, Units, units_of

RowCounts: TypeAlias = Literal["known", "unknown"]
"""Whether an attacker knows how many rows a person has in each table."""


@public
@dataclass(frozen=True, repr=False, eq=False)
class LinkedTables:
    """Tables about the same people: each has one column with the role `person`, the key that ties their rows.

    Whoever has all of them, with the keys replaced by the same pseudonyms, sees of each person the quasi-identifying
    values of all rows in all tables. That is the joined view, and people with the same view are a class: guarantees
    and risks count people in it. Somebody without a row in a table differs from everybody with one.

    Parameters
    ----------
    tables
        The tables by name, two or more. Sensitive columns of different tables have different names.
    row_counts
        ``"known"``: how often a person has each combination of quasi-identifying values belongs to the view.
        ``"unknown"``: only which combinations there are.

    Examples
    --------
    >>> from discreet import Table, person, quasi
    >>> people = Table(pa.table({"who": [1, 2, 3], "age": [60, 60, 60]}), {"who": person(), "age": quasi()})
    >>> visits = Table(pa.table({"who": [1, 2, 2], "ward": ["a", "a", "a"]}), {"who": person(), "ward": quasi()})
    >>> LinkedTables({"people": people, "visits": visits}).counted.sizes.tolist()
    [1, 1, 1]
    >>> sorted(LinkedTables({"people": people, "visits": visits}, row_counts="unknown").counted.sizes.tolist())
    [1, 2]
    """

    tables: Mapping[str, Table]
    row_counts: RowCounts = "known"

    def __post_init__(self) -> None:
        require(self, "row_counts", self.row_counts, OneOf(get_args(RowCounts)))
        require(self, "tables", self.tables, InstanceOf((Mapping,), "tables by name"))
        if len(self.tables) < 2:
            raise SchemaError("Linked tables are two or more; publish a single one as a table.")
        owners: dict[str, str] = {}
        for name, table in self.tables.items():
            require(self, "tables", table, InstanceOf((Table,), "tables by name"))
            if table.schema.person is None:
                raise SchemaError(
                    f"Table '{name}' has no key: mark the column that says whose row it is as person."
                )
            for column in table.schema.sensitive:
                if column in owners:
                    raise SchemaError(
                        f"Tables '{owners[column]}' and '{name}' both have a sensitive column '{column}': rename one."
                    )
                owners[column] = name

    def refuse_unlinked(self) -> None:
        """Refuse keys that are missing, of different types, or in one table alone."""
        kinds = set()
        for name, table in self.tables.items():
            key = self.key(name)
            missing = int(table.overall(key)[0])
            if missing:
                raise InputError(
                    f"The key '{key}' is missing in {missing:,} rows of table '{name}': say whose rows they are, or "
                    "leave them out."
                )
            kind = table.encoded[key].type
            kinds.add("whole" if pa.types.is_integer(kind) else value_kind(kind))
        if len(kinds) > 1 or not kinds <= {"whole", "text"}:
            raise SchemaError("The keys must be whole numbers in every table, or text in every table.")
        for name in self.tables:
            others = [self._person_of[other] for other in self.tables if other != name]
            if not np.isin(self._person_of[name], np.concatenate(others)).any():
                raise InputError(
                    f"No key of table '{name}' is in another table: are they keys of the same people?"
                )

    def key(self, name: str) -> str:
        """Return the column of a table that says whose row it is."""
        return str(self.tables[name].schema.person)

    @property
    def schema(self) -> Schema:
        """The roles of all judged columns; the key is that of the first table."""
        key = self.key(next(iter(self.tables)))
        sensitive = {
            column: table.schema[column]
            for table in self.tables.values()
            for column in table.schema.sensitive
        }
        return Schema({**sensitive, key: next(iter(self.tables.values())).schema[key]})

    # People. Every table has codes of its own for its keys; here they get the same numbers.

    @cached_property
    def _person_of(self) -> dict[str, IntArray]:
        """The person of each distinct tuple of each table; rows without a key are one person's, the safe reading."""
        written = [texts(table.encoded[self.key(name)].values) for name, table in self.tables.items()]
        keys = pc.unique(pa.chunked_array(written, pa.string()))
        places = []
        for (name, table), values in zip(self.tables.items(), written, strict=True):
            numbers = pc.index_in(values, value_set=keys).to_numpy(zero_copy_only=False).astype(np.int64)
            # A missing key, code 0, gets the number behind all keys.
            places.append(np.append(len(keys), numbers)[table.codes(self.key(name))])
        _, person = np.unique(np.concatenate(places), return_inverse=True)
        ends = np.cumsum([each.size for each in places])[:-1]
        return dict(zip(self.tables, np.split(person.astype(np.int64), ends), strict=True))

    @cached_property
    def n_people(self) -> int:
        """The number of people in any table."""
        return 1 + max(int(person.max()) for person in self._person_of.values())

    @property
    def n_rows(self) -> int:
        """The number of rows in all tables."""
        return sum(table.n_rows for table in self.tables.values())

    def person_of(self, name: str) -> IntArray:
        """Return the number of the person of each distinct tuple of a table."""
        return self._person_of[name]

    # Classes: people with the same view.

    def class_of_people(self, labels: Mapping[str, CodeArray]) -> CodeArray:
        """Return the class of each person, given which of a table's tuples show the same quasi-identifying values."""
        from discreet.kernels.tables.grouping import distinct, pack

        people, views, counts, start = [], [], [], 0
        for name, table in self.tables.items():
            n_labels = int(labels[name].max()) + 1
            keys = self._person_of[name] * n_labels + labels[name]
            first, _, rows = distinct(keys, table.tuples.counts)
            people.append(self._person_of[name][first])
            views.append(labels[name][first].astype(np.int64) + start)
            counts.append(rows if self.row_counts == "known" else np.ones_like(rows))
            start += n_labels
        items, repeats = np.concatenate(views), np.concatenate(counts)
        _, item, _ = distinct(pack([items, repeats], [start, int(repeats.max()) + 1]))
        return joined_views(np.concatenate(people), item, self.n_people)

    def groups_by(self, class_of: CodeArray) -> Groups:
        """Return classes of people with what distinguishes these in them, for `Units.counted`."""
        from discreet.kernels.tables.grouping import count_values

        n_classes, n = int(class_of.max()) + 1, class_of.size
        rows = np.zeros(n, np.int64)
        for name, table in self.tables.items():
            np.add.at(rows, self._person_of[name], table.tuples.counts)
        counted = count_values(class_of, np.arange(n), rows, n_classes, n)
        sensitive = {self.units.column: SensitiveCounts(self.units.column, *counted, rows)}
        for hidden, pairs in self.units.pairs.items():
            name = self._home[pairs.name]
            counts, width = self.tables[name].tuples.counts, pairs.value_of.size
            in_class = class_of[self._person_of[name]]
            overall = np.bincount(pairs.codes, weights=counts, minlength=width).astype(np.int64)
            counted = count_values(in_class, pairs.codes, counts, n_classes, width)
            sensitive[hidden] = SensitiveCounts(hidden, *counted, overall, pairs.hierarchy)
        return Groups(np.bincount(class_of, weights=rows, minlength=n_classes).astype(np.int64), sensitive)

    @cached_property
    def _home(self) -> dict[str, str]:
        return {column: name for name, table in self.tables.items() for column in table.schema.sensitive}

    @cached_property
    def units(self) -> Units:
        """The people, and their pairs with the sensitive values of every table."""
        key = self.key(next(iter(self.tables)))
        names = {key, *(column for table in self.tables.values() for column in table.source.names)}
        pairs: dict[str, UnitPairs] = {}
        for name, table in self.tables.items():
            columns = {
                column: (table.codes(column), table.encoded[column]) for column in table.schema.sensitive
            }
            pairs |= units_of(key, self._person_of[name], columns, names).pairs
        return Units(key, pairs)

    @cached_property
    def classes(self) -> CodeArray:
        """The class of each person."""
        return self.class_of_people({name: table.classes[0] for name, table in self.tables.items()})

    @cached_property
    def _unit_groups(self) -> Groups:
        return self.groups_by(self.classes)

    def unit_groups(self) -> Groups:
        """Return the classes of the joined view with what distinguishes people in them."""
        return self._unit_groups

    @cached_property
    def counted(self) -> Groups:
        """The classes of the joined view with people counted, and how many have each sensitive value."""
        return self.units.counted(self.unit_groups(), self.schema.sensitive)

    def groups(self) -> Groups:
        """Return the classes of the joined view with people counted."""
        return self.counted

    def __repr__(self) -> str:
        return f"LinkedTables({', '.join(self.tables)})"


# Joined views: a person's view is the sorted list of what is seen of them. Lists are folded item by item: after step r,
# two people have the same number exactly if their first r items agree and both have as many; numbers of earlier steps
# are not used again. Each item is sorted once and looked at once.


def joined_views(person: IntArray, item: CodeArray, n_people: int) -> CodeArray:
    """Return the same number for people with the same items, given pairs of person and item.

    >>> joined_views(np.array([0, 1, 1, 2, 2, 3]), np.array([5, 5, 7, 7, 5, 5]), 4).tolist()
    [0, 1, 1, 0]
    """
    from discreet.kernels.tables.grouping import distinct

    order = np.lexsort((item, person))
    person, item = person[order], item[order].astype(np.int64)
    starts = np.flatnonzero(np.diff(person, prepend=-1))
    rank = np.arange(person.size) - np.repeat(starts, np.diff(starts, append=person.size))
    by_rank = np.argsort(rank, kind="stable")
    ends = np.cumsum(np.bincount(rank))
    view, used, n_items = np.zeros(n_people, np.int64), 1, int(item.max()) + 1
    for low, high in zip(np.append(0, ends[:-1]).tolist(), ends.tolist(), strict=True):
        at = by_rank[low:high]
        _, number, _ = distinct(view[person[at]] * n_items + item[at])
        view[person[at]] = used + number
        used += int(number.max()) + 1
    return distinct(view)[1]
