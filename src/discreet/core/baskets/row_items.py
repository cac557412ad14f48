"""RowItems: the rows of a table read as baskets of ``column=value`` items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import CodeArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.names import sorted_items
from discreet.core.errors import SchemaError
from discreet.core.hierarchy.bound import Hierarchy
from discreet.core.params import Constraints, InstanceOf, IntIn, MappingOf, check_parameters, require
from discreet.core.tables.labels import texts, value_kind
from discreet.core.tables.table import Table


@dataclass(frozen=True)
class RowItems:
    """How rows become baskets: each quasi-identifier and sensitive column gives one item, and null gives none.

    ``levels`` holds the level of the columns that are looked at on a higher level of their hierarchy, and ``labels``
    what each of their values is called there. A cell that holds a label of another level is an item by itself.

    Examples
    --------
    >>> from discreet import Table, quasi, sensitive
    >>> frame = pa.table({"age": [26, 31], "disease": ["HIV", None]})
    >>> table = Table(frame, {"age": quasi(), "disease": sensitive()})
    >>> RowItems().baskets(table).lists()
    [['age=26', 'disease=HIV'], ['age=31']]
    >>> RowItems({"age": 1}, {"age": {"26": "20-29"}}).baskets(table).lists()
    [['age=20-29', 'disease=HIV'], ['age=31']]
    """

    constraints: ClassVar[Constraints] = {
        "levels": MappingOf(IntIn(1), "a mapping from columns to levels"),
        "labels": MappingOf(
            InstanceOf((Mapping,), "a mapping"), "a mapping from columns to the labels of values"
        ),
    }

    levels: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_parameters(self)

    def baskets(self, table: Table) -> Baskets:
        """Return the rows of a table as baskets, in their order."""
        cells = self.cells(table)
        names: list[str] = []
        rows, codes = [], []
        for column, (index, labels) in cells.items():
            rows_with_label = np.flatnonzero(index >= 0)
            rows.append(rows_with_label)
            codes.append(index[rows_with_label] + len(names))
            names += [f"{column}={label}" for label in labels]
        if len(set(names)) < len(names):
            raise SchemaError("Two columns give items of the same name; rename one of them.")
        n = len(next(iter(cells.values()))[0])
        ordered, rank = sorted_items(pa.array(names, pa.string()))
        return Baskets.from_entries(
            np.concatenate(rows),
            rank[np.concatenate(codes)] if names else np.empty(0, np.int32),
            ordered,
            n=n,
        )

    def cells(self, table: Table) -> dict[str, tuple[CodeArray, list[str]]]:
        """Return, for every column, the number of each row's label, -1 for none, and the labels."""
        names = (*table.schema.quasi, *table.schema.sensitive)
        columns = table.source.columns(names)
        labeled = {}
        for name in names:
            encoded = texts(columns[name]).dictionary_encode()
            values = encoded.dictionary.to_pylist()
            label_of_value = self.labels.get(name, {})
            labels = [label_of_value.get(value, value) for value in values]
            distinct = {label: number for number, label in enumerate(dict.fromkeys(labels))}
            number = np.array([distinct[label] for label in labels], np.int32)
            index = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
            labeled[name] = (_numbered(number, np.asarray(index, np.int64)), list(distinct))
        return labeled

    def to_dict(self) -> dict[str, object]:
        """Return plain data from which an equal reading is made."""
        return {
            "levels": dict(self.levels),
            "labels": {name: dict(labels) for name, labels in self.labels.items()},
        }


def row_items(
    table: Table, levels: Mapping[str, int] | None, named: Iterable[str], *, owner: object
) -> RowItems:
    """Return how the rows of a table are read, where some items are named.

    A column is looked at on the level that is named for it; else on the lowest that has the labels that are named, and
    numbers with a hierarchy of which none is named on level 1.
    """
    names = (*table.schema.quasi, *table.schema.sensitive)
    trees = {name: book.hierarchy for name, book in table.encoded.items() if book.hierarchy is not None}
    for name, level in (levels or {}).items():
        if name not in names:
            raise SchemaError(
                f"A level is named for column '{name}', which is neither quasi-identifier nor sensitive."
            )
        require(owner, f"levels[{name!r}]", level, IntIn(0, trees[name].height if name in trees else 0))
    items = list(named)
    chosen = {}
    for name, tree in trees.items():
        named_labels = {item[len(name) + 1 :] for item in items if item.startswith(f"{name}=")}
        number = value_kind(table.encoded[name].type) == "number"
        usual = 1 if not named_labels and number and tree.height > 1 else 0
        fitting = (level for level in range(tree.height + 1) if named_labels <= _written(tree, level))
        chosen[name] = (levels or {}).get(name, next(fitting, 0) if named_labels else usual)
    raised = {name: level for name, level in chosen.items() if level}
    return RowItems(raised, {name: _labels(trees[name], level) for name, level in raised.items()})


def _labels(tree: Hierarchy, level: int) -> dict[str, str]:
    """Return the label at a level of every leaf by its text."""
    nodes = (tree.labels[level][int(node)] for node in tree.levels[level][1:])
    pairs = zip(texts(tree.leaves).to_pylist(), nodes, strict=True)
    return {leaf: label for leaf, label in pairs if label is not None}


def _written(tree: Hierarchy, level: int) -> set[str]:
    return (
        set(texts(tree.leaves).to_pylist())
        if not level
        else {label for label in tree.labels[level] if label is not None}
    )


def _numbered(number: CodeArray, index: np.ndarray) -> CodeArray:
    """Return the label's number for every row, -1 for a null."""
    if not number.size:
        return np.full(index.size, -1, np.int32)
    return np.where(index >= 0, number[index.clip(min=0)], np.int32(-1)).astype(np.int32)
