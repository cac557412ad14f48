"""What a data officer would say of published text: look-alikes of sensitive values, formulas, all cautions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.adapters import KIND_OF, load
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.baskets.names import spelling
from discreet.core.boundary import public
from discreet.core.figures import Caution
from discreet.core.release import Release
from discreet.core.tables.grouped import GroupedTable
from discreet.core.tables.labels import value_kind
from discreet.core.tables.publication import formula_cells

_BUT_FOR = "but for case, blanks, forms of letters or invisible characters"
_MOST_VALUES = 100_000
"""A column of more different texts is no list of categories, and is not looked through."""


def twins_of_sensitive(data: GroupedBaskets) -> Iterator[Caution]:
    """Count the items of grouped baskets that are spelled like a sensitive one, without naming any."""
    secret = Counter(map(spelling, _held(data.sensitive_names, np.unique(data.sensitive.values))))
    ordinary = _held(data.baskets.names, np.flatnonzero(data.baskets.counts))
    n_twins = sum(spelling(name) in secret for name in ordinary) if secret else 0
    if n_twins:
        yield Caution(
            "spelled-like-sensitive",
            f"{n_twins:,} ordinary items are spelled like a sensitive one {_BUT_FOR}, and they are published exactly. "
            "Where they mean the same, spell them alike in the data, or add them to the sensitive items.",
        )
    alike = sum(count for count in secret.values() if count > 1)
    if alike:
        yield Caution(
            "sensitive-spelled-alike",
            f"{alike:,} sensitive items are spelled like another one {_BUT_FOR}. The guarantee takes them for "
            "different items, so where they mean the same a person is tied to it with more than the guaranteed "
            "probability. Spell them alike in the data.",
        )


def twins_of_values(release: Release) -> Iterator[Caution]:
    """Count the sensitive values of a table that are spelled like another one of their column, without naming any."""
    for name, values in _sensitive_texts(release):
        spellings = Counter(map(spelling, values)) if len(values) <= _MOST_VALUES else Counter()
        alike = sum(count for count in spellings.values() if count > 1)
        if alike:
            yield Caution(
                "sensitive-spelled-alike",
                f"{alike:,} values of '{name}' are spelled like another one {_BUT_FOR}. Guarantees take them for "
                "different values, so where they mean the same, a class that seems diverse may not be. Spell them "
                "alike in the data.",
            )


def _sensitive_texts(release: Release) -> Iterator[tuple[str, list[str]]]:
    """Return the different texts of each sensitive column, or of the counts that are published in its place."""
    if isinstance(release.data, GroupedTable):
        name = release.data.counts.column_names[1]
        columns = {name: pc.unique(release.data.counts[name])}
    else:
        columns = {name: release.table.encoded[name].values for name in release.schema.sensitive}
    for name, values in columns.items():
        if value_kind(values.type) == "text":
            yield name, values.drop_null().to_pylist()


def twins_of_rules(release: Release) -> Iterator[Caution]:
    """Count the items of a release that are spelled like one of a hidden rule; which rules there are is private.

    Where the release was read without its owner's folder they are not known.
    """
    guarantee: Any = release.guarantee
    if not hasattr(guarantee, "rules"):
        return
    data = release.data
    baskets: Baskets = data if isinstance(data, Baskets) else guarantee.reading.baskets(release.table)
    named = {str(name) for rule in guarantee.rules for name in rule.items}
    secret = set(map(spelling, named))
    items = _held(baskets.names, np.flatnonzero(baskets.counts))
    n_twins = sum(spelling(name) in secret and name not in named for name in items)
    if n_twins:
        yield Caution(
            "spelled-like-rules",
            f"{n_twins:,} items are spelled like one of a sensitive rule {_BUT_FOR}, and no rule names them: the same "
            "may still be found by them. Where they mean the same, spell them alike in the data, or name rules with "
            "them too.",
            public=False,
        )


def _held(names: pa.Array, held: Any) -> Iterable[str]:
    """Return the names of items that somebody has; whole numbers are written in one way only."""
    if pa.types.is_integer(names.type):
        return ()
    found: list[str] = names.take(pa.array(held)).to_pylist()
    return found


def published_formulas(published: Any) -> int:
    """Count the cells, items and names of columns in published data that a spreadsheet would run.

    Everything that leaves is counted here: releases, frames and baskets. An item counts once, however many baskets
    hold it.

    >>> published_formulas(Baskets.from_lists([["=1+1", "milk"], ["=1+1"], ["-5"]]))
    1
    """
    return sum(map(formula_cells, _frames(published)))


def formula_cautions(*published: Any) -> tuple[Caution, ...]:
    """Return what to say of published data that a spreadsheet would run; nothing where there is none."""
    n_formulas = sum(map(published_formulas, published))
    if not n_formulas:
        return ()
    return (
        Caution(
            "formula-cells",
            f"{n_formulas:,} cells, items or names of columns start as a formula of a spreadsheet does, and would be "
            "run by one. A spreadsheet-safe release puts an apostrophe before cells and items; columns are to be "
            "renamed.",
        ),
    )


def _frames(data: Any) -> Iterator[Any]:
    """Return the frames that hold every text of published data."""
    if isinstance(data, Release):
        for part in load(KIND_OF)(data).published_texts(data):
            yield from _frames(part)
    else:
        # A frame on a cluster has every attribute: it takes their names for columns.
        yield from data.text_frames() if hasattr(type(data), "text_frames") else (data,)


@public
def cautions(release: Release) -> tuple[Caution, ...]:
    """Return what a careful data officer would say about a release before it is handed on.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, quasi, sensitive
    >>> from discreet.guarantees import KAnonymity
    >>> from discreet.publish import Mondrian
    >>> table = Table(pa.table({"age": [20, 20, 30, 30], "disease": ["flu", "flu", "cold", "cold"]}),
    ...     {"age": quasi(), "disease": sensitive()})
    >>> [caution.code for caution in cautions(Mondrian(KAnonymity(2)).release(table))]
    ['dominated-class']
    """
    return release.cautions
