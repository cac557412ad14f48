"""Sketches of rows: sums of signs, 64 components at a time in the processor's vectors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.sketches.signs import expand
from discreet.kernels.threads import in_threads

_TABLE_BYTES = 64_000_000
_LANES = 64
_PLACE = ir.IntType(64)


def sum_rows(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    weights: NDArray[np.float64] | None,
    table: NDArray[np.uint64],
    bounds: NDArray[np.int64],
) -> NDArray[np.int8] | NDArray[np.int16] | NDArray[np.float64]:
    """Sketch compressed rows of items with weights, or of ones where there are none.

    Row i gets components ``bounds[i]`` to ``bounds[i + 1]`` of the answer. ``items`` are numbers of rows of the table
    of signs, which ``signs.tabulate`` returns. Components of ones have one byte each, or two, where all of them fit;
    all others are floats.
    """
    kind: Any = np.float64 if weights is not None else _kind(np.diff(indptr)[np.diff(bounds) > 0])
    values = np.ones(items.size) if weights is None and kind is np.float64 else weights
    out = np.empty(int(bounds[-1]), kind)
    for first, signs in _blocks(table, bounds):
        in_threads(partial(_sum, indptr, items, values, signs, bounds, first, out), indptr.size - 1)
    return out


def _kind(ones: NDArray[np.int64]) -> Any:
    """Return the type that can store the sums of this many ones."""
    fitting = (kind for kind in (np.int8, np.int16) if ones.max(initial=0) <= np.iinfo(kind).max)
    return next(fitting, np.float64)


def _blocks(table: NDArray[np.uint64], bounds: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int8]]]:
    """Return the signs of as many components at a time as fit the memory, the last first: of each item, in 64s."""
    words = -(-int(np.diff(bounds).max(initial=0)) // _LANES)
    step = max(1, _TABLE_BYTES // max(table.shape[0] * _LANES, 1))
    # The last block first: see _sum, whose stores run over into components of blocks that follow.
    for first in reversed(range(0, words, step)):
        last = min(first + step, words)
        signs = expand(table, first * _LANES, last * _LANES)
        yield first * _LANES, signs.reshape(table.shape[0], last - first, _LANES)


@intrinsic
def _add_signs(typing, signs, items, weights, begin, end, word, out, position):
    """Write ``sum(weights[at] * signs[items[at], word] for at in range(begin, end))`` to ``out``, from a place on.

    Without weights (None) they are ones. Passed to the compiler as vectors, so that the sums stay in registers.
    """
    kinds = (signs, items, weights, types.int64, types.int64, types.int64, out, types.int64)

    def generate(context, builder, signature, arguments):
        signs, items, weights, out = (
            None
            if kinds[at] == types.none
            else context.make_array(kinds[at])(context, builder, arguments[at])
            for at in (0, 1, 2, 6)
        )
        begin, end, word, position = (arguments[at] for at in (3, 4, 5, 7))
        words = cgutils.unpack_tuple(builder, signs.shape)[1]
        element = context.get_data_type(kinds[6].dtype)
        # One vector type of 64 lanes; LLVM splits it into as many registers as the processor needs.
        bytes_, lanes = (ir.VectorType(kind, _LANES) for kind in (ir.IntType(8), element))
        total = cgutils.alloca_once_value(builder, ir.Constant(lanes, None))
        with cgutils.for_range_slice(builder, begin, end, _PLACE(1), inc=True) as (at, _):
            item = builder.zext(builder.load(builder.gep(items.data, [at])), _PLACE)
            start = builder.mul(builder.add(builder.mul(item, words), word), _PLACE(_LANES))
            row = builder.bitcast(builder.gep(signs.data, [start]), bytes_.as_pointer())
            signed = builder.load(row, align=1)
            if weights is None:
                builder.store(builder.add(builder.load(total), builder.sext(signed, lanes)), total)
            else:
                weight = builder.load(builder.gep(weights.data, [at]))
                # The sign chooses between -w and w: no conversion of signs to floats, no product.
                minus = builder.icmp_signed("<", signed, ir.Constant(bytes_, None))
                down, up = (_in_all_lanes(builder, value, lanes) for value in (builder.fneg(weight), weight))
                builder.store(builder.fadd(builder.load(total), builder.select(minus, down, up)), total)
        into = builder.bitcast(builder.gep(out.data, [position]), lanes.as_pointer())
        builder.store(builder.load(total), into, align=1)
        return context.get_dummy_value()

    return types.void(*kinds), generate


# LLVM's idiom for a broadcast: a shuffle that takes lane 0 everywhere.
def _in_all_lanes(builder, value, lanes):
    first = builder.insert_element(ir.Constant(lanes, ir.Undefined), value, ir.IntType(32)(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), _LANES), None))


@compiled
def _sum(indptr, items, weights, signs, bounds, first, out, start, stop):
    """Sum the signs of a block of components for some rows.

    The last 64 sums of a row may run over into the rows after it, whose components there are written later: by this
    call, or by one for an earlier block. They never run over into another thread's rows.
    """
    some = np.empty(_LANES, out.dtype)
    room = bounds[stop] - _LANES
    for row in range(start, stop):
        begin, end = indptr[row], indptr[row + 1]
        base = bounds[row] + first
        for word in range(signs.shape[1]):
            width = bounds[row + 1] - base
            if width <= 0:
                break
            # All 64 lanes are stored at once, whatever the width. What runs over lands on components 0 to 62
            # of rows behind, all of them in the first block, hence written after this.
            if base <= room:
                _add_signs(signs, items, weights, begin, end, word, out, base)
            else:
                _add_signs(signs, items, weights, begin, end, word, some, 0)
                for j in range(width):
                    out[base + j] = some[j]
            base += _LANES
