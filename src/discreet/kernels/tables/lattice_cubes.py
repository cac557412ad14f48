"""A visit of every lattice node by cubes of counts: for tables with many distinct tuples in the columns' cross product.

Columns are outer or inner ones. The inner columns' cross product has so few cells that a cube of counts stays in the
cache; a tuple is an inner cell and a count, beside the other tuples with its outer codes. For each combination of
outer levels, the tuples whose outer codes become equal are put into the cube of the inner columns at the bottom, and
the cubes of all inner nodes follow from one another by sums along one axis. Nothing is sorted or hashed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled, compiled_step

Numbers = NDArray[np.int64]


class OuterTuples(NamedTuple):
    """The distinct tuples by their outer number: where those of each begin, their inner cells and their counts."""

    first: Numbers
    cell: NDArray[np.uint16]
    counts: NDArray[np.int32]
    rows: Numbers


class InnerNodes(NamedTuple):
    """The cubes of the inner nodes, end to end, the bottom first, and how each follows from a node below it.

    The cube of node ``source[v]`` has the shape (``before[v]``, ``card[v]``, ``behind[v]``), that of v has
    ``raised[v]`` codes in the middle, and code c there becomes ``parents[parent[v] + c]``. ``cell_of[v]`` is the cell
    of v for each cell of the bottom. Tuples fewer than ``scattered[v]`` are put into the cube of v one by one.
    ``losses`` has the weighted loss of each cell.
    """

    offset: Numbers
    source: Numbers
    before: Numbers
    card: Numbers
    raised: Numbers
    behind: Numbers
    parent: Numbers
    parents: Numbers
    cell_of: NDArray[np.uint16]
    scattered: Numbers
    losses: NDArray[np.float64]


class OuterClasses(NamedTuple):
    """The outer numbers that are equal at some outer levels: where those of each class begin, and the class's loss."""

    first: Numbers
    members: Numbers
    loss: NDArray[np.float64]


# Counting sort. O(tuples + outer numbers).
@compiled
def sort_by_outer(outer, inner, counts, n_outer):
    """Bring tuples with the same outer number together; return the parts of `OuterTuples`."""
    first = np.zeros(n_outer + 1, np.int64)
    rows = np.zeros(n_outer, np.int64)
    for row in range(outer.size):
        first[outer[row] + 1] += 1
    for number in range(n_outer):
        first[number + 1] += first[number]
    cell = np.empty(outer.size, np.uint16)
    count = np.empty(outer.size, np.int32)
    free = first.copy()
    for row in range(outer.size):
        number = outer[row]
        at = free[number]
        free[number] = at + 1
        cell[at] = inner[row]
        count[at] = counts[row]
        rows[number] += counts[row]
    return first, cell, count, rows


def visit_classes(
    tuples: OuterTuples,
    classes: OuterClasses,
    nodes: InnerNodes,
    smallest: int,
    limit: int,
    sparse_below: int,
) -> tuple[Numbers, NDArray[np.float64], Numbers, Numbers]:
    """Visit all inner nodes at one combination of outer levels.

    Returns for each the rows in classes too small, their loss where they are within the limit, the squared sizes of
    the other classes, and their number.
    """
    found: Any = _visit_classes(*tuples, *classes, *nodes, smallest, limit, sparse_below)
    return found[0], found[1], found[2], found[3]


# Rows in classes too small are added up by inner cell, so that their losses are worked out once a node. A class of
# outer codes with fewer rows than the smallest size is too small at every inner node: its rows wait in a cube of
# their own, which is summed up once. Few tuples are counted one by one at every node; of more, the cube.
# O(min(tuples x nodes, cells)) for each class; counts fit into 32 bits, as the table has fewer rows than 2^31.
@compiled
def _visit_classes(
    first, cell, count, rows, class_first, members, class_loss, offset, source, before, card, raised, behind, parent,
    parents, cell_of, scattered, losses, smallest, limit, sparse_below,
):  # fmt: skip
    n_nodes, n_cells = cell_of.shape
    few = np.zeros(n_nodes, np.int64)
    loss = np.zeros(n_nodes, np.float64)
    squares = np.zeros(n_nodes, np.int64)
    kept = np.zeros(n_nodes, np.int64)
    cubes = np.zeros(offset[n_nodes], np.int32)
    lost = np.zeros(offset[n_nodes], np.int32)
    too_small = np.zeros(n_cells, np.int32)
    scratch = np.zeros(n_cells, np.int32)
    touched = np.empty(n_cells, np.uint16)
    least = np.int32(smallest)
    for number in range(class_loss.size):
        begin, end = class_first[number], class_first[number + 1]
        n_rows = np.int64(0)
        n_tuples = np.int64(0)
        for at in range(begin, end):
            n_rows += rows[members[at]]
            n_tuples += first[members[at] + 1] - first[members[at]]
        if n_rows == 0:
            continue
        if n_rows < smallest:
            _put_tuples(first, cell, count, members, begin, end, too_small)
            for node in range(n_nodes):
                few[node] += n_rows
                loss[node] += n_rows * class_loss[number]
            continue
        is_sparse = n_tuples < sparse_below
        if is_sparse:
            n_touched = _touch_cells(first, cell, count, members, begin, end, scratch, touched, cubes)
        else:
            for at in range(n_cells):
                cubes[at] = 0
            _put_tuples(first, cell, count, members, begin, end, cubes)
        for node in range(n_nodes):
            if is_sparse:
                smaller = _count_touched(
                    scratch, touched, n_touched, cubes, cell_of, node, lost, offset[node], smallest, squares, kept,
                )  # fmt: skip
            else:
                if node > 0 and n_tuples < scattered[node]:
                    _scatter_tuples(first, cell, count, members, begin, end, cell_of, node, offset, cubes)
                elif node > 0:
                    _sum_node(cubes, node, offset, source, before, card, raised, behind, parent, parents)
                smaller = _count_cells(
                    cubes[offset[node] : offset[node + 1]], lost[offset[node] : offset[node + 1]], least, node,
                    squares, kept,
                )  # fmt: skip
            few[node] += smaller
            loss[node] += smaller * class_loss[number]
    for at in range(n_cells):
        cubes[at] = too_small[at]
    for node in range(n_nodes):
        if node > 0:
            _sum_node(cubes, node, offset, source, before, card, raised, behind, parent, parents)
        if few[node] > limit:
            loss[node] = 0.0
        else:
            for at in range(offset[node], offset[node + 1]):
                loss[node] += (lost[at] + cubes[at]) * losses[at]
    return few, loss, squares, kept


# The tuples of one class of outer codes, added to the cells of the bottom.
@compiled_step
def _put_tuples(first, cell, count, members, begin, end, cube):
    for at in range(begin, end):
        for row in range(first[members[at]], first[members[at] + 1]):
            cube[cell[row]] += count[row]


# The same for a class of few tuples: only the cells that occur, in ``touched``, and their counts, at the beginning of
# ``counted``; ``scratch`` is zero before and after.
@compiled_step
def _touch_cells(first, cell, count, members, begin, end, scratch, touched, counted):
    n_touched = 0
    for at in range(begin, end):
        for row in range(first[members[at]], first[members[at] + 1]):
            if scratch[cell[row]] == 0:
                touched[n_touched] = cell[row]
                n_touched += 1
            scratch[cell[row]] += count[row]
    for at in range(n_touched):
        counted[at] = scratch[touched[at]]
        scratch[touched[at]] = 0
    return n_touched


# The cube of one node from the tuples, which are fewer than what the sum along an axis would read.
@compiled_step
def _scatter_tuples(first, cell, count, members, begin, end, cell_of, node, offset, cubes):
    for at in range(offset[node], offset[node + 1]):
        cubes[at] = 0
    for at in range(begin, end):
        for row in range(first[members[at]], first[members[at] + 1]):
            cubes[offset[node] + cell_of[node, cell[row]]] += count[row]


# The cube of one node from that of the node below it.
@compiled_step
def _sum_node(cubes, node, offset, source, before, card, raised, behind, parent, parents):
    below = source[node]
    _sum_axis(
        cubes[offset[below] : offset[below + 1]], cubes[offset[node] : offset[node + 1]],
        before[node], card[node], raised[node], behind[node], parents[parent[node] :],
    )  # fmt: skip


# The cells of one class of outer codes at one node; each that was counted is taken once and is zero again.
@compiled_step
def _count_touched(
    scratch, touched, n_touched, counted, cell_of, node, lost, offset, smallest, squares, kept
):  # fmt: skip
    few = np.int64(0)
    for at in range(n_touched):
        scratch[cell_of[node, touched[at]]] += counted[at]
    for at in range(n_touched):
        cell = cell_of[node, touched[at]]
        size = np.int64(scratch[cell])
        scratch[cell] = 0
        if size >= smallest:
            squares[node] += size * size
            kept[node] += 1
        elif size > 0:
            lost[offset + cell] += size
            few += size
    return few


# Without a branch, and over views from 0 on, so that several cells are counted at once: where an index may be
# negative, Numba looks whether it is at every cell.
@compiled
def _count_cells(cube, lost, smallest, node, squares, kept):
    few = np.int64(0)
    square = np.int64(0)
    n_kept = np.int64(0)
    for at in range(cube.size):
        size = cube[at]
        smaller = size if size < smallest else np.int32(0)
        lost[at] += smaller
        larger = np.int64(size - smaller)
        few += np.int64(smaller)
        n_kept += np.int64(size >= smallest)
        square += larger * larger
    squares[node] += square
    kept[node] += n_kept
    return few


@compiled
def _sum_axis(below, cube, before, card, raised, behind, parents):
    """Add up the cells of a cube whose codes in the middle become equal."""
    for at in range(cube.size):
        cube[at] = 0
    if behind == 1:
        for outer in range(before):
            for code in range(card):
                cube[outer * raised + parents[code]] += below[outer * card + code]
        return
    for outer in range(before):
        for code in range(card):
            here = (outer * card + code) * behind
            there = (outer * raised + parents[code]) * behind
            taken, added = below[here : here + behind], cube[there : there + behind]
            for inner in range(behind):
                added[inner] += taken[inner]
