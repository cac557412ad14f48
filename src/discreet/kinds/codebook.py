"""The codebook of a release: what each column is, what each of its labels covers, and what a missing value means."""

from __future__ import annotations

import contextlib
import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import IntArray
from discreet.core.engine import engine_of
from discreet.core.hierarchy.bands import band_bounds
from discreet.core.hierarchy.code_systems import NO_CODE, code_path
from discreet.core.hierarchy.structured_codes import diagnosis_path
from discreet.core.release import Release
from discreet.core.schema import DROPPED, Role
from discreet.core.tables.labels import Any_, Interval, MaskLabel, SetOf, parse_label, text, texts, value_kind
from discreet.kinds.wording import generalized_cells

MOST_VALUES = 100
"""A column that is published exactly lists its values where it has no more."""
_HEAD = (
    "column", "role", "type", "entry", "label", "meaning", "low", "high", "low_included", "high_included", "rows",
)  # fmt: skip
# What Python reads beside these, such as 1_000, digits of other scripts, nan and infinity, is text.
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_OPEN = ("inf", "-inf", "+inf")
_TYPES = {"number": "number", "date": "date", "text": "text", "other": "value"}
_MISSING = "No value: the input had none, or a mark for a missing one."


@dataclass(frozen=True)
class DescribedLabel:
    """One label of a column: what it covers, and how many released rows show it.

    ``low`` and ``high`` bound the values it covers, as text; both are None where they have no order.
    """

    label: str
    meaning: str
    rows: int
    low: str | None = None
    high: str | None = None
    low_included: bool | None = None
    high_included: bool | None = None


@dataclass(frozen=True)
class DescribedColumn:
    """One released column: its role and type, what became of its cells, its labels, and how many cells are missing.

    ``n_labels`` counts the different cells; ``labels`` is empty where there are many values that stand for themselves.
    """

    name: str
    role: Role
    type: str
    became: str
    n_labels: int
    n_missing: int
    labels: tuple[DescribedLabel, ...]

    @property
    def is_released(self) -> bool:
        """Whether the data has the column."""
        return self.type != ""

    @property
    def has_bounds(self) -> bool:
        """Whether any label is an interval."""
        return self.role is Role.QUASI and any(label.low != label.high for label in self.labels)


def codebook_of(release: Release) -> tuple[DescribedColumn, ...]:
    """Return the columns of a released table, by the released rows and the public part of the recipe alone."""
    frame = release.frame
    known = release.table.judged
    described, schema = [], engine_of(frame).schema(frame)
    others = engine_of(frame).value_lists(
        frame, [name for name in schema.names if name not in known], MOST_VALUES
    )
    for name in schema.names:
        column = release.schema.get(name)
        role = Role.OTHER if column is None else column.role
        became = "made by the method" if column is None else generalized_cells(name, column, release)
        if name in known:
            book, counts = release.table.encoded[name], release.table.overall(name)
            values, of_values, n_missing = book.values, counts[1:], int(counts[0])
            n_labels = int((of_values > 0).sum())
        else:
            n_labels, n_known, values, of_values = others[name]
            n_missing = release.table.n_rows - n_known
        is_label = role is Role.QUASI and became != "exact" and value_kind(values.type) == "text"
        type_ = "label" if is_label else _type(values.type)
        listed = is_label or n_labels <= MOST_VALUES
        described_labels = _labels(values, of_values, _tree(release, name), is_label=is_label)
        labels = tuple(sorted(described_labels, key=_in_order)) if listed else ()
        described.append(DescribedColumn(name, role, type_, became, n_labels, n_missing, labels))
    dropped = [
        DescribedColumn(entry["name"], Role(entry["role"]), "", "dropped: not in the data", 0, 0, ())
        for entry in release.recipe.get("columns", ())
        if Role(entry["role"]) in DROPPED and not entry.get("pseudonym")
    ]
    return (*described, *dropped)


def _type(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_integer(kind):
        return "whole number"
    if pa.types.is_boolean(kind):
        return "true or false"
    if pa.types.is_timestamp(kind):
        return "moment"
    return _TYPES[value_kind(kind)]


_FLAT: Mapping[str, Any] = {"kind": "flat"}


def _tree(release: Release, name: str) -> Mapping[str, Any]:
    """Return what the public part of the recipe says of a column's hierarchy; empty where only the owner has it."""
    entries = (each for each in release.recipe.get("columns", ()) if each["name"] == name)
    hierarchy = next(entries, _FLAT).get("hierarchy")
    if isinstance(hierarchy, Mapping):
        return hierarchy
    return {} if hierarchy else _FLAT


def _labels(
    values: pa.Array, counts: IntArray, tree: Mapping[str, Any], *, is_label: bool
) -> Iterator[DescribedLabel]:
    """Return the values that occur, in their order, as labels or as values that stand for themselves."""
    written = texts(values).to_pylist()
    bands = band_bounds(written) if is_label else {}
    for label, n_rows in zip(written, counts.tolist(), strict=True):
        if label is None or not n_rows:
            continue
        if not is_label:
            is_number = value_kind(values.type) in ("number", "date")
            bounds = (label, label, True, True) if is_number else ()
            yield DescribedLabel(label, _code(label, tree) or "this value", n_rows, *bounds)
        elif label in bands:
            low, high, includes = bands[label]
            yield _interval(label, n_rows, low, high, low is not None, includes)
        else:
            yield _described(label, n_rows, tree)


def _in_order(label: DescribedLabel) -> tuple[bool, float, float, str]:
    """Return what labels are ordered by: their bounds, or their text; an order that was stated may be private."""
    ends = [None if end is None or not _is_number(end) else float(end) for end in (label.low, label.high)]
    if ends == [None, None]:
        return (True, 0.0, 0.0, label.label)
    low, high = ends
    return (False, -math.inf if low is None else low, math.inf if high is None else high, label.label)


def _described(label: str, n_rows: int, tree: Mapping[str, Any]) -> DescribedLabel:
    """Return what a label covers, by its notation; a name may be a group that only the owner's hierarchy resolves."""
    meaning = parse_label(label)
    if isinstance(meaning, Any_):
        return DescribedLabel(label, "any value, or none: it is hidden here", n_rows)
    if isinstance(meaning, Interval):
        low, high = (None if end in _OPEN else end for end in (meaning.low, meaning.high))
        return _interval(label, n_rows, low, high, meaning.closed_low, meaning.closed_high)
    if isinstance(meaning, SetOf):
        return DescribedLabel(
            label, f"one of {len(meaning.items)} values: {'; '.join(meaning.items)}", n_rows
        )
    if isinstance(meaning, MaskLabel):
        where = "begins" if meaning.from_ == "right" else "ends"
        return DescribedLabel(
            label,
            f"a code that {where} with {meaning.visible}; each star hides one character at most",
            n_rows,
        )
    code = _code(label, tree)
    if _is_number(label):
        return DescribedLabel(label, code or "this value", n_rows, label, label, True, True)
    groups = _groups(tree)
    group = f", or the group of this name {groups}" if groups else ""
    return DescribedLabel(label, code or f"this value{group}", n_rows)


def _groups(tree: Mapping[str, Any]) -> str:
    """Return where the names of groups come from that a column may show; empty where it shows none."""
    match tree.get("kind"):
        case "icd":
            return f"in ICD-{tree['version']}"
        case "scale":
            return f"in the scale '{tree['name']}' of Discreet"
        case "codes":
            return f"in the code system '{tree['system']}' of Discreet"
        case "flat" | "intervals" | "cuts" | "masked" | "ip":
            return ""
    return "in the hierarchy, which its owner has"


def _code(label: str, tree: Mapping[str, Any]) -> str:
    """Return what a code of a known system means: the groups that it lies in; empty for what is no code of one."""
    if tree.get("kind") == "icd":
        system, path = f"ICD-{tree['version']}", list(diagnosis_path(label, tree["version"])[1:])
    elif tree.get("kind") == "codes":
        system, path = f"'{tree['system']}'", list(code_path(label, tree["system"]))
    else:
        return ""
    return "" if path[-1] == NO_CODE else f"this code or group of {system}, in {', '.join(path)}"


def _interval(
    label: str, n_rows: int, low: str | None, high: str | None, low_included: bool, high_included: bool
) -> DescribedLabel:
    words = []
    if low is not None:
        words.append(f"{'from' if low_included else 'above'} {low}")
    if high is not None:
        words.append(f"{'up to' if high_included else 'below'} {high}")
    return DescribedLabel(
        label,
        " ".join(words) or "any value",
        n_rows,
        low,
        high,
        low_included if low is not None else None,
        high_included if high is not None else None,
    )


def _is_number(label: str) -> bool:
    return _NUMBER.fullmatch(label) is not None


def codebook_csv(columns: Sequence[DescribedColumn]) -> str:
    r"""Return a codebook as CSV: a line for each column, each label, and the missing cells.

    >>> label = DescribedLabel("[20, 29]", "from 20 up to 29", 7, "20", "29", True, True)
    >>> print(codebook_csv([DescribedColumn("age", Role.QUASI, "label", "generalized", 1, 0, (label,))]), end="")
    column,role,type,entry,label,meaning,low,high,low_included,high_included,rows
    age,quasi,label,column,,generalized; 1 label,,,,,7
    age,quasi,label,label,"[20, 29]",from 20 up to 29,20,29,true,true,7
    """
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow(_HEAD)
    for column in columns:
        head = (column.name, column.role.value, column.type)
        n_rows = sum(label.rows for label in column.labels) if column.labels else ""
        lines.writerow((*head, "column", "", _summary(column), "", "", "", "", n_rows))
        for label in column.labels:
            ends = (label.low, label.high, label.low_included, label.high_included)
            lines.writerow((*head, "label", label.label, label.meaning, *map(_cell, ends), label.rows))
        if column.n_missing:
            lines.writerow((*head, "missing", "", _MISSING, "", "", "", "", column.n_missing))
    return written.getvalue()


def _summary(column: DescribedColumn) -> str:
    if not column.is_released:
        return column.became
    noun = "label" if column.type == "label" else "value"
    return f"{column.became}; {column.n_labels:,} {noun}{'' if column.n_labels == 1 else 's'}"


def _cell(value: str | bool | None) -> str:
    return "" if value is None else text(value)


def owners_codebook(release: Release) -> str:
    """Return which original values each published label of a hierarchy covers, as CSV, for the owner alone."""
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow(("column", "label", "covers"))
    for name in release.schema.quasi if release.original is not None else ():
        tree = release.original.encoded[name].hierarchy
        if tree is None:
            continue
        shown = set(texts(release.table.encoded[name].values).to_pylist())
        leaves = texts(tree.leaves).to_pylist()
        # A leaf covers itself, and the root everything.
        for names, nodes in zip(tree.labels[1:-1], tree.levels[1:-1], strict=True):
            for node, label in enumerate(names):
                if label in shown:
                    # A label of several levels is listed at the lowest alone.
                    shown.discard(label)
                    covered = [
                        leaf for leaf, at in zip(leaves, nodes[1:].tolist(), strict=True) if at == node
                    ]
                    lines.writerow((name, label, "; ".join(covered)))
    return written.getvalue()


def bounds_columns(columns: Sequence[DescribedColumn]) -> dict[str, tuple[str, str]]:
    """Return the names of the columns of bounds, by the column whose labels they bound; none takes a name in use."""
    names = {column.name for column in columns}
    bounds: dict[str, tuple[str, str]] = {}
    for column in columns:
        if column.has_bounds:
            pair = (f"{column.name}_low", f"{column.name}_high")
            while names & set(pair):
                pair = (f"{pair[0]}_", f"{pair[1]}_")
            bounds[column.name] = pair
            names |= set(pair)
    return bounds


def with_bounds(frame: Any, columns: Sequence[DescribedColumn]) -> Any:
    """Return a frame with the bounds of intervals as columns after its own, empty where a label has none."""
    engine = engine_of(frame)
    schema = engine.schema(frame)
    tables: dict[str, list[pa.Array]] = {}
    fields = list(schema)
    described = {column.name: column for column in columns}
    for name, pair in bounds_columns(columns).items():
        labels = described[name].labels
        tables[name] = [pa.array([label.label for label in labels], pa.string())]
        for at, new in enumerate(pair):
            ends = _typed([(label.low, label.high)[at] for label in labels])
            tables[name].append(ends)
            fields.append(pa.field(new, ends.type))
    wide = pa.schema(fields)
    batches = (_widened(batch, tables, wide) for batch in engine.batches(frame))
    return engine.framed(pa.RecordBatchReader.from_batches(wide, batches), like=frame)


def agrees_with_bounds(frame: Any, bounds: Mapping[str, Sequence[str]]) -> bool:
    """Return whether the columns of bounds of a written table are those that its labels have."""
    engine = engine_of(frame)
    for name, pair in bounds.items():
        rows = (
            engine.arrow(engine.select(frame, [name, *pair]))
            .group_by([name, *pair])
            .aggregate([([], "count_all")])
        )
        labels, *ends = (texts(rows.column(each).combine_chunks()) for each in (name, *pair))
        distinct = pc.unique(labels)
        described = {
            each.label: each
            for each in _labels(distinct, np.ones(len(distinct), np.int64), _FLAT, is_label=True)
        }
        stated = {None: (None, None)} | {label: (each.low, each.high) for label, each in described.items()}
        for label, *cells in zip(labels.to_pylist(), *(end.to_pylist() for end in ends), strict=True):
            if not all(map(_same_number, cells, stated[label])):
                return False
    return True


def _same_number(cell: str | None, end: str | None) -> bool:
    if cell is None or end is None:
        return cell is end
    return cell == end or (_is_number(cell) and _is_number(end) and float(cell) == float(end))


def _widened(batch: pa.RecordBatch, tables: Mapping[str, list[pa.Array]], wide: pa.Schema) -> pa.RecordBatch:
    arrays = list(batch.columns)
    for name, (labels, *ends) in tables.items():
        places = pc.index_in(texts(batch.column(name)), value_set=labels)
        arrays += [end.take(places) for end in ends]
    return pa.RecordBatch.from_arrays(
        [array.cast(field.type) for array, field in zip(arrays, wide, strict=True)], schema=wide
    )


def _typed(ends: Sequence[str | None]) -> pa.Array:
    """Return bounds as whole numbers or numbers where all of them are, else as text."""
    if all(end is None or _is_number(end) for end in ends):
        for read, kind in ((int, pa.int64()), (float, pa.float64())):
            with contextlib.suppress(ValueError, OverflowError):
                return pa.array([None if end is None else read(end) for end in ends], kind)
    return pa.array(ends, pa.string())
