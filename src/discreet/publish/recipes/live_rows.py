"""Live rows: a release as a query over the table it came from, for a view that shows later rows the same way.

A view is read long after it was judged. So its query counts the classes anew each time, and shows only those that keep
the guarantee then. It is made from the public part of the recipe, and from the types of columns: everybody who may
connect to a database may read these, and the definitions of its views.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.core.errors import InputError, ParameterError
from discreet.core.release import Release
from discreet.core.schema import DROPPED, Role
from discreet.publish.recipes.dialects import quoted
from discreet.publish.recipes.recipe import Recipe
from discreet.publish.recipes.sql import statement

CAUTION = (
    "A view shows rows that come later as well. Each reading keeps the guarantee by itself; who reads before and after "
    "a row comes or goes sees that row's values as the difference. Release into a table where readers may do so."
)


@dataclass(frozen=True, repr=False)
class LiveRows:
    """A query for a view: the rows it reads, how it shows them, and the released rows that it must show now."""

    original: Any
    select: str
    released: Any


def live_rows(release: Release) -> LiveRows:
    """Return a release as a query over the table it came from; one that cannot keep its promise later is refused.

    The query reads a relation called ``live``, which is to be named before it.
    """
    types = {
        name: {"type": hidden["type"]}
        for name, hidden in release.private.get("columns", {}).items()
        if "type" in hidden
    }
    recipe = Recipe(release.recipe, {"columns": types} if types else None)
    _refuse(release, recipe)
    released = [entry for entry in recipe.data["columns"] if Role(entry["role"]) not in DROPPED]
    names = [entry["name"] for entry in released]
    quasi = [quoted(entry["name"]) for entry in released if entry["role"] == Role.QUASI.value]
    try:
        generalized = statement(recipe, "live", "ansi")
    except InputError as error:
        raise ParameterError(
            f"A view cannot be made of this release; release into a table. {error}"
        ) from None
    classes = f"PARTITION BY {', '.join(quasi)}" if quasi else ""
    counts: list[str] = []
    conditions: list[str] = []
    for measure, least in _measures(release.guarantee.to_dict(), release.schema.sensitive):
        name = f"measure_{len(counts)}"
        while name in names:
            name += "_"
        counts.append(f"{measure(classes)} AS {name}")
        conditions.append(f"{name} >= {least}")
    columns = ", ".join(map(quoted, names))
    # An order that follows from the released rows alone: that of the table would be another column to link by.
    return LiveRows(
        release.original.source.native,
        f"generalized AS ({generalized}), "  # noqa: S608  # quoted names and numbers alone
        f"counted AS (SELECT *, {', '.join(counts)} FROM generalized) "
        f"SELECT {columns} FROM counted WHERE {' AND '.join(conditions)} "  # quoted names and numbers alone
        f'ORDER BY CAST(ROW({columns}) AS text) COLLATE "C"',
        release.frame,
    )


def _refuse(release: Release, recipe: Recipe) -> None:
    entries = recipe.data["columns"]
    if release.schema.person is not None or any(entry["role"] == Role.PERSON.value for entry in entries):
        raise ParameterError("A view counts rows, and this release counts people; release into a table.")
    if any(entry.get("pseudonym") for entry in entries):
        raise ParameterError(
            "A view with pseudonyms would show their key to everybody who may read its definition; release into a "
            "table, or drop the identifiers."
        )
    if recipe.data.get("spreadsheet_safe"):
        raise ParameterError("--spreadsheet-safe is for files; leave it out where a view is made.")
    if "levels" not in recipe.data:
        raise ParameterError(
            f"{recipe.data['method']} makes groups of the rows that there are, which a view cannot do for later rows: "
            "choose a method with levels (optimal, global, generalization), or release into a table."
        )


def _measures(guarantee: Mapping[str, Any], sensitive: Any) -> list[tuple[Any, int]]:
    """Return what each part of a guarantee counts in a class, by a window, and the least that is enough."""
    kind = guarantee.get("guarantee")
    if kind == "AllOf":
        return [measure for part in guarantee["parts"] for measure in _measures(part, sensitive)]
    if kind == "KAnonymity":
        return [(lambda classes: f"count(*) OVER ({classes})", guarantee["k"])]
    if kind == "DistinctDiversity":
        of = guarantee.get("of") or sensitive
        return [(_different(name), guarantee["l"]) for name in ([of] if isinstance(of, str) else of)]
    raise ParameterError(
        f"A view keeps k-anonymity and distinct diversity for rows to come, and {kind} not; release into a table."
    )


def _different(name: str) -> Any:
    """Return the number of different values of a column, null being one: ranks from both ends, less one."""
    # PostgreSQL counts no DISTINCT in a window. It puts nulls at one end or the other by the direction, so
    # that null has ranks from both ends like any value.
    column = quoted(name)
    return lambda classes: (
        f"dense_rank() OVER ({classes} ORDER BY {column}) + dense_rank() OVER ({classes} ORDER BY {column} DESC) - 1"
    )
