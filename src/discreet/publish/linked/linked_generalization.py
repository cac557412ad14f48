"""Linked generalization: several tables about the same people, released together or not at all."""

from __future__ import annotations

import copy
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import BoolArray, CodeArray, IntArray
from discreet.core.boundary import public
from discreet.core.engine import engine_of
from discreet.core.errors import InfeasibleError, InputError, ParameterError, SchemaError
from discreet.core.guarantee import A_GUARANTEE, Guarantee
from discreet.core.hierarchy.bound import Hierarchy
from discreet.core.params import Constraints, InstanceOf, IntIn, OneOf, check_parameters, require
from discreet.core.release import Cells, Evidence, Release
from discreet.core.rng import RANDOM_STATE, RandomState, generator, secret_seed
from discreet.core.schema import Role, Schema, other
from discreet.core.tables.labels import value_kind
from discreet.core.tables.linked_tables import LinkedTables, RowCounts
from discreet.core.tables.source import Replacement
from discreet.core.tables.table import Table
from discreet.guarantees import AllOf, PerUnit
from discreet.measure.tables.risk import refuse_singling_out
from discreet.publish.lattice.lattice import column_tree
from discreet.publish.recipes.recipe_parts import recipe_header, recipe_of
from discreet.publish.tables.publisher import SUPPRESSIBLE, Plan, allowed_rows, enough_for, kept_groups

Levels = dict[str, int]
"""The level of each quasi-identifier by its name, which columns of the same name in several tables share."""
_SHIFT = b"discreet date shift"


@public
@dataclass(repr=False, eq=False)
class LinkedGeneralization:
    """Generalize whole columns of linked tables until the joined view keeps the guarantee, and leave people out whole.

    People are judged by what all tables show of them together. Keys become pseudonyms, the same in every table. Who
    breaks the guarantee is left out of every table. Quasi-identifiers of the same name have the same level in every
    table. The search starts with every column at its top, and takes one level at a time off the column that then
    costs least detail, as long as no more people have to be left out than may be; the levels that it ends with are
    minimal, not always the best.

    Dates that nobody is assumed to know may be shifted: all dates of a person by the same number of days, drawn
    uniformly from ``-max_shift`` to ``max_shift`` by a secret key. That hides when something happened, up to that many
    days, less what a person's first and last date rule out for whoever knows the period of the data. It does not hide
    how many days lie between two dates of a person, and who knows one of the dates knows them all. Another
    ``max_shift`` under the same key draws other shifts, and both releases together narrow them.

    Parameters
    ----------
    guarantee
        What every class of the joined view must keep, with people counted.
    max_suppressed
        The people that may be left out: their number as an int, or a share as a float.
    row_counts
        ``"known"``: the attacker knows how many rows a person has of each kind. ``"unknown"``: only which kinds; a
        caution then counts who is less well hidden from those who do.
    shift
        The columns of dates to shift, by table; they have the role other.
    max_shift
        By how many days dates are shifted at most.
    random_state
        Seeds the keys and the order of the rows.

    Examples
    --------
    Two people of sixty are alike in one table, and only one has been on ward b:

    >>> from discreet import LinkedTables, Table, person, quasi
    >>> from discreet.guarantees import KAnonymity
    >>> people = Table(pa.table({"who": [1, 2, 3], "age": [60, 60, 60]}), {"who": person(), "age": quasi()})
    >>> visits = Table(pa.table({"who": [1, 2, 3], "ward": ["a", "a", "b"]}), {"who": person(), "ward": quasi()})
    >>> hospital = LinkedTables({"people": people, "visits": visits})
    >>> release = LinkedGeneralization(KAnonymity(2), max_suppressed=1).release(hospital)
    >>> release.data.tables["visits"].frame["ward"].to_pylist(), release.evidence.suppressed, release.verdict.ok
    (['a', 'a'], 1, True)
    """

    guarantee: Guarantee
    _: KW_ONLY
    max_suppressed: int | float = 0.0
    row_counts: RowCounts = "known"
    shift: Mapping[str, Sequence[str]] = field(default_factory=dict)
    max_shift: int = 183
    random_state: RandomState = None

    constraints: ClassVar[Constraints] = {
        "guarantee": A_GUARANTEE,
        "max_suppressed": SUPPRESSIBLE,
        "row_counts": OneOf(("known", "unknown")),
        "shift": InstanceOf((Mapping,), "columns by table"),
        "max_shift": IntIn(1, 36_500),
        "random_state": RANDOM_STATE,
    }

    def __post_init__(self) -> None:
        """Refuse parameters of the wrong type where they are passed, not when tables come."""
        check_parameters(self)

    def release(self, linked: LinkedTables) -> Release:
        """Protect linked tables, and publish all of them."""
        check_parameters(self)
        require(self, "linked", linked, InstanceOf((LinkedTables,), "LinkedTables"))
        rng = generator(self.random_state, owner=self)
        key = _key_of(linked, rng)
        original = LinkedTables(self._keyed(linked, key), self.row_counts)
        original.refuse_unlinked()
        for table in original.tables.values():
            refuse_singling_out(table)
        guarantee = by_linked_people(self.guarantee, original)
        levels, classes, kept = self._search(original, guarantee)
        is_kept = kept[classes]
        parts = self._parts(original, guarantee, levels, is_kept, rng)
        shifted = {name: self._shifted(part, name, key) for name, part in parts.items()}
        return self._joined(original, guarantee, shifted, is_kept, levels, key)

    def _keyed(self, linked: LinkedTables, key: bytes) -> dict[str, Table]:
        """Return the tables with the key of their pseudonyms; dates to be shifted need not be alike."""
        for name in self.shift:
            if name not in linked.tables:
                raise SchemaError(f"Dates of '{name}' are to be shifted, which is no table.")
        keyed = {}
        for name, table in linked.tables.items():
            whose = linked.key(name)
            roles = {**table.schema, whose: replace(table.schema[whose], key=key)}
            for column in self.shift.get(name, ()):
                if column not in roles or roles[column].role is not Role.OTHER:
                    raise SchemaError(
                        f"Column '{column}' of table '{name}' is to be shifted, so it must have the role other: the "
                        "days between a person's dates stay, so a date that others may know must be generalized."
                    )
                kind = engine_of(table.frame).schema(table.frame).field(column).type
                if value_kind(kind) != "date":
                    raise SchemaError(
                        f"Column '{column}' of table '{name}' is to be shifted and holds no dates."
                    )
                roles[column] = other(allow_unique=True)
            keyed[name] = copy.copy(table)
            keyed[name].schema = Schema(roles)
        return keyed

    # The search: levels of all columns, from the top down.

    def _search(self, linked: LinkedTables, guarantee: Guarantee) -> tuple[Levels, CodeArray, BoolArray]:
        """Return the levels, the class of each person at them, and which classes keep the guarantee."""
        trees = _trees(linked)
        limit = allowed_rows(self.max_suppressed, linked.n_people)

        def judged(levels: Levels) -> tuple[CodeArray, BoolArray, int]:
            classes = linked.class_of_people(
                {name: _labels(table, trees[name], levels) for name, table in linked.tables.items()}
            )
            groups = linked.groups_by(classes)
            kept = kept_groups(guarantee, groups)
            people = np.diff(groups.sensitive[linked.units.column].indptr)
            return classes, kept, int(people[~kept].sum())

        levels = {name: tree.height for of_table in trees.values() for name, tree in of_table.items()}
        for of_table in trees.values():
            levels |= {name: max(levels[name], tree.height) for name, tree in of_table.items()}
        classes, kept, n_dropped = judged(levels)
        self._refuse_too_many(guarantee, n_dropped, linked.n_people, limit)
        remaining = {name for name, level in levels.items() if level}
        while remaining:
            steps = []
            for name in sorted(remaining):
                finer = levels | {name: levels[name] - 1}
                found = judged(finer)
                if found[2] > limit:
                    remaining.discard(name)  # other columns only get finer, so it stays too fine
                else:
                    steps.append((_loss(linked, trees, finer), found[2], name, finer, found))
            if not steps:
                break
            # Ties by fewer people left out, then by name, whatever the order of columns.
            _, _, name, levels, (classes, kept, _) = min(steps, key=lambda step: step[:3])
            if not levels[name]:
                remaining.discard(name)
        return levels, classes, kept

    def _refuse_too_many(self, guarantee: Guarantee, n_dropped: int, n_people: int, limit: int) -> None:
        if n_dropped <= limit and n_dropped < n_people:
            return
        fix = {}
        remedy = "demand less"
        if n_dropped < n_people:
            fix = {"max_suppressed": enough_for(n_dropped, n_people, self.max_suppressed)}
            remedy = f"allow max_suppressed={fix['max_suppressed']:g}"
        if self.row_counts == "known":
            remedy += ', or judge without the numbers of rows (row_counts="unknown")'
        raise InfeasibleError(
            f"No generalization keeps {guarantee}: with every column at its top, {n_dropped} of {n_people} people "
            f"would have to be left out, and at most {limit} may be; {remedy}.",
            fix=fix,
        )

    # What was found is published table by table, as any table is.

    def _parts(
        self,
        linked: LinkedTables,
        guarantee: Guarantee,
        levels: Levels,
        is_kept: BoolArray,
        rng: np.random.Generator,
    ) -> dict[str, Release]:
        """Return the release of each table, without the people who are left out."""
        parts, trees = {}, _trees(linked)
        for name, table in linked.tables.items():
            stays = is_kept[linked.person_of(name)]
            if not stays.any():
                raise InfeasibleError(
                    f"All people with rows in table '{name}' would be left out: demand less, or leave the table out."
                )
            plan = _plan(table, trees[name], levels, stays)
            recipe = recipe_of(
                self.with_guarantee(guarantee),
                table,
                parameters={},
                levels=plan.levels,
                published=plan.published,
            )
            parts[name] = plan.release(table, guarantee, recipe, secret_seed(rng))
        return parts

    def with_guarantee(self, guarantee: Guarantee) -> LinkedGeneralization:
        """Return the publisher with the guarantee as it is judged."""
        return replace(self, guarantee=guarantee)

    def _shifted(self, part: Release, name: str, key: bytes) -> Release:
        """Shift the dates of a released table, each person's by one number of days that follows from the key."""
        columns = self.shift.get(name, ())
        if not columns:
            return part
        rows = engine_of(part.data).arrow(part.data)
        whose = rows[str(part.schema.person)].combine_chunks().dictionary_encode()
        # A key of its own, so that shifts say nothing of the key of the pseudonyms.
        secret = hmac.digest(key, _SHIFT, "sha256")
        days = np.array(
            [_days(each, secret, self.max_shift) for each in whose.dictionary.to_pylist()], np.int64
        )
        for column in columns:
            moved = _moved(
                rows[column].combine_chunks(), days[whose.indices.to_numpy()], f"'{column}' of '{name}'"
            )
            rows = rows.set_column(rows.column_names.index(column), column, moved)
        return replace(part, data=part.original.source.framed(rows))

    def _joined(
        self,
        original: LinkedTables,
        guarantee: Guarantee,
        parts: Mapping[str, Release],
        is_kept: BoolArray,
        levels: Levels,
        key: bytes,
    ) -> Release:
        """Return the release of all tables."""
        header = recipe_header(self.with_guarantee(guarantee), {"row_counts": self.row_counts})
        shown = ("columns", "levels", "private")
        tables = {
            name: {entry: part.recipe[entry] for entry in shown if entry in part.recipe}
            | ({"shifted": list(self.shift[name])} if self.shift.get(name) else {})
            for name, part in parts.items()
        }
        public = header | {"tables": tables}
        if self.shift:
            public["parameters"]["max_shift"] = self.max_shift
        public["parameters"]["max_suppressed"] = self.max_suppressed
        dropped = int((~is_kept).sum())
        return Release(
            LinkedTables({name: part.table for name, part in parts.items()}, self.row_counts),
            guarantee,
            Evidence(original.n_people, suppressed=dropped, levels=levels, details={"parts": dict(parts)}),
            public,
            "linked-tables",
            original=original,
            private={
                "format": 1,
                "pseudonym_key": key.hex(),
                "tables": {name: dict(part.private) for name, part in parts.items()},
            },
        )


def by_linked_people(guarantee: Guarantee, linked: LinkedTables) -> Guarantee:
    """Return a guarantee for the joined view of linked tables, as it is judged and written down.

    A part about sensitive values becomes one part for each column that it looks at, since people may have rows in the
    table of one and none in that of another.

    >>> import pyarrow as pa
    >>> from discreet import Table, person, quasi, sensitive
    >>> from discreet.guarantees import DistinctDiversity, KAnonymity
    >>> roles = {"who": person(), "age": quasi()}
    >>> people = Table(pa.table({"who": [1, 2], "age": [60, 60]}), roles)
    >>> drugs = Table(pa.table({"who": [1, 2], "age": [60, 60], "drug": ["a", "b"]}), {**roles, "drug": sensitive()})
    >>> by_linked_people(KAnonymity(2) & DistinctDiversity(2), LinkedTables({"people": people, "drugs": drugs}))
    KAnonymity(k=2) per 'who' & DistinctDiversity(l=2, of='drug') per 'who'
    """
    unit, names = linked.units.column, linked.schema.sensitive
    parts: list[Guarantee] = []
    for part in guarantee.parts if isinstance(guarantee, AllOf) else (guarantee,):
        inner = part.guarantee if isinstance(part, PerUnit) else part
        if hasattr(inner, "population"):
            raise ParameterError(
                f"{type(inner).__name__} counts people of a population by one table, so linked tables cannot keep it."
            )
        fields = inner.to_dict()
        fields.pop("guarantee")
        columns = inner.columns(names)
        each = [type(inner)(**{**fields, "of": column}) for column in columns] if columns else [inner]
        parts += [PerUnit(one_column, unit).bound_to(linked) for one_column in each]  # type: ignore[arg-type]
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


def _key_of(linked: LinkedTables, rng: np.random.Generator) -> bytes:
    """Return the key of the pseudonyms: the one that the tables have, or a fresh one."""
    keys = {table.schema[linked.key(name)].key for name, table in linked.tables.items()} - {None}
    if len(keys) > 1:
        raise SchemaError(
            "The tables have different pseudonym keys, which would not be linked: use one key for all."
        )
    return keys.pop() or b"" if keys else rng.bytes(32)


def _trees(linked: LinkedTables) -> dict[str, dict[str, Hierarchy]]:
    return {
        name: {column: column_tree(table, column) for column in table.schema.quasi}
        for name, table in linked.tables.items()
    }


def _at(tree: Hierarchy, level: int) -> int:
    """Return the level of a tree that may be lower than another table's of the same column."""
    return min(level, tree.height)


def _labels(table: Table, trees: Mapping[str, Hierarchy], levels: Levels) -> CodeArray:
    """Return which distinct tuples of a table show the same quasi-identifying values at some levels."""
    from discreet.kernels.tables.grouping import distinct, pack

    nodes = [tree.levels[_at(tree, levels[name])][table.codes(name)] for name, tree in trees.items()]
    cards = [len(tree.labels[_at(tree, levels[name])]) for name, tree in trees.items()]
    return distinct(pack(nodes, cards))[1]


def _loss(linked: LinkedTables, trees: Mapping[str, Mapping[str, Hierarchy]], levels: Levels) -> float:
    """Return the mean generalized loss over the quasi-identifiers of all tables, by the rows that came in."""
    losses = []
    for name, of_table in trees.items():
        table = linked.tables[name]
        for column, tree in of_table.items():
            level = _at(tree, levels[column])
            cells = tree.losses(level)[tree.levels[level]]
            losses.append(float(cells @ table.overall(column)) / table.n_rows * table.schema[column].weight)
    return float(np.mean(losses))


def _plan(table: Table, trees: Mapping[str, Hierarchy], levels: Levels, stays: BoolArray) -> Plan:
    """Return how one table is published: each column at its level, without the tuples of those who are left out."""
    counts = table.tuples.counts
    by_value: dict[str, Replacement] = {}
    cells: dict[str, Cells] = {}
    published: dict[str, list[str | None]] = {}
    for name, tree in trees.items():
        level = _at(tree, levels[name])
        nodes = tree.levels[level][table.codes(name)]
        if level > 0:
            by_value[name] = Replacement(tree.levels[level], pa.array(tree.labels[level], pa.string()))
        covered = np.bincount(tree.levels[level], weights=table.overall(name)).astype(np.int64)
        cells[name] = Cells(nodes[stays], tree.losses(level), covered)
        published[name] = [tree.labels[level][code] for code in np.unique(nodes[stays])]
    return Plan(
        counts[stays],
        cells,
        by_value=by_value,
        dropped=None if stays.all() else ~stays,
        suppressed=int(counts[~stays].sum()),
        levels={name: _at(tree, levels[name]) for name, tree in trees.items()},
        published=published,
    )


def _days(pseudonym: str, secret: bytes, most: int) -> int:
    """Return by how many days the dates of a person are shifted; 128 bits make the shifts equally likely."""
    drawn = hmac.new(secret, pseudonym.encode(), hashlib.sha256).digest()[:16]
    return int.from_bytes(drawn, "little") % (2 * most + 1) - most


def _moved(dates: pa.Array, days: IntArray, column: str) -> pa.Array:
    """Return dates, or moments, so many days later."""
    try:
        return pc.add(dates, pa.array(days * 86_400, pa.duration("s"))).cast(dates.type)
    except (pa.ArrowException, OverflowError):
        raise InputError(f"Column {column} holds dates that cannot be shifted.") from None
