"""Every node of a lattice at once: what each does when classes below a size are suppressed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.kernels.tables.grouping import distinct
from discreet.kernels.tables.lattice import pack_fields
from discreet.kernels.tables.lattice_nodes import Fields, Found, visit
from discreet.kernels.threads import processors
from discreet.publish.lattice.lattice import Lattice


def visit_all(lattice: Lattice, weights: FloatArray, smallest: int, limit: int) -> Found:
    """Visit every node; gives flat arrays in the order of the lattice's own arrays.

    The loss of suppressed rows is worked out where they are within the limit.
    """
    order = _order(lattice)
    fields = _fields(lattice, weights, order)
    columns = [lattice.codes(column, lattice.bottom[column]) for column in order]
    keys = pack_fields(columns, fields.shift)
    first, _, counts = distinct(keys, lattice.table.tuples.counts)
    n_nodes = lattice.n_nodes
    results = Found(
        np.zeros(n_nodes, np.int64),
        np.zeros(n_nodes),
        np.zeros(n_nodes, np.int64),
        np.zeros(n_nodes, np.int64),
    )
    outermost = range(int(fields.dims[0])) if len(order) > 1 else range(1)
    with ThreadPoolExecutor(processors()) as pool:
        jobs = [
            pool.submit(visit, keys[first], counts, fields, level, smallest, limit, results)
            for level in outermost
        ]
        for job in jobs:
            job.result()
    return results


def _order(lattice: Lattice) -> list[int]:
    """Put the column with the most levels innermost, where they cost least, and the others by falling levels."""
    innermost, *others = sorted(
        range(len(lattice.names)),
        key=lambda column: (-lattice.dims[column], -lattice.card(column, lattice.bottom[column])),
    )
    return [*others, innermost]


def _fields(lattice: Lattice, weights: FloatArray, order: list[int]) -> Fields:
    cards = [lattice.card(column, lattice.bottom[column]) for column in order]
    bits = np.array([max(int(card - 1).bit_length(), 1) for card in cards], np.int64)
    dims = np.array([lattice.dims[column] for column in order], np.int64)
    strides = np.array(
        [int(np.prod(lattice.dims[column + 1 :], dtype=np.int64)) for column in order], np.int64
    )
    start = np.zeros((len(order), int(dims.max())), np.int64)
    parents, losses = [], []
    at = 0
    for row, column in enumerate(order):
        levels = lattice.trees[column].levels
        for step in range(lattice.dims[column]):
            level = lattice.bottom[column] + step
            parent = np.zeros(lattice.card(column, level), np.int64)
            if level < lattice.top[column]:
                parent[levels[level]] = levels[level + 1]
            start[row, step] = at
            at += parent.size
            parents.append(parent)
            losses.append(weights[column] * lattice.losses(column, level))
    inner = order[-1]
    tree = lattice.trees[inner]
    nodes = np.zeros((lattice.dims[inner], lattice.card(inner, lattice.bottom[inner])), np.int64)
    for step in range(lattice.dims[inner]):
        nodes[step, tree.levels[lattice.bottom[inner]]] = tree.levels[lattice.bottom[inner] + step]
    shift = np.cumsum(bits[::-1])[::-1] - bits
    return Fields(shift, bits, dims, strides, start, np.concatenate(parents), np.concatenate(losses), nodes)
