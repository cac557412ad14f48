"""Recipes: how a release was made, as plain data without any record, and how to protect new rows the same way.

A recipe has two parts. The public one is written to ``release.json``: parameters, roles, levels or the distinct cells
that are published, and of hierarchies what those cells show; all of it follows from the released data and from what
the publisher was given. The private one is written to ``recipe.private.json``, apart from the release: trees and cuts,
which may name values that nobody published, what hierarchies hold beyond the published cells, and boxes that are finer
than those.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from discreet.core.adapters import WHY_NOT_FOR_ROWS, load
from discreet.core.boundary import public, reads
from discreet.core.errors import InputError, SchemaError
from discreet.core.hierarchy.bound import type_named
from discreet.core.hierarchy.specs import spec_from_dict
from discreet.core.release import Release
from discreet.core.rng import RandomState, seed_of
from discreet.core.schema import Column, Role, Schema, identifier, person
from discreet.core.tables import labels
from discreet.core.tables.source import Replacement
from discreet.core.tables.table import Table
from discreet.engines.digests import DIGESTS, RECORD, altered, is_readable, read_json
from discreet.guarantees import Guarantee
from discreet.publish.recipes.published import column_parts, public_levels

FORMAT = 1
PRIVATE = "recipe.private.json"


@dataclass(frozen=True, repr=False)
class Written:
    """A recipe's two parts: what is published, and what is kept; the second is empty where it is not needed."""

    public: dict[str, Any]
    private: dict[str, Any]

    def __repr__(self) -> str:
        return f"Written({len(self.public)} public entries, {len(self.private)} private)"


def private_place(folder: str | Path) -> Path:
    """Return where the private part of a release's recipe lies: beside its folder, not in it.

    >>> private_place("out/release").as_posix()
    'out/release.private/recipe.private.json'
    """
    folder = Path(folder)
    return folder.with_name(f"{folder.name}.private") / PRIVATE


def private_part(record: Path, place: Path | None = None) -> Any:
    """Return the private part of a release's recipe; None where it is not there or may not be read.

    One that belongs to another release, or was changed, is refused: its cells and trees would be taken for this one's.
    """
    found = private_place(record.resolve().parent) if place is None else place
    if place is None and not is_readable(found):
        return None
    tied = is_readable(found.parent / DIGESTS)
    wrong = altered(record, found.parent) if tied else ()
    if {RECORD, f"{found.parent.name}/{found.name}", f"{found.parent.name}/{DIGESTS}"} & set(wrong):
        raise InputError(
            f"{found.parent} belongs to another release than {record}, or one of them was changed since they were "
            f"written: {', '.join(wrong)}. Bring back the two folders that were written together."
        )
    return _read(found)


def recipe_of(
    publisher: Any,
    table: Table,
    *,
    parameters: Mapping[str, object],
    levels: Mapping[str, int] | None = None,
    shown: Mapping[str, Collection[str | None]] | None = None,
    cells: Mapping[str, Replacement] | None = None,
    boxes: Mapping[str, Mapping[str, Any]] | None = None,
    means: bool = False,
) -> Written:
    """Write down how a publisher made a release of a table, the public and the private part apart.

    ``levels`` are given for whole columns, and what is ``shown`` of each: the distinct published cells. ``cells`` hold
    what was published for each group, in every quasi-identifier; ``boxes`` say which values each group took in (by a
    label, or by branches of a tree). Groups and boxes are private; of the cells, the distinct ones are public, unless
    they are ``means``, which say nothing of what they cover.
    """
    held = shown or _shown(table, cells)
    exact = dict.fromkeys(table.schema.quasi, 0) if cells is None else {}
    entries = [
        column_parts(name, table, cells=held.get(name, ()), level=(levels or exact).get(name))
        for name in table.schema
    ]
    made: dict[str, Any] = {
        "format": FORMAT,
        "method": type(publisher).__name__,
        "parameters": dict(parameters),
        "guarantee": publisher.guarantee.to_dict(),
        "seed": seed_of(publisher.random_state),
        "columns": [entry for entry, _ in entries],
    }
    if table.spreadsheet_safe:
        made["spreadsheet_safe"] = True
    kept: dict[str, Any] = {}
    named = {entry["name"]: hidden for entry, hidden in entries if hidden}
    if named:
        kept["columns"] = named
    if levels is not None:
        made["levels"] = public_levels(levels, table)
    if cells is not None and boxes is not None:
        kept |= {
            "boxes": {name: dict(box) for name, box in boxes.items()},
            "cells": {name: _plain(cell) for name, cell in cells.items()},
        }
        if not means:
            made["cells"] = _distinct_cells(cells)
    if means or any(True in (entry.get("hierarchy"), entry.get("ordered")) for entry, _ in entries):
        made["private"] = True
    return Written(made, {"format": FORMAT, **kept} if kept else {})


@public
class Recipe:
    """A release's recipe, read back.

    Parameters
    ----------
    data
        The public part, as release.json holds it.
    private
        The private part, where there is one; with it, new rows find the very groups that were made.

    Examples
    --------
    >>> from discreet.errors import InputError
    >>> Recipe({"format": 99})
    Traceback (most recent call last):
    discreet.core.errors.InputError: The recipe is not one this version can read (format 1).
    """

    def __init__(self, data: Mapping[str, Any], private: Mapping[str, Any] | None = None) -> None:
        from discreet.publish.recipes.shapes import is_private_part, is_public_part

        why_not = load(WHY_NOT_FOR_ROWS)(data) if isinstance(data, Mapping) else None
        if why_not is not None:
            raise InputError(f"The recipe is one of {why_not}.")
        if not isinstance(data, Mapping) or data.get("format") != FORMAT or not is_public_part(data):
            raise InputError(f"The recipe is not one this version can read (format {FORMAT}).")
        if private and not is_private_part(private):
            raise InputError(f"The private part of the recipe ({PRIVATE}) is damaged.")
        self.data = dict(data)
        self.private = dict(private or {})

    @classmethod
    def read(cls, path: str | Path, *, private: str | Path | None = None) -> Recipe:
        """Read a release.json, and the private part: from the path given, or from its place beside the folder."""
        path = Path(path)
        data = _read(path)
        return cls(data, private_part(path, None if private is None else Path(private)))

    @reads("The recipe")
    def schema(
        self, keys: Mapping[str, bytes] | None = None, *, allow_unique: Collection[str] = ()
    ) -> Schema:
        """Return the roles of the columns; pseudonym keys are never in a recipe and must be given again."""
        columns: dict[str, Column] = {}
        for entry in self.data["columns"]:
            name, role = entry["name"], Role(entry["role"])
            if entry.get("pseudonym"):
                if name not in (keys or {}):
                    raise SchemaError(f"The recipe replaces '{name}' by pseudonyms: give their key again.")
                columns[name] = (person if role is Role.PERSON else identifier)(pseudonym=(keys or {})[name])
                continue
            given = self.column(entry)
            spec = None if given.get("hierarchy") is None else spec_from_dict(given["hierarchy"])
            ordered = None if given.get("ordered") is None else tuple(given["ordered"])
            unique = entry.get("allow_unique") is True or name in allow_unique
            columns[name] = Column(role, spec, float(entry.get("weight", 1.0)), ordered, allow_unique=unique)
        return Schema(columns)

    def column(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the recipe says of a column, the private part included."""
        hidden = self.private.get("columns", {}).get(entry["name"], {})
        needed = [one for one in ("hierarchy", "ordered") if entry.get(one) is True]
        self.require_private(entry["name"], needed, hidden)
        return {**entry, **hidden}

    def _types(self) -> dict[str, pa.DataType]:
        """Return the types that columns had, where the recipe says them."""
        known = {entry["name"]: self.column(entry) for entry in self.data["columns"]}
        return {name: type_named(given["type"]) for name, given in known.items() if "type" in given}

    def require_private(self, what: str, needed: Sequence[str], held: Mapping[str, Any]) -> None:
        """Refuse where the private part is needed and not there."""
        lacking = [one for one in needed if held.get(one) is None]
        if lacking:
            shown = {"ordered": "order"}.get(lacking[0], lacking[0])
            raise InputError(
                f"release.json alone does not hold the {shown} of '{what}', of which the published cells do not show "
                f"everything: the private part of the recipe ({PRIVATE}) is needed too."
            )

    @property
    def max_suppressed(self) -> float:
        """The share of rows that the recipe's release was allowed to leave out."""
        given = self.data.get("parameters", {})
        start = given.get("start")
        value = (start if isinstance(start, Mapping) else given).get("max_suppressed", 0.0)
        return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else 0.0

    @reads("The guarantee of the recipe")
    def guarantee(self, population: Table | None = None) -> Guarantee:
        """Return what the recipe's release promised; a k-map promise needs its population again."""
        from discreet.guarantees import guarantee_from_dict

        return guarantee_from_dict(self.data["guarantee"], population=population)

    def apply(
        self,
        frame: Any,
        *,
        released: Any = None,
        joined_known: bool = True,
        misfits: Literal["coarsen", "suppress"] = "coarsen",
        max_suppressed: float | None = None,
        keys: Mapping[str, bytes] | None = None,
        population: Table | None = None,
        allow_unique: Collection[str] = (),
        spreadsheet_safe: bool = False,
        random_state: RandomState = None,
    ) -> Release:
        """Protect new rows as the recipe's release protected the old, and judge the result afresh.

        A new row goes to the smallest published cell that holds it (with the private part: to the group that would
        have taken it). A row that no cell holds, or whose class would break the promise, is a misfit.

        Parameters
        ----------
        frame
            The new rows.
        released
            The rows released before, as a frame. The release then holds the old and the new rows together, and the
            promise is judged for all of them.
        joined_known
            Whether others can know that a person is among the new rows. If so, the new rows keep the promise by
            themselves as well, so that taking the old release from the new one isolates nobody. If not, old and new
            rows of a class count together. Only looked at where ``released`` is given.
        misfits
            ``"coarsen"`` puts misfits into coarser groups of their own (levels of whole columns are raised);
            ``"suppress"`` leaves them out.
        max_suppressed
            The share of rows that may be left out; the recipe's own by default.
        keys
            The keys of pseudonyms, by column.
        population
            The population of a k-map promise.
        allow_unique
            Columns to be published as they are although they single out many of the new rows, beside those that the
            recipe allows.
        spreadsheet_safe
            Whether texts that a spreadsheet would run are made harmless, also where the recipe does not say so.
        random_state
            Seeds the order of the rows.
        """
        from discreet.publish.recipes.applying import Application

        share = self.max_suppressed if max_suppressed is None else max_suppressed
        safe = spreadsheet_safe or self.data.get("spreadsheet_safe") is True
        schema = self.schema(keys, allow_unique=allow_unique)
        table = Table(frame, schema, spreadsheet_safe=safe, types=self._types())
        application = Application(self, table, self.guarantee(population), share, misfits, random_state)
        return application.release() if released is None else application.together(released, joined_known)


def _read(path: Path) -> Any:
    try:
        return read_json(path)
    except FileNotFoundError:
        raise InputError(f"There is no recipe at '{path}'.") from None
    except (OSError, ValueError, RecursionError):
        raise InputError(f"'{path}' cannot be read as a recipe.") from None


def _shown(table: Table, cells: Mapping[str, Replacement] | None) -> dict[str, list[str | None]]:
    """Return the distinct published cells of each quasi-identifier: those of groups, or the column's own values."""
    if cells is None:
        return {name: labels.texts(table.encoded[name].values).to_pylist() for name in table.schema.quasi}
    return {
        name: labels.texts(cell.labels.take(pa.array(np.unique(cell.index)))).to_pylist()
        for name, cell in cells.items()
    }


def _distinct_cells(cells: Mapping[str, Replacement]) -> dict[str, dict[str, Any]]:
    """Return the distinct published cells in an order that follows from them alone."""
    texts = {name: labels.texts(cell.labels).to_pylist() for name, cell in cells.items()}
    rows = {
        tuple(texts[name][at] for name, at in zip(cells, places, strict=True))
        for places in zip(*(cell.index.tolist() for cell in cells.values()), strict=True)
    }
    ordered = sorted(rows, key=lambda row: [(one is not None, one or "") for one in row])
    plain: dict[str, dict[str, Any]] = {}
    for number, (name, cell) in enumerate(cells.items()):
        used = sorted({row[number] for row in ordered}, key=lambda one: (one is not None, one or ""))
        places = {one: place for place, one in enumerate(used)}
        plain[name] = {
            "labels": used,
            "index": [places[row[number]] for row in ordered],
            "type": str(cell.labels.type),
        }
    return plain


def _plain(replacement: Replacement) -> dict[str, Any]:
    return {
        "labels": labels.texts(replacement.labels).to_pylist(),
        "index": replacement.index.tolist(),
        "type": str(replacement.labels.type),
    }
