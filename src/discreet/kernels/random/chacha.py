"""ChaCha20: a key stream that is indistinguishable from random without the key (Bernstein 2008).

A stream is named by a key of 256 bits and a number of 64 bits; its blocks are numbered by 64 bits. Sixteen blocks are
made at a time, one in each lane of the processor's vectors.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from discreet.kernels.compiled import compiled

LANES = 16
"""The blocks made at a time."""
DRAWS = LANES * 8
"""The words of 64 bits that they hold."""


_CONSTANTS = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)
"""The words of "expand 32-byte k"."""
_COLUMNS = tuple((at, 4 + at, 8 + at, 12 + at) for at in range(4))
_DIAGONALS = tuple((at, 4 + (at + 1) % 4, 8 + (at + 2) % 4, 12 + (at + 3) % 4) for at in range(4))
_WORD, _DRAW = ir.IntType(32), ir.IntType(64)


# Bernstein's layout: constants, key, a counter and a stream number of 64 bits each (RFC 8439 has 32 and 96). A word of
# the state is a vector over the lanes, which differ in the counter alone: twenty rounds for 16 blocks at once. Passed
# to the compiler as vectors; from a loop over lanes it takes twenty times as long to find them.
@intrinsic
def _blocks(typing, key, stream, first, words):
    """Write the blocks from ``first`` on into the rows of ``words``, a block to a column."""
    signature = types.void(key, types.uint64, types.uint64, words)

    def generate(context, builder, signature, arguments):
        key, words = (
            context.make_array(signature.args[at])(context, builder, arguments[at]).data for at in (0, 3)
        )
        narrow = ir.VectorType(_WORD, LANES)

        def in_all_lanes(word):
            lone = builder.insert_element(ir.Constant(narrow, ir.Undefined), word, _WORD(0))
            return builder.shuffle_vector(lone, lone, ir.Constant(narrow, None))

        def halves(number):
            return builder.trunc(number, _WORD), builder.trunc(builder.lshr(number, _DRAW(32)), _WORD)

        begin = [in_all_lanes(_WORD(word)) for word in _CONSTANTS]
        begin += [in_all_lanes(builder.load(builder.gep(key, [_WORD(at)]))) for at in range(8)]
        low, high = ir.Constant(narrow, ir.Undefined), ir.Constant(narrow, ir.Undefined)
        for lane in range(LANES):
            below, above = halves(builder.add(arguments[2], _DRAW(lane)))
            low = builder.insert_element(low, below, _WORD(lane))
            high = builder.insert_element(high, above, _WORD(lane))
        begin += [low, high, *map(in_all_lanes, halves(arguments[1]))]
        places = [cgutils.alloca_once_value(builder, vector) for vector in begin]
        with cgutils.for_range(builder, _DRAW(10)):
            x = [builder.load(place) for place in places]
            for quarter in (*_COLUMNS, *_DIAGONALS):
                _quarter(builder, x, *quarter)
            for vector, place in zip(x, places, strict=True):
                builder.store(vector, place)
        # The input is added once more: the rounds alone can be undone, and would reveal the key.
        for at, (vector, place) in enumerate(zip(begin, places, strict=True)):
            row = builder.bitcast(builder.gep(words, [_WORD(at * LANES)]), narrow.as_pointer())
            builder.store(builder.add(builder.load(place), vector), row, align=4)
        return context.get_dummy_value()

    return signature, generate


def _quarter(builder, x, a, b, c, d):
    """Mix four words of the state; a rotation is two shifts, which the compiler knows."""
    for into, other, turned, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        x[into] = builder.add(x[into], x[other])
        mixed = builder.xor(x[turned], x[into])
        left, right = (ir.Constant(mixed.type, [shift] * LANES) for shift in (bits, 32 - bits))
        x[turned] = builder.or_(builder.shl(mixed, left), builder.lshr(mixed, right))


@compiled
def fill(key, stream, first, words):
    """Fill ``words`` (16 rows of LANES words of 32 bits) with the blocks from ``first`` on, a block to a column.

    ``key`` holds eight words of 32 bits.
    """
    _blocks(key, np.uint64(stream), np.uint64(first), words)
