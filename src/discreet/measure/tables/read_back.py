"""Reading a release back: what the cells of any released table cover, whoever made it."""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import CodeArray, IntArray
from discreet.core.errors import SchemaError
from discreet.core.hierarchy.bound import Hierarchy
from discreet.core.hierarchy.specs import flat
from discreet.core.params import IntIn, require
from discreet.core.release import Cells
from discreet.core.tables.label_coverage import label_costs
from discreet.core.tables.labels import texts
from discreet.core.tables.table import Table


def kept_sizes(original: Table, released: Table, suppressed: int | None) -> tuple[IntArray, int]:
    """Return the rows of each released class that were not suppressed, and the number that were."""
    groups = released.groups()
    n_out = original.n_rows - groups.n_rows
    if n_out < 0:
        raise SchemaError(f"The released table has {-n_out} rows more than the original.")
    if suppressed is None:
        return groups.sizes, n_out
    starred = groups.suppressed if groups.suppressed is not None else np.zeros(groups.n_groups, np.bool_)
    most = n_out + int(groups.sizes[starred].sum())
    require("loss_between", "suppressed", suppressed, IntIn(n_out, most))
    return groups.sizes - np.where(starred, suppressed - n_out, 0), int(suppressed)


def read_back(original: Table, released: Table, name: str) -> Cells:
    """Read the labels of a column back by what they say."""
    costs = label_costs(released.encoded[name], original.encoded[name], original.overall(name))
    return Cells(_label_codes(released, name), *costs)


def at_level(original: Table, released: Table, name: str, level: int, sizes: IntArray) -> Cells:
    """Read labels back as nodes of one level of the column's tree."""
    tree = label_tree(original, name)
    require("loss_between", "levels", level, IntIn(0, tree.height))
    numbers = {label: node for node, label in enumerate(tree.labels[level])}
    labels = [None, *texts(released.encoded[name].values).to_pylist()]
    index = np.array([numbers.get(label, -1) for label in labels], np.int32)[_label_codes(released, name)]
    strange = int(sizes[index < 0].sum())
    if strange:
        raise SchemaError(
            f"{strange} rows of column '{name}' show labels that are not at level {level} of its tree."
        )
    cost = (tree.leaves_under(level) - 1) / max(tree.n_leaves - 1, 1)
    if level == tree.height:
        cost = np.ones(1)
    covered = np.bincount(tree.levels[level], weights=original.overall(name), minlength=cost.size)
    return Cells(np.maximum(index, 0), cost, covered.astype(np.int64))


def _label_codes(released: Table, name: str) -> CodeArray:
    codes: CodeArray = released.classes[1][:, released.schema.quasi.index(name)]
    return codes


def label_tree(table: Table, name: str) -> Hierarchy:
    """Return a column's hierarchy; one without any has a flat one."""
    book = table.encoded[name]
    return book.hierarchy or flat().bind(book.values, column=name)
