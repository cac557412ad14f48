"""Recipes: how a release was made, as plain data without any record, and how to protect new rows the same way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray, CodeArray
from discreet.core.errors import InputError, SchemaError
from discreet.core.hierarchy.bound import type_named
from discreet.core.hierarchy.specs import spec_from_dict
from discreet.core.params import FloatIn, require
from discreet.core.release import Cells, Evidence, Release
from discreet.core.rng import RandomState, generator, seed_of
from discreet.core.schema import Column, Role, Schema, identifier
from discreet.core.tables import labels
from discreet.core.tables.encoding import Codebook, Kind, overall
from discreet.core.tables.groups import Groups
from discreet.core.tables.label_coverage import LabelCover, described_values, label_costs
from discreet.core.tables.source import Replacement
from discreet.core.tables.table import Table
from discreet.guarantees import Guarantee, guarantee_from_dict
from discreet.publish.tables.suppression import kept_groups, refuse_too_many

FORMAT = 1


def row_seed(random_state: RandomState, owner: object) -> int:
    """Draw the seed that shuffles the rows of a release."""
    return int(generator(random_state, owner=owner).integers(2**62))


def recipe_of(
    publisher: Any,
    table: Table,
    *,
    parameters: Mapping[str, object],
    levels: Mapping[str, int] | None = None,
    boxes: Mapping[str, Mapping[str, Any]] | None = None,
    cells: Mapping[str, Replacement] | None = None,
) -> dict[str, Any]:
    """Write down how a publisher made a release of a table.

    ``levels`` are given by whole columns; ``boxes`` tell for each group what values it takes in (by a label, or by
    branches of a tree), and ``cells`` what was published for it where that is not the exact value.
    """
    recipe: dict[str, Any] = {
        "format": FORMAT,
        "method": type(publisher).__name__,
        "parameters": dict(parameters),
        "guarantee": publisher.guarantee.to_dict(),
        "seed": seed_of(publisher.random_state),
        "columns": [_column(name, table) for name in table.schema],
    }
    if table.spreadsheet_safe:
        recipe["spreadsheet_safe"] = True
    if levels is not None:
        recipe["levels"] = dict(levels)
    if boxes is not None:
        recipe["boxes"] = dict(boxes)
        recipe["cells"] = {name: _plain(cell) for name, cell in (cells or {}).items()}
    return recipe


_NOT_FOR_ROWS = {
    "pseudo-data": "pseudo-data, which is drawn anew from a whole table",
    "baskets": "baskets, which are published anew as a whole: the groups and levels are those of the baskets at hand",
    "sketches": "sketches: new records need no recipe, but the same key",
}
"""The kinds of data of which no new record can be protected by a recipe."""


class Recipe:
    """A release's recipe, read back.

    Examples
    --------
    >>> from discreet.errors import InputError
    >>> Recipe({"format": 99})
    Traceback (most recent call last):
    discreet.core.errors.InputError: The recipe is not one this version can read (format 1).
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        kind = data.get("kind") if isinstance(data, Mapping) else None
        if isinstance(kind, str) and kind in _NOT_FOR_ROWS:
            raise InputError(f"The recipe is one of {_NOT_FOR_ROWS[kind]}.")
        if not isinstance(data, Mapping) or data.get("format") != FORMAT or not _is_whole(data):
            raise InputError(f"The recipe is not one this version can read (format {FORMAT}).")
        self.data = dict(data)

    @classmethod
    def read(cls, path: str | Path) -> Recipe:
        """Read a release.json."""
        try:
            return cls(json.loads(Path(path).read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise InputError(f"There is no recipe at '{path}'.") from None
        except (OSError, UnicodeDecodeError, json.JSONDecodeError):
            raise InputError(f"'{path}' cannot be read as a recipe.") from None

    def schema(self, keys: Mapping[str, bytes] | None = None) -> Schema:
        """Return the roles of the columns; pseudonym keys are never in a recipe and must be given again."""
        columns: dict[str, Column] = {}
        for entry in self.data["columns"]:
            name, role = entry["name"], Role(entry["role"])
            if entry.get("pseudonym"):
                if name not in (keys or {}):
                    raise SchemaError(f"The recipe replaces '{name}' by pseudonyms: give their key again.")
                columns[name] = identifier(pseudonym=(keys or {})[name])
                continue
            spec = None if entry.get("hierarchy") is None else spec_from_dict(entry["hierarchy"])
            ordered = None if entry.get("ordered") is None else tuple(entry["ordered"])
            columns[name] = Column(role, spec, entry.get("weight", 1.0), ordered)
        return Schema(columns)

    def apply(
        self,
        frame: Any,
        *,
        keys: Mapping[str, bytes] | None = None,
        max_suppressed: float = 0.0,
        population: Table | None = None,
        spreadsheet_safe: bool = False,
        random_state: RandomState = None,
    ) -> Release:
        """Protect new rows as the recipe's release protected the old, and judge the result afresh.

        Rows that no box holds, or whose class would break the promise, are left out as long as they are at most the
        given share; more is an error. A k-map promise needs its population again. Texts that a spreadsheet would run
        are made harmless where the recipe or ``spreadsheet_safe`` says so.
        """
        require(self, "max_suppressed", max_suppressed, FloatIn(0, 1))
        safe = spreadsheet_safe or self.data.get("spreadsheet_safe") is True
        table = Table(frame, self.schema(keys), spreadsheet_safe=safe)
        guarantee = guarantee_from_dict(self.data["guarantee"], population=population)
        if "levels" in self.data:
            from discreet.publish.tables.generalization import Generalization

            return Generalization(
                guarantee,
                levels=self.data["levels"],
                max_suppressed=max_suppressed,
                random_state=random_state,
            ).release(table)
        group = self._boxed(table)
        dropped = self._dropped(table, guarantee, group)
        refuse_too_many(guarantee, int(table.tuples.counts[dropped].sum()), table.n_rows, max_suppressed)
        by_piece = {
            name: Replacement(np.array(cell["index"], np.int32)[group], _cells(cell))
            for name, cell in self.data["cells"].items()
        }
        return Release(
            data=table.recode(by_piece=by_piece, dropped=dropped, seed=row_seed(random_state, self)),
            schema=table.schema.released(),
            guarantee=guarantee,
            evidence=self._evidence(table, group, dropped),
            recipe=self.data | ({"spreadsheet_safe": True} if safe else {}),
            original=table,
        )

    def _boxed(self, table: Table) -> CodeArray:
        """Find the first box that holds each tuple, or -1."""
        from discreet.kernels.tables.matching import first_match

        admitted: list[BoolArray] = []
        for name in table.schema.quasi:
            box = self.data["boxes"][name]
            taken = (
                _by_branch(box, table.encoded[name])
                if "branches" in box
                else _by_label(box, table.encoded[name])
            )
            admitted.append(taken[np.array(box["index"], np.int32)].T)
        codes = np.stack([table.codes(name) for name in table.schema.quasi], axis=1).astype(np.int32)
        return first_match(codes, admitted)

    def _dropped(self, table: Table, guarantee: Guarantee, group: CodeArray) -> BoolArray:
        """Find the tuples that are in no box, or in a box that breaks the promise for the new rows."""
        housed = group >= 0
        present, numbers = np.unique(group[housed], return_inverse=True)
        counts = table.tuples.counts[housed]
        sensitive = {
            name: (codes[housed], overall(codes[housed], counts, n_codes.size), tree)
            for name, (codes, n_codes, tree) in table.sensitive_codes().items()
        }
        cover = LabelCover(*self._labels(table, present))
        groups = Groups.of(numbers.astype(np.int32), counts, present.size, sensitive, cover=cover)
        dropped = ~housed
        dropped[housed] = ~kept_groups(guarantee, groups)[numbers]
        return dropped

    def _labels(self, table: Table, groups: CodeArray) -> tuple[CodeArray, tuple[Codebook, ...]]:
        """Return the label codes of some groups in each column, and the columns' labels."""
        columns, books = [], []
        for name in table.schema.quasi:
            box = self.data["boxes"][name]
            if "branches" in box:
                box = self.data["cells"].get(name) or _leaves(box)
            book, code = _label_book(box, name)
            columns.append(code[np.array(box["index"], np.int32)[groups]])
            books.append(book)
        return np.stack(columns, axis=1), tuple(books)

    def _evidence(self, table: Table, group: CodeArray, dropped: BoolArray) -> Evidence:
        present, numbers = np.unique(group[~dropped], return_inverse=True)
        counts = table.tuples.counts
        cells: dict[str, Cells] = {}
        codes, books = self._labels(table, present)
        for column, book in enumerate(books):
            used, index = np.unique(codes[:, column], return_inverse=True)
            values = table.encoded[book.name]
            loss, covered = label_costs(book, values, table.overall(book.name), used=used)
            cells[book.name] = Cells(index.astype(np.int32), loss, covered)
        sizes = np.bincount(numbers, weights=counts[~dropped]).astype(np.int64)
        return Evidence(table.n_rows, sizes, cells, suppressed=int(counts[dropped].sum()))


def _is_whole(data: Mapping[str, Any]) -> bool:
    """Return whether a recipe has all it needs to be applied."""
    kinds = {"columns": list, "guarantee": dict} | (
        {"levels": dict} if "levels" in data else {"boxes": dict, "cells": dict}
    )
    return all(isinstance(data.get(name), kind) for name, kind in kinds.items())


def _label_book(box: Mapping[str, Any], name: str) -> tuple[Codebook, CodeArray]:
    """Return labels as a code book, null first, and the code of each label."""
    known = np.array([label is not None for label in box["labels"]], np.bool_)
    written = pa.array([label for label in box["labels"] if label is not None], pa.string())
    return Codebook(name, Kind.CATEGORY, pa.string(), written), (np.cumsum(known) * known).astype(np.int32)


def _by_label(box: Mapping[str, Any], values: Codebook) -> BoolArray:
    """Return which values each label takes in."""
    book, code = _label_book(box, values.name)
    return described_values(book, values)[code]


def _by_branch(box: Mapping[str, Any], values: Codebook) -> BoolArray:
    """Return which values each list of branches takes in."""
    tree = values.hierarchy
    if tree is None:
        raise InputError(f"The recipe has branches of a tree for '{values.name}', but no tree.")
    taken = np.zeros((len(box["branches"]), values.n_codes), np.bool_)
    for number, names in enumerate(box["branches"]):
        wanted = set(names)
        for level, labeled in zip(tree.levels[: tree.height] or tree.levels, tree.labels, strict=False):
            taken[number] |= np.array([label in wanted for label in labeled], np.bool_)[level]
    return taken


def _leaves(box: Mapping[str, Any]) -> dict[str, Any]:
    """Read branches that are single leaves as labels: the column was published exactly."""
    return {"index": box["index"], "labels": [names[0] for names in box["branches"]]}


def _cells(cell: Mapping[str, Any]) -> pa.Array:
    return pa.array(cell["labels"], pa.string()).cast(type_named(cell["type"]))


def _plain(replacement: Replacement) -> dict[str, Any]:
    return {
        "labels": labels.texts(replacement.labels).to_pylist(),
        "index": replacement.index.tolist(),
        "type": str(replacement.labels.type),
    }


def _column(name: str, table: Table) -> dict[str, Any]:
    column = table.schema[name]
    entry: dict[str, Any] = {"name": name, "role": column.role.value}
    if column.role is Role.QUASI:
        entry |= {"weight": column.weight, "type": str(table.encoded[name].type)}
    if column.hierarchy is not None:
        entry["hierarchy"] = column.hierarchy.to_dict()
    if column.ordered is not None:
        entry["ordered"] = [
            value if isinstance(value, str | int | float) else labels.text(value) for value in column.ordered
        ]
    if column.key is not None:
        entry["pseudonym"] = True
    return entry
