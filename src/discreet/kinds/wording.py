"""Wording: numbers, shares, counts and JSON as text, names in errors, what a release is called and its cells are."""

from __future__ import annotations

import datetime as dt
import difflib
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.core.errors import ParameterError
from discreet.core.schema import DROPPED, Role

if TYPE_CHECKING:
    from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec
    from discreet.core.release import Release
    from discreet.core.schema import Column

_HIERARCHIES = {"intervals": "intervals", "cuts": "intervals", "masked": "masks", "flat": "all or nothing"}


def refuse_unknown(where: str, keys: Iterable[str], names: Iterable[str]) -> None:
    """Raise a ParameterError for a key that is not known, and name the one that may have been meant."""
    options = list(names)
    for name in keys:
        if name not in options:
            raise ParameterError(f"{where} has an unknown key '{name}'{nearest_name(name, options)}")


def nearest_name(name: str, names: Iterable[str]) -> str:
    """End a sentence with the known name that may have been meant, or with all of them.

    >>> nearest_name("strickt", ["strict", "summary"])
    "; did you mean 'strict'?"
    """
    options = list(names)
    # Of names that differ in case alone the first one is meant.
    folded = {option.casefold(): option for option in reversed(options)}
    close = difflib.get_close_matches(str(name).casefold(), folded, n=1, cutoff=0.6)
    if close:
        return f"; did you mean '{folded[close[0]]}'?"
    return f"; there is {quoted_list(options)}." if options else "."


def quoted_list(names: Sequence[str]) -> str:
    """List names for a message, the first few of many."""
    quoted = ", ".join(f"'{name}'" for name in names[:8])
    return quoted if len(names) <= 8 else f"{quoted} and {len(names) - 8} more"


@dataclass(frozen=True)
class About:
    """The data's name and the day of the release, which are published; the names of its folder and file, which are not.

    The name of the file may say more than the data does, such as whose patients they are. So it is never taken for the
    data's name.

    >>> About("Patients, 2030", dt.date(2030, 5, 1), source="patients-of-dr-smith.csv").to_dict()
    {'name': 'Patients, 2030', 'date': '2030-05-01'}
    """

    name: str | None = None
    date: dt.date | None = None
    folder: str = "release"
    source: str | None = None

    def to_dict(self) -> dict[str, str]:
        """Return what is published, as plain data for JSON."""
        published = {} if self.name is None else {"name": self.name}
        return published | ({} if self.date is None else {"date": self.date.isoformat()})


def today() -> dt.date:
    """Return the day in UTC, or that of SOURCE_DATE_EPOCH, for reproducible builds."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = dt.datetime.fromtimestamp(int(epoch), dt.UTC) if epoch.isdigit() else dt.datetime.now(dt.UTC)
    return moment.date()


_RELATIONS = {">=": "at least", "<=": "at most", "<": "below", ">": "above"}


def number(value: float) -> str:
    """Format a number for reading.

    >>> number(20000), number(2.51234), number(float("nan"))
    ('20,000', '2.512', '–')
    """
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "−∞"
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.4g}"


def required(relation: str, bound: float) -> str:
    """Format the bound of a measure.

    >>> required(">=", 5)
    'at least 5'
    """
    return f"{_RELATIONS.get(relation, relation)} {number(bound)}"


def counted(n: int, singular: str, many: str | None = None) -> str:
    """Format a count with its noun.

    >>> counted(1, "row"), counted(2000, "class", "classes")
    ('1 row', '2,000 classes')
    """
    return f"{n:,} {singular if n == 1 else many or singular + 's'}"


def span(least: float, most: float) -> str:
    """Format from where to where sizes go.

    >>> span(5, 1600), span(15, 15)
    ('5 to 1,600', '15')
    """
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def percent(share: float) -> str:
    """Write a share so that little is never shown as nothing, nor almost all as all.

    >>> percent(0.2), percent(0.00002), percent(0), percent(0.99999)
    ('20%', 'under 0.1%', '0%', 'over 99.9%')
    """
    if not math.isfinite(share):
        return "–"
    if 0 < share < 0.0005:
        return "under 0.1%"
    if 0.9995 < share < 1:
        return "over 99.9%"
    return f"{100 * share:.1f}".removesuffix(".0") + "%"


def plain_json(value: Any) -> Any:
    """Return data that every JSON reader accepts: NaN and infinity become null, NumPy numbers plain ones.

    >>> plain_json({"a": [float("nan"), 1.5]})
    {'a': [None, 1.5]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_json(inner) for inner in value]
    if hasattr(value, "tolist"):
        return plain_json(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    return str(value)


_NOT_TO_EVERYBODY = (
    "Not to everybody: columns that are published exactly single people out, or name them. Hand it on only to those "
    "who cannot know these columns of anyone, or are bound not to look; or change their roles."
)
SINGLING_OUT = (
    "unique-exact", "unique-sensitive", "unique-column", "unique-combination", "direct-identifier", "free-text",
)  # fmt: skip
"""The cautions that speak against handing a release to everybody."""


def handing_on(release: Release, *, internal: bool = True) -> tuple[str, str]:
    """Return whether a release may be handed on, in a word and in a sentence, by its verdict and cautions.

    What is published goes by the public cautions alone.
    """
    shown = [caution for caution in release.cautions if internal or caution.public]
    if not release.verdict.ok:
        return "no", "No: the guarantee is broken."
    if any(caution.code in SINGLING_OUT for caution in shown):
        return "not to everybody", _NOT_TO_EVERYBODY
    if shown:
        n_kinds = len({caution.code for caution in shown})
        below = "what the caution below says" if n_kinds == 1 else f"what the {n_kinds} cautions below say"
        return "yes, with conditions", f"Yes, if you accept {below}."
    return "yes", "Yes."


def generalized_cells(name: str, column: Column, release: Release) -> str:
    """Return what the cells of a released column are, by the recipe alone."""
    if column.role is not Role.QUASI:
        return "exact"
    levels = release.recipe.get("levels")
    if levels is not None:
        level = levels.get(name)
        if isinstance(level, Mapping):
            return f"each value generalized to one of the levels {', '.join(level)}"
        return f"generalized to {'the top' if level == 'top' else f'level {level}'}" if level else "exact"
    return "generalized where needed"


def original_cells(name: str, column: Column, release: Release) -> str:
    """Return what became of the cells of an original column."""
    if column.role in DROPPED:
        return "dropped" if column.key is None else "replaced by keyed pseudonyms"
    if column.role is not Role.QUASI:
        return "as it was"
    levels = release.evidence.levels
    tree = release.original.encoded[name].hierarchy
    if levels is not None and name in levels:
        top = tree.height if tree is not None else 1
        return "as it was" if levels[name] == 0 else f"generalized to level {levels[name]} of {top}"
    kind = "" if column.hierarchy is None else f" along its hierarchy ({_kind(column.hierarchy)})"
    return f"generalized{kind}" if release.evidence.cells[name].loss.any() else "as it was"


def _kind(hierarchy: Hierarchy | HierarchySpec) -> str:
    """Return what kind of hierarchy a column has, in words."""
    return _HIERARCHIES.get(getattr(hierarchy, "kind", "tree"), "tree")
