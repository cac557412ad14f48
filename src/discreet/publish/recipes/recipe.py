"""Recipes: how a release was made, as plain data without any record, and how to protect new rows the same way.

A recipe has two parts. The public one is written to ``release.json``: parameters, roles, levels or the distinct cells
that are published, and of hierarchies what those cells show; all of it follows from the released data and from what
the publisher was given. The private one is written to ``recipe.private.json``, apart from the release: trees and cuts,
which may name values that nobody published, what hierarchies hold beyond the published cells, and boxes that are finer
than those.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from discreet.core.adapters import WHY_NOT_FOR_ROWS, load
from discreet.core.boundary import is_on_cluster, public, reads, takes_clusters
from discreet.core.errors import InputError, SchemaError
from discreet.core.hierarchy.bound import type_named
from discreet.core.hierarchy.specs import spec_from_dict
from discreet.core.release import Release
from discreet.core.rng import RandomState
from discreet.core.schema import Column, Role, Schema, identifier, person
from discreet.core.tables.table import Table
from discreet.engines.folders import DIGESTS, RECORD, altered, is_readable, read_json
from discreet.guarantees import Guarantee
from discreet.publish.recipes.earlier_rows import EarlierRows
from discreet.publish.recipes.recipe_parts import FORMAT, TOP, group_labels

PRIVATE, ROWS = "recipe.private.json", "rows.private.bin"
_ROLES = {"identifier", "person", "quasi", "sensitive", "other", "drop"}


def private_place(folder: str | Path) -> Path:
    """Return where the private part of a release's recipe lies: beside its folder, not in it.

    >>> private_place("out/release").as_posix()
    'out/release.private/recipe.private.json'
    """
    folder = Path(folder)
    return folder.with_name(f"{folder.name}.private") / PRIVATE


def private_part(record: Path, given_path: Path | None = None) -> Any:
    """Return the private part of a release's recipe; None where it is not there or may not be read.

    One that belongs to another release, or was changed, is refused: its cells and trees would be taken for this one's.
    """
    path = private_place(record.resolve().parent) if given_path is None else given_path
    if given_path is None and not is_readable(path):
        return None
    tied = is_readable(path.parent / DIGESTS)
    wrong = altered(record, path.parent) if tied else ()
    if {RECORD, f"{path.parent.name}/{path.name}", f"{path.parent.name}/{DIGESTS}"} & set(wrong):
        raise InputError(
            f"{path.parent} belongs to another release than {record}, or one of them was changed since they were "
            f"written: {', '.join(wrong)}. Bring back the two folders that were written together."
        )
    return _read(path)


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
        why_not = load(WHY_NOT_FOR_ROWS)(data) if isinstance(data, Mapping) else None
        if why_not is not None:
            raise InputError(f"The recipe is one of {why_not}.")
        if not isinstance(data, Mapping) or data.get("format") != FORMAT or not _is_public_part(data):
            raise InputError(f"The recipe is not one this version can read (format {FORMAT}).")
        if private and not _is_private_part(private):
            raise InputError(f"The private part of the recipe ({PRIVATE}) is damaged.")
        self.data = dict(data)
        self.private = dict(private or {})
        self.earlier: EarlierRows | None = None
        """Digests of the rows that were released, where the private folder has them."""

    @classmethod
    def read(cls, path: str | Path, *, private: str | Path | None = None) -> Recipe:
        """Read a release.json, or that of a folder, and the private part: from its path, or from beside the folder."""
        path = Path(path)
        path = path / RECORD if path.is_dir() else path
        data = _read(path)
        recipe = cls(data, private_part(path, None if private is None else Path(private)))
        place = private_place(path.resolve().parent) if private is None else Path(private)
        rows = place.with_name(ROWS)
        if recipe.private and is_readable(rows):
            recipe.earlier = EarlierRows.from_bytes(rows.read_bytes())
        return recipe

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
            details = self.column(entry)
            spec = None if details.get("hierarchy") is None else spec_from_dict(details["hierarchy"])
            ordered = None if details.get("ordered") is None else tuple(details["ordered"])
            unique = entry.get("allow_unique") is True or name in allow_unique
            columns[name] = Column(role, spec, float(entry.get("weight", 1.0)), ordered, allow_unique=unique)
        return Schema(columns)

    def column(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the recipe says of a column, the private part included."""
        hidden = self.private.get("columns", {}).get(entry["name"], {})
        needed = [key for key in ("hierarchy", "ordered") if entry.get(key) is True]
        self.require_private(entry["name"], needed, hidden)
        return {**entry, **hidden}

    def _types(self) -> dict[str, pa.DataType]:
        """Return the types that columns had, where the recipe says them."""
        columns = {entry["name"]: self.column(entry) for entry in self.data["columns"]}
        return {name: type_named(column["type"]) for name, column in columns.items() if "type" in column}

    def require_private(self, what: str, needed: Sequence[str], entries: Mapping[str, Any]) -> None:
        """Refuse where the private part is needed and not there."""
        lacking = [key for key in needed if entries.get(key) is None]
        if lacking:
            noun = {"ordered": "order"}.get(lacking[0], lacking[0])
            raise InputError(
                f"release.json alone does not hold the {noun} of '{what}', of which the published cells do not show "
                f"everything: the private part of the recipe ({PRIVATE}) is needed too."
            )

    @property
    def max_suppressed(self) -> int | float:
        """The rows that the recipe's release was allowed to leave out: their number, or a share."""
        from discreet.publish.tables.publisher import SUPPRESSIBLE

        parameters = self.data.get("parameters", {})
        start = parameters.get("start")
        value = (start if isinstance(start, Mapping) else parameters).get("max_suppressed", 0.0)
        return value if any(allowed.admits(value) for allowed in SUPPRESSIBLE) else 0.0

    @reads("The guarantee of the recipe")
    def guarantee(self, population: Table | None = None) -> Guarantee:
        """Return what the recipe's release guaranteed; one about a population needs it again."""
        from discreet.guarantees import guarantee_from_dict

        return guarantee_from_dict(self.data["guarantee"], population=population)

    @takes_clusters
    def apply(
        self,
        frame: Any,
        *,
        released: Any = None,
        joined_known: bool = True,
        misfits: Literal["coarsen", "suppress"] = "coarsen",
        max_suppressed: int | float | None = None,
        keys: Mapping[str, bytes] | None = None,
        population: Table | None = None,
        allow_unique: Collection[str] = (),
        spreadsheet_safe: bool = False,
        random_state: RandomState = None,
    ) -> Release:
        """Protect new rows as the recipe's release protected the old, and judge the result afresh.

        A new row goes to the smallest published cell that holds it (with the private part: to the group that would
        have taken it). A row that no cell holds, or whose class would break the guarantee, is a misfit.

        Parameters
        ----------
        frame
            The new rows.
        released
            The rows released before, as a frame. The release then holds the old and the new rows together, and the
            guarantee is judged for all of them.
        joined_known
            Whether others can know that a person is among the new rows. If so, the new rows keep the guarantee by
            themselves as well, so that taking the old release from the new one isolates nobody. If not, old and new
            rows of a class count together. Only looked at where ``released`` is given.
        misfits
            ``"coarsen"`` puts misfits into coarser groups of their own (levels of whole columns are raised);
            ``"suppress"`` leaves them out.
        max_suppressed
            The rows that may be left out: their number as an int, or a share as a float; the recipe's own by default.
        keys
            The keys of pseudonyms, by column.
        population
            The population that the guarantee compares with.
        allow_unique
            Columns to be published as they are although they single out many of the new rows, beside those that the
            recipe allows.
        spreadsheet_safe
            Whether texts that a spreadsheet would run are made harmless, also where the recipe does not say so.
        random_state
            Seeds the order of the rows.
        """
        if released is not None and (is_on_cluster(frame) or is_on_cluster(released)):
            raise InputError(
                "Rows on a cluster are not released together with those released before: release all rows anew, or "
                "the new rows alone."
            )
        limit = self.max_suppressed if max_suppressed is None else max_suppressed
        safe = spreadsheet_safe or self.data.get("spreadsheet_safe") is True
        schema = self.schema(keys, allow_unique=allow_unique)
        application = self._application(
            frame, schema, self.guarantee(population), limit, misfits, random_state, safe
        )
        if released is None:
            release: Release = application.release()
            return (
                release if self.earlier is None else _with_overlap(release, self.earlier, application.table)
            )
        together: Release = application.together(released, joined_known)
        return together

    def generalize(self, frame: Any) -> Any:
        """Return new rows at the cells published before, in their own order, for models: nothing is guaranteed of them.

        What no cell holds becomes ``*``. Identifiers and columns of people are dropped.
        """
        return self._application(frame, self.schema(None), self.guarantee(), 1.0).in_order()

    def _application(
        self,
        frame: Any,
        schema: Any,
        guarantee: Guarantee,
        limit: int | float,
        misfits: Literal["coarsen", "suppress"] = "suppress",
        random_state: RandomState = None,
        safe: bool = False,
    ) -> Any:
        from discreet.publish.recipes.applying import Application

        table = Table(frame, schema, spreadsheet_safe=safe, types=self._types())
        return Application(self, table, guarantee, limit, misfits, random_state)


def _with_overlap(release: Release, earlier: EarlierRows, table: Table) -> Release:
    """Note in the evidence how many of the new rows were released before; for the owner alone."""
    n_known, n_compared = earlier.overlap(table)
    if not n_known:
        return release
    overlap = {"n_known": n_known, "n_compared": n_compared, "person": table.schema.person}
    details = {**release.evidence.details, "released_before": overlap}
    return replace(release, evidence=replace(release.evidence, details=details))


def _read(path: Path) -> Any:
    try:
        return read_json(path)
    except FileNotFoundError:
        raise InputError(f"There is no recipe at '{path}'.") from None
    except (OSError, ValueError, RecursionError):
        raise InputError(f"'{path}' cannot be read as a recipe.") from None


def _is_public_part(data: Mapping[str, Any]) -> bool:
    """Return whether the public part of a recipe is whole."""
    columns = data.get("columns")
    if not isinstance(columns, list) or not columns or not all(map(_is_column, columns)):
        return False
    if not isinstance(data.get("guarantee"), Mapping) or not isinstance(data.get("parameters", {}), Mapping):
        return False
    names = [column["name"] for column in columns]
    quasi = [column["name"] for column in columns if column["role"] == "quasi"]
    if len(set(names)) < len(names):
        return False
    if "levels" in data:
        levels = data["levels"]
        return isinstance(levels, Mapping) and all(
            name in quasi and (level == TOP or _is_count(level) or _is_cut(level))
            for name, level in levels.items()
        )
    return data.get("private") is True if "cells" not in data else _are_cells(data["cells"], set(quasi))


def _is_private_part(data: object) -> bool:
    """Return whether the private part of a recipe is whole."""
    if not isinstance(data, Mapping):
        return False
    hidden = data.get("columns", {})
    if not isinstance(hidden, Mapping) or not all(map(_is_hidden, hidden.values())):
        return False
    cut = data.get("levels", {})
    if not isinstance(cut, Mapping) or not all(map(_is_cut, cut.values())):
        return False
    if "boxes" not in data and "cells" not in data:
        return True
    boxes = data.get("boxes")
    if not isinstance(boxes, Mapping) or not all(map(_is_box, boxes.values())):
        return False
    cells = data.get("cells")
    if not _are_cells(cells, set(boxes)) or not isinstance(cells, Mapping):
        return False
    return len({_n_groups(entry) for entry in (*boxes.values(), *cells.values())}) == 1


def _is_column(column: object) -> bool:
    if not isinstance(column, Mapping):
        return False
    hierarchy, ordered, weight = (column.get(name) for name in ("hierarchy", "ordered", "weight"))
    return (
        isinstance(column.get("name"), str)
        and isinstance(column.get("role"), str)
        and column["role"] in _ROLES
        and isinstance(column.get("type", ""), str)
        and (hierarchy in (None, True) or isinstance(hierarchy, Mapping))
        and ordered in (None, True)
        and (weight is None or (isinstance(weight, int | float) and 0 < weight < 1e300))
    )


def _is_hidden(column: object) -> bool:
    if not isinstance(column, Mapping):
        return False
    ordered = column.get("ordered")
    is_list = isinstance(ordered, list) and all(isinstance(value, str | int | float) for value in ordered)
    typed = isinstance(column.get("type", ""), str)
    return typed and isinstance(column.get("hierarchy", {}), Mapping) and (ordered is None or is_list)


def _is_cut(labels: object) -> bool:
    """Return whether labels are given by the level at which they stand."""
    return (
        isinstance(labels, Mapping)
        and len(labels) > 0
        and all(isinstance(level, str) and level.isdecimal() and len(level) < 4 for level in labels)
        and all(
            isinstance(each, list) and all(isinstance(label, str) for label in each)
            for each in labels.values()
        )
    )


def _are_cells(cells: object, quasi: set[str]) -> bool:
    if not isinstance(cells, Mapping) or set(cells) != quasi or not cells:
        return False
    typed = all(_is_labeled(cell) and isinstance(cell.get("type"), str) for cell in cells.values())
    return typed and len({_n_groups(cell) for cell in cells.values()}) == 1


def _is_box(box: object) -> bool:
    if not isinstance(box, Mapping) or "branches" not in box:
        return _is_labeled(box)
    branches = box["branches"]
    return (
        isinstance(branches, list)
        and all(isinstance(branch, list) and branch and all(map(_is_label, branch)) for branch in branches)
        and _n_groups(box) > 0
    )


def _is_labeled(box: object) -> bool:
    if not isinstance(box, Mapping) or not isinstance(box.get("labels"), list):
        return False
    return all(map(_is_label, box["labels"])) and _n_groups(box) > 0


def _n_groups(box: Mapping[str, Any]) -> int:
    """Return the number of groups to which an entry gives one of its labels; 0 where it is damaged."""
    try:
        return group_labels(box).size
    except ValueError:
        return 0


def _is_label(label: object) -> bool:
    return label is None or isinstance(label, str)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
