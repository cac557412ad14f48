"""Written releases: how tables are written and read back, and the folder as whoever has it reads and judges it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.core.engine import TextLayout, engine_of
from discreet.core.errors import InputError
from discreet.core.hierarchy.specs import spec_from_dict
from discreet.core.release import Release
from discreet.core.schema import DROPPED, Column, Role, Schema, other, person
from discreet.core.tables.table import Table
from discreet.core.verdict import Verdict, claimed
from discreet.engines.files import read
from discreet.engines.folders import RECORD, is_parts, is_regular
from discreet.engines.formats import format_named
from discreet.engines.writing import write_frame, written_cells
from discreet.kinds.kind import Kind, record_kind
from discreet.publish.recipes.recipe import private_part

_TREES = ("hierarchy", "ordered")


@dataclass(frozen=True)
class Written:
    """The folder of a release, and what its files say.

    Attributes
    ----------
    folder
        The folder of the release.
    record
        What its release.json says.
    owners
        What the owner's folder says; empty where it is not there, or belongs to another release.
    population
        The population that the guarantee compares with, which no release holds.
    is_changed
        Whether a file is missing, or is not what was written.
    is_measured
        Whether the data is measured by all guarantees, beside the one that it is judged by.
    reading
        The engine and the cluster that the files of a cluster are read on, where they are not read here.
    """

    folder: Path
    record: Mapping[str, Any]
    owners: Mapping[str, Any]
    population: Any = None
    is_changed: bool = False
    is_measured: bool = False
    reading: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def kind(self) -> Kind:
        """The kind of data, with what the guarantee that was stated adds to it."""
        return record_kind(self.record)

    def claims(self) -> Verdict:
        """Return the verdict that release.json states."""
        stated = self.record["verdict"]
        parts = tuple(claimed(part["guarantee"], ok=part["ok"]) for part in stated.get("parts", ()))
        return replace(
            claimed(stated["guarantee"], ok=stated["ok"] and all(part.ok for part in parts)), parts=parts
        )

    def file(self, name: str) -> Path:
        """Return a file of the folder by its name, one that was written with the release if there is one."""
        files = [
            path
            for path in self.folder.glob(f"{name}.*")
            if path.suffix != ".html" and (is_regular(path) or is_parts(path))
        ]
        if not files:
            raise InputError(f"{self.folder} holds no file of {name}.")
        return min(files, key=lambda path: (path.name not in self.record["files"], path))

    def frame(self, name: str, labels: tuple[str, ...] = ()) -> Any:
        """Read a file of the folder; labels stay text, whatever they look like."""
        path = self.file(name)
        if self.reading:
            frame = read(path, **self.reading)
            return self._without_bounds(frame) if name == DATA and self.record.get("bounds") else frame
        # Releases write nulls as empty cells; NA may be a value.
        reading: dict[str, Any] = {"nulls": ("",)}
        if format_named(path.suffix[1:]).text and labels:
            reading["text"] = labels
        frame = read(path, **reading)
        return self._without_bounds(frame) if name == DATA and self.record.get("bounds") else frame

    def _without_bounds(self, frame: Any) -> Any:
        """Return the rows without the columns of bounds, which must be those of their labels."""
        from discreet.kinds.codebook import agrees_with_bounds

        bounds, engine = self.record["bounds"], engine_of(frame)
        names = engine.schema(frame).names
        pairs = bounds.items() if isinstance(bounds, Mapping) else [(None, ())]
        are_texts = all(isinstance(pair, list) and [str, str] == [*map(type, pair)] for _, pair in pairs)
        if not are_texts or not all(len({name, *pair} & set(names)) == 3 for name, pair in pairs):
            raise InputError(f"{self.folder / RECORD} names columns of bounds that the data does not have.")
        if not agrees_with_bounds(frame, bounds):
            raise InputError("The columns of bounds are not those of the labels beside them.")
        added = {new for pair in bounds.values() for new in pair}
        return engine.select(frame, [name for name in names if name not in added])

    @property
    def is_text(self) -> bool:
        """Whether a released table is written as text, which does not say the types of its columns."""
        names = [Path(name) for name in self.record["files"] if Path(name).stem == "data"]
        return any(format_named(name.suffix[1:]).text for name in names if is_regular(self.folder / name))

    @cached_property
    def hidden_columns(self) -> tuple[str, ...]:
        """The columns whose hierarchy or order is in the owner's folder alone, which is not there."""
        private = self.owners.get("columns")
        return tuple(
            entry["name"]
            for entry in self.record["columns"]
            for key in _TREES
            if entry.get(key) is True
            and not (isinstance(private, Mapping) and key in private.get(entry["name"], ()))
        )

    def columns(self) -> dict[str, Column]:
        """Return the roles of the released columns; a hierarchy or an order that is hidden is left out."""
        return released_columns(self.folder, without_hidden_trees(self.record), self.owners)


def released_columns(
    folder: Path, record: Mapping[str, Any], owners: Mapping[str, Any] | None = None
) -> dict[str, Column]:
    """Return the roles of the columns that a release has; quasi-identifiers hold labels, which need no tree.

    ``owners`` is the private part of the release; None reads it where it lies beside the release.
    """
    entries = [_without_tree(entry) for entry in record["columns"]]
    roles = roles_of_record(folder, {**record, "columns": entries}, owners=owners)
    columns: dict[str, Column] = {}
    for entry in record["columns"]:
        column = roles[entry["name"]]
        if column.role is Role.QUASI:
            column = Column(Role.QUASI)
        elif column.role in DROPPED:
            if not entry.get("pseudonym"):
                continue
            column = person() if column.role is Role.PERSON else other()
        columns[entry["name"]] = column
    return columns


def without_hidden_trees(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what release.json says, without the marks of hierarchies and orders that the owner's folder holds."""
    columns = [
        {key: value for key, value in entry.items() if not (key in _TREES and value is True)}
        for entry in record["columns"]
    ]
    return {**record, "columns": columns}


def _without_tree(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what release.json says of a column, without the tree or order that a quasi-identifier was made by."""
    made_by = ("hierarchy", "ordered") if entry["role"] == Role.QUASI.value else ()
    return {name: value for name, value in entry.items() if name not in made_by}


def roles_of_record(
    folder: Path,
    record: Mapping[str, Any],
    keys: Mapping[str, bytes] | None = None,
    *,
    owners: Mapping[str, Any] | None = None,
) -> dict[str, Column]:
    """Return the roles that release.json names, with the trees of the private part where it has any."""
    roles: dict[str, Column] = {}
    private = private_part(folder / RECORD) if owners is None else owners
    columns = private.get("columns") if isinstance(private, dict) else None
    hidden = columns if isinstance(columns, dict) else {}
    for entry in record["columns"]:
        name, role = entry["name"], Role(entry["role"])
        described = {**entry, **hidden.get(name, {})}
        tree, ordered = described.get("hierarchy"), described.get("ordered")
        if tree is True or ordered is True:
            raise InputError(
                f"{folder} does not hold the hierarchy or the order of '{name}': the folder that ends in .private does."
            )
        roles[name] = Column(
            role,
            None if tree is None else spec_from_dict(tree),
            float(entry.get("weight", 1.0)),
            None if ordered is None else tuple(ordered),
            key=(keys or {}).get(name) if entry.get("pseudonym") else None,
            allow_unique=entry.get("allow_unique") is True,
        )
    return roles


DATA, COUNTS = "data", "sensitive"
_TABS = TextLayout("\t")
_DELIMITED = ("csv", "tsv")


def write_table(release: Release, frame: Any, path: Path, format: str) -> Path:  # noqa: A002
    """Write a frame of a release, text laid out as the file that the data comes from."""
    return write_frame(frame, path, format, layout=text_layout(release, format))


def read_table(release: Release, data: Path, format: str) -> Table:  # noqa: A002
    """Return the judged columns of a written file, text in the types the release has."""
    rows = engine_of(release.frame).written(data, release.frame)
    names = release.table.source.names
    if rows is None and format in _DELIMITED and len(names) > 1:
        cells = written_cells(data, text_layout(release, format), _judged_types(release))
        if cells is not None:
            return Table(cells, _judged_schema(release))
    return judged_columns(
        read_written(release, data, format, names) if rows is None else rows, release, format
    )


def judged_columns(rows: Any, release: Release, format: str) -> Table:  # noqa: A002
    """Return the judged columns of rows that were read back, in the types the release has."""
    decimal = text_layout(release, format).decimal if format == "csv" else "."
    return Table(
        engine_of(rows).typed(rows, _judged_types(release), decimal=decimal), _judged_schema(release)
    )


def _judged_types(release: Release) -> dict[str, pa.DataType]:
    return {name: release.table.encoded[name].type for name in release.table.judged}


def _judged_schema(release: Release) -> Schema:
    return Schema({name: release.schema[name] for name in release.table.judged})


def text_layout(release: Release, format: str) -> TextLayout:  # noqa: A002
    """Return how text is laid out: CSV as the file that it comes from, if there is one."""
    if format == "tsv":
        return _TABS
    native = None if release.original is None else release.original.source.native
    return (None if native is None else engine_of(native).layout(native)) or TextLayout()


def read_written(release: Release, path: Path, format: str, names: Sequence[str]) -> Any:  # noqa: A002
    """Read a written file, text as it stands."""
    layout = text_layout(release, format)
    form = format_named(format)
    reading: dict[str, Any] = {"nulls": ("",)}
    if form.text:
        reading["text"] = tuple(names)
    if form.reader == "text":
        reading |= {"delimiter": layout.delimiter, "quote": layout.quote}
    return read(path, **reading)
