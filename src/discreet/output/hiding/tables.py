"""Hiding rules in tables: rows are baskets of column=value items, and deleting an item changes its cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import BoolArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.row_items import RowItems, row_items
from discreet.core.baskets.supports import drawn_order
from discreet.core.errors import InfeasibleError, ParameterError
from discreet.core.release import Cells, Evidence, Release
from discreet.core.rng import generator
from discreet.core.schema import DROPPED, Role, Schema
from discreet.core.tables.labels import texts
from discreet.core.tables.publication import defused_text
from discreet.core.tables.table import Table
from discreet.guarantees import RulesHidden
from discreet.measure.tables.risk import refuse_singling_out
from discreet.output.hiding.blocking import UNKNOWN

if TYPE_CHECKING:
    from discreet.output.hiding.hider import Hider, Sanitized


def hide_table(hider: Hider, table: Table) -> Release:
    """Hide rules in a table; the kind of frame that came in comes back, its rows shuffled.

    Identifiers are dropped or become pseudonyms, as with every release. Columns of the role other are no items.

    Examples
    --------
    Nobody is to find that people of 26 in ZIP code 10562 have HIV:

    >>> from discreet import Table, identifier, quasi, sensitive
    >>> from discreet.output.hiding import ExactHiding
    >>> patients = Table(pa.table({
    ...     "name": ["Ann", "Bob", "Cat", "Dan", "Eve", "Fay"], "age": [26, 26, 26, 35, 35, 26],
    ...     "zip": ["10562", "10562", "10562", "10562", "10598", "10598"],
    ...     "disease": ["HIV", "HIV", "flu", "flu", "flu", "HIV"],
    ... }), {"name": identifier(), "age": quasi(), "zip": quasi(), "disease": sensitive()})
    >>> rule = "age=26, zip=10562 => disease=HIV"
    >>> release = ExactHiding([rule], min_support=2, min_confidence=0.5, random_state=0).hide(patients)
    >>> print(release.verdict)
    RulesHidden(): verified (sensitive rules found 0, required <= 0)
    >>> sum(column.null_count for column in release.frame.columns)
    1
    """
    refuse_singling_out(table)
    rng = generator(hider.random_state, owner=hider)
    released_columns = _without_identifiers(table)
    guarantee = hider.guarantee
    named = [str(name) for rule in guarantee.rules for name in rule.items]
    reading = row_items(released_columns, hider.levels, named, owner=hider)
    baskets = reading.baskets(released_columns)
    drawn = drawn_order(baskets, rng)
    sanitized = hider.sanitize(baskets.take(drawn), rng)
    gone = _gone(baskets.take(drawn), sanitized, tuple(reading.cells(released_columns)))
    rows = np.arange(len(baskets)) if sanitized.rows is None else sanitized.rows
    order = rng.permutation(rows)
    # The same drawn order as the baskets, since the masks of deleted cells are in it.
    positions = pa.array(drawn)
    columns = {
        name: column.take(positions)
        for name, column in released_columns.source.columns(released_columns.source.names).items()
    }
    new = {
        name: _cells(released_columns, name, column, gone[name], reading, hider.cells)
        if name in gone
        else column
        for name, column in columns.items()
    }
    frame = released_columns.framed(
        pa.table({name: column.take(pa.array(order)) for name, column in new.items()})
    )
    promise = replace(guarantee, reading=reading)
    if table.spreadsheet_safe:
        promise = _spreadsheet_safe(
            promise, (*released_columns.schema.quasi, *released_columns.schema.sensitive)
        )
    release = Release(
        data=frame,
        schema=released_columns.schema.released(),
        guarantee=promise,
        evidence=_evidence(released_columns, columns, sanitized, gone, order),
        recipe=_recipe(hider, table, released_columns),
        original=table,
        private={"guarantee": promise.to_private_dict(), "text": _texts(released_columns)},
    )
    # The cells that take the place of others are judged as
    # they will be read, since they may name items of a rule.
    if not release.verdict.ok:
        raise InfeasibleError(
            "The rules cannot be hidden by such cells: what was put in their place shows another rule, or the same "
            "one. Hide them with cells='null', and Blocking without camouflage."
        )
    return release


def _spreadsheet_safe(promise: RulesHidden, columns: Sequence[str]) -> RulesHidden:
    """Return the promise about cells that got an apostrophe before what a spreadsheet would run."""

    def renamed(item: Any) -> Any:
        column = next((name for name in columns if str(item).startswith(f"{name}=")), None)
        return item if column is None else f"{column}={defused_text(item[len(column) + 1 :])}"

    labels = {
        name: {defused_text(value): defused_text(label) for value, label in labels.items()}
        for name, labels in promise.reading.labels.items()
    }
    return replace(promise, reading=RowItems(promise.reading.levels, labels)).renamed(renamed)


def _without_identifiers(table: Table) -> Table:
    """Return the table as it may be published at most: identifiers dropped, or pseudonyms in their place."""
    if not any(table.schema.named(role) for role in DROPPED):
        return table
    unsafe = Table(table.frame, table.schema)
    roles = {
        name: replace(column, role=Role.OTHER, key=None) if column.role in DROPPED else column
        for name, column in table.schema.items()
        if column.role not in DROPPED or column.key is not None
    }
    return Table(unsafe.recode(unsafe.recoding()), Schema(roles), spreadsheet_safe=table.spreadsheet_safe)


def _gone(baskets: Baskets, sanitized: Sanitized, columns: tuple[str, ...]) -> dict[str, BoolArray]:
    """Return, for every column, the rows whose item was deleted; an item that was added is refused."""
    after = sanitized.baskets
    names = baskets.names.to_pylist()
    if after.names is not baskets.names and after.names.to_pylist() != names:
        codes_by_item = {name: code for code, name in enumerate(names)}
        code = np.array([codes_by_item.get(name, -1) for name in after.names.to_pylist()], np.int64)
    else:
        code = np.arange(len(names))
    rows_kept = np.arange(len(baskets)) if sanitized.rows is None else sanitized.rows
    if len(after) != rows_kept.size:
        raise ParameterError(
            "Synthetic rows cannot be appended to a table; take a method that deletes items."
        )
    codes = code[after.items]
    known_item = codes >= 0
    fakes = [
        (rows_kept[after.rows()[at]], after.names[int(after.items[at])].as_py())
        for at in np.flatnonzero(~known_item)
    ]
    width = max(len(names), 1)
    before = np.sort(baskets.rows() * width + baskets.items)
    now = np.sort(rows_kept[after.rows()[known_item]] * width + codes[known_item])
    if np.setdiff1d(now, before, assume_unique=True).size:
        raise ParameterError(
            "A cell of a table holds one value, so nothing can be added to a row; take a method that deletes items."
        )
    # Entries as single numbers, row · width + item, so that sets of them are compared at once.
    lost = np.setdiff1d(before, now, assume_unique=True)
    rows, items = np.divmod(lost, width)
    owner = np.array([_column_of(name, columns) for name in names], np.int64)
    masks = {name: np.zeros(len(baskets), np.bool_) for name in columns}
    for number, name in enumerate(columns):
        masks[name][rows[owner[items] == number]] = True
    for row, item in fakes:
        masks[columns[_column_of(item.removeprefix(UNKNOWN), columns)]][row] = True
    return masks


def _column_of(item: str, columns: tuple[str, ...]) -> int:
    """Return the number of the column an item belongs to; a column's name may hold an equals sign itself."""
    fitting = [name for name in columns if item.startswith(f"{name}=")]
    return columns.index(max(fitting, key=len))


def _cells(
    table: Table,
    name: str,
    column: pa.Array,
    gone: BoolArray,
    reading: RowItems,
    cells: Literal["null", "coarser"],
) -> pa.Array:
    """Return a column with the cells that must not be seen made null, or replaced by the node one level up."""
    tree = table.encoded[name].hierarchy
    level = reading.levels.get(name, 0) + 1
    if not gone.any():
        return column
    if cells == "null" or tree is None or level > tree.height:
        return pc.if_else(pa.array(gone), pa.scalar(None, column.type), column)
    codes = tree.encode(column, column=name)
    labels = pa.array([tree.labels[level][int(node)] for node in tree.levels[level][codes]], pa.string())
    return pc.if_else(pa.array(gone), labels, texts(column))


def _evidence(
    table: Table,
    columns: Mapping[str, pa.Array],
    sanitized: Sanitized,
    gone: Mapping[str, BoolArray],
    order: IntArray,
) -> Evidence:
    """Return what a reader loses: each row by itself, its cells exact or gone."""
    costs = {}
    for name in table.schema.quasi:
        book = table.encoded[name]
        codes = book.encode(columns[name])
        counts = np.bincount(codes, minlength=book.n_codes)
        costs[name] = Cells(
            np.where(gone[name], book.n_codes, codes)[order].astype(np.int32),
            np.append(np.zeros(book.n_codes), 1.0),
            np.append(counts, codes.size),
        )
    suppressed = len(next(iter(gone.values()))) - order.size
    return Evidence(
        order.size + suppressed,
        np.ones(order.size, np.int64),
        costs,
        suppressed,
        details=dict(sanitized.details),
    )


def _texts(table: Table) -> list[str]:
    """Return the columns that hold text, which a text file does not tell from numbers."""
    columns = table.source.columns(table.source.names)
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_dictionary)
    return [name for name, column in columns.items() if any(kind(column.type) for kind in kinds)]


def _recipe(hider: Hider, original: Table, table: Table) -> dict[str, Any]:
    """Return what is published about how the release was made."""
    from discreet.output.hiding.hider import hiding_recipe

    names = {name for role in DROPPED for name in original.schema.named(role)}
    roles = [
        {
            "name": name,
            "role": column.role.value,
            **({"pseudonym": True} if name in names else {}),
            **({"allow_unique": True} if column.allow_unique else {}),
        }
        for name, column in table.schema.items()
    ]
    safe = {"spreadsheet_safe": True} if table.spreadsheet_safe else {}
    return {**hiding_recipe(hider), "columns": roles, **safe}
