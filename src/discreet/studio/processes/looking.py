"""Looking at a table: what a page shows of it before it is protected. It runs in a process of its own.

Every function takes the path of the file and how it is read, and keeps the last table in memory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.boundary import public
from discreet.core.engine import Facts, engine_of
from discreet.core.errors import HierarchyError, InputError
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec
from discreet.core.hierarchy.trees import Rows
from discreet.core.schema import Column, Role
from discreet.core.tables.labels import texts
from discreet.core.tables.source import source_of
from discreet.core.tables.table import Table
from discreet.engines.baskets.files import read_baskets
from discreet.engines.files import read, tables_of
from discreet.guarantees.per_unit import fitted
from discreet.job.parse import guarantee_from
from discreet.job.proposals import propose
from discreet.job.template import hierarchy_entry
from discreet.kinds.hierarchies import hierarchy_from
from discreet.kinds.roles import column_from

FIRST = 12
_LONGEST = 80
_MOST_PAIRED = 12
_MOST_VALUES = 2_000
_BARS = 60
_MOST_FREQUENT = 12
_MOST_LABELS = 6

Reading = Mapping[str, Any]


@dataclass
class _Open:
    """The table that is looked at."""

    path: str
    reading: dict[str, Any]
    relation: Any
    source: Any
    facts: list[Facts]
    judged: tuple[Any, Table] | None = None
    counted: dict[str, tuple[pa.Array, Any]] = field(default_factory=dict)

    def values(self, name: str) -> tuple[pa.Array, Any]:
        """Return the different values of a column with how often each occurs."""
        if name not in self.counted:
            self.counted[name] = engine_of(self.relation).value_counts(self.relation, name)
        return self.counted[name]


_tables: list[_Open] = []


def _opened(path: str, reading: Reading) -> _Open:
    if _tables and (_tables[0].path, _tables[0].reading) == (path, dict(reading)):
        return _tables[0]
    relation = read(path, **reading)
    facts = engine_of(relation).facts(relation)
    _tables[:] = [_Open(path, dict(reading), relation, source_of(relation), facts)]
    return _tables[0]


@public
def preview(path: str, reading: Reading) -> dict[str, Any]:
    """Return the first rows, and for each column its type, nulls, distinct values and unique rows."""
    table = _opened(path, reading)
    first = engine_of(table.relation).first_rows(table.relation, FIRST)
    rows = [[_short(cell) for cell in row.values()] for row in first.to_pylist()]
    columns = [
        {
            "name": facts.name,
            "type": facts.type,
            "missing": facts.n_missing,
            "distinct": facts.n_distinct,
            # Where every value is another, nothing is counted.
            "unique": facts.n_rows
            if facts.n_distinct == facts.n_rows
            else table.source.singletons([facts.name]).n_singletons,
        }
        for facts in table.facts
    ]
    n_rows = table.facts[0].n_rows if table.facts else 0
    return {"n_rows": n_rows, "columns": columns, "first": rows}


@public
def tables(path: str) -> list[str]:
    """Return the tables of the file of a database."""
    return tables_of(Path(path))


@public
def unique_pairs(path: str, reading: Reading, names: Sequence[str]) -> dict[str, Any]:
    """Return how many rows are unique by each pair of columns; of many columns the first are compared."""
    table = _opened(path, reading)
    compared = list(names)[:_MOST_PAIRED]
    unique = [
        (first, second, table.source.singletons([first, second]).n_singletons)
        for first, second in combinations(compared, 2)
    ]
    n_rows = max(table.facts[0].n_rows, 1)
    ranked = sorted(unique, key=lambda pair: -pair[2])
    return {"n_rows": n_rows, "pairs": ranked, "left_out": list(names)[_MOST_PAIRED:]}


@public
def proposals(path: str, reading: Reading, beside: str | None, named: bool) -> list[dict[str, Any]]:
    """Return the proposed role of every column with its reason, as `discreet init` does."""
    table = _opened(path, reading)
    return [
        {
            "name": proposal.name,
            "role": proposal.role.value,
            "reason": proposal.reason,
            "warning": proposal.warning,
            "confidence": proposal.confidence,
            "hierarchy": _entry(proposal.hierarchy, proposal.file),
            "n_distinct": proposal.facts.n_distinct,
            "effective": proposal.effective,
            "block": proposal.block,
        }
        for proposal in propose(
            table.relation, None if beside is None else Path(beside), named=named, counted=table.facts
        )
    ]


def _entry(spec: HierarchySpec | None, file: Path | None) -> dict[str, Any] | None:
    """Return a hierarchy as a job has it; one of a file with its lines, since a project has no folder of its own."""
    if file is not None:
        spec = hierarchy_from({"file": file}, column="", folder=Path())
    return None if spec is None else hierarchy_entry(spec)


@public
def violations(
    path: str, reading: Reading, columns: Mapping[str, Any], guarantees: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Count the rows, or people, whose classes break the guarantee in the table as it is, for each part and in all."""
    table = _opened(path, reading)
    roles = {name: Role(entry["role"]) for name, entry in columns.items()}
    judged = _judged(table, roles)
    parts = [fitted(guarantee_from([part], {}, Path()), judged) for part in guarantees]
    groups = judged.groups()
    people = judged.counted.sizes
    breaking = np.zeros(groups.n_groups, np.bool_)
    counts = []
    for part in parts:
        part.columns(judged.schema.sensitive)
        broken = ~part.holds(judged.groups() if judged.units is None else judged.unit_groups())
        breaking |= broken
        counts.append(int(people[broken].sum()))
    return {
        "violating": int(people[breaking].sum()),
        "people": int(people.sum()),
        "classes": int(breaking.sum()),
        "n_classes": groups.n_groups,
        "parts": counts,
        "unit": "rows" if judged.units is None else "people",
    }


def _judged(table: _Open, roles: Mapping[str, Role]) -> Table:
    """Return the table with its roles and without hierarchies, which do not matter before anything is generalized."""
    roles_key = tuple(sorted((name, role.value) for name, role in roles.items()))
    if table.judged is None or table.judged[0] != roles_key:
        table.judged = (roles_key, Table(table.source, {name: Column(role) for name, role in roles.items()}))
    return table.judged[1]


@public
def histogram(path: str, reading: Reading, name: str) -> dict[str, Any]:
    """Return bars of a column: of a line of numbers or dates by equal steps, else of its most frequent values."""
    table = _opened(path, reading)
    values, counts = table.values(name)
    if not len(values):
        return {"bars": [], "line": False, "n_values": 0}
    kind = values.type
    is_date = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
    if is_date:
        values, kind = values.cast(pa.date32(), safe=False).cast(pa.int32()), pa.int32()
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        line = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        low, high = float(line.min()), float(line.max())
        if pa.types.is_integer(kind):
            # A step of whole numbers, so that no bar stands for more of them than another.
            step = max(math.ceil((high - low + 1) / _BARS), 1)
            edges = np.arange(low, high + step + 1, step)
        else:
            edges = np.linspace(low, high, _BARS + 1) if high > low else np.array([low, low + 1])
        heights, _ = np.histogram(line, bins=edges, weights=counts)
        marks = [str(np.datetime64(int(edge), "D")) if is_date else f"{edge:,.6g}" for edge in edges]
        bars = [(mark, int(height)) for mark, height in zip(marks, heights, strict=False)]
        ends = {"low": float(edges[0]), "high": float(edges[-1]), "ends": (marks[0], marks[-1])}
        return {"bars": bars, "line": True, "n_values": len(values), **ends}
    order = np.argsort(-counts, kind="stable")[:_MOST_FREQUENT]
    labels = texts(values).to_pylist()
    bars = [(_short(labels[at]), int(counts[at])) for at in order]
    return {"bars": bars, "line": False, "n_values": len(values)}


@public
def hierarchy_levels(path: str, reading: Reading, name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a hierarchy makes of a column: the groups of each level, and the values that are under none."""
    table = _opened(path, reading)
    values, counts = table.values(name)
    spec = hierarchy_from(entry, column=name, folder=Path())
    uncovered = 0
    if isinstance(spec, Rows):
        leaves = set(spec.columns[0])
        covered = np.array([text in leaves for text in texts(values).to_pylist()], np.bool_)
        uncovered, counts = int((~covered).sum()), counts[covered]
        values = values.filter(pa.array(covered))
    tree = spec.bind(values, column=name)
    codes = tree.encode(values, column=name)
    levels = []
    for level in range(tree.height + 1):
        sizes = np.bincount(tree.levels[level][codes], weights=counts, minlength=len(tree.labels[level]))
        occupied = [(label, int(size)) for label, size in zip(tree.labels[level], sizes, strict=True) if size]
        smallest = min((size for _, size in occupied), default=0)
        examples = [(_short(label), size) for label, size in occupied[:_MOST_LABELS]]
        levels.append({"n_groups": len(occupied), "smallest": smallest, "examples": examples})
    return {"levels": levels, "uncovered": uncovered, "n_values": len(values) + uncovered}


@public
def lines_of(path: str, reading: Reading, name: str, entry: Mapping[str, Any] | None) -> list[list[str]]:
    """Return a hierarchy line by line: each value and its label on every level, up to the top."""
    table = _opened(path, reading)
    values, _ = table.values(name)
    if len(values) > _MOST_VALUES:
        raise InputError(
            f"Column '{name}' has {len(values):,} values, too many to sort into groups by hand: "
            "use intervals or a mask, or upload a file."
        )
    if entry is None:
        return [[text, "*"] for text in texts(values).to_pylist()]
    spec = hierarchy_from(entry, column=name, folder=Path())
    if isinstance(spec, Rows):
        lines = dict(zip(spec.columns[0], zip(*spec.columns[1:], strict=True), strict=True))
        blank = ("",) * (len(spec.columns) - 2) + ("*",)
        return [[text, *lines.get(text, blank)] for text in texts(values).to_pylist()]
    return _lines(spec.bind(values, column=name))


def _lines(tree: Hierarchy) -> list[list[str]]:
    return [
        [str(labels[int(level[code])]) for level, labels in zip(tree.levels, tree.labels, strict=True)]
        for code in range(1, tree.n_leaves + 1)
    ]


@public
def checked_entry(path: str, reading: Reading, name: str, entry: Mapping[str, Any]) -> None:
    """Refuse a hierarchy that is no tree, or that leaves values of the column out."""
    table = _opened(path, reading)
    column = column_from(name, {"role": "quasi", "hierarchy": dict(entry)}, Path())
    assert column.hierarchy is not None
    values, _ = table.values(name)
    bound = column.hierarchy.bind(values, column=name)
    if len(values) and bound.height < 1:
        raise HierarchyError(f"The hierarchy of column '{name}' has no level above its values.")


@public
def baskets(path: str, reading: Reading) -> dict[str, Any]:
    """Return how many baskets a file holds, how long they are, and their most frequent items."""
    data = read_baskets(path, **reading)
    supports = data.counts
    order = np.argsort(-supports, kind="stable")[:_MOST_FREQUENT]
    names = [str(name) for name in data.names.take(pa.array(order)).to_pylist()]
    lengths = data.lengths
    return {
        "n_baskets": len(data),
        "n_items": data.n_items,
        "mean": float(lengths.mean()) if len(data) else 0.0,
        "longest": int(lengths.max(initial=0)),
        "items_": [(_short(name), int(supports[at])) for name, at in zip(names, order, strict=True)],
    }


def _short(cell: object) -> str:
    """Return a cell as short text; null is empty."""
    text = "" if cell is None else str(cell)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
