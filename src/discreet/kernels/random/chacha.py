"""ChaCha20: a key stream that is indistinguishable from random without the key (Bernstein 2008).

A stream is named by a key of 256 bits and a number of 64 bits; its blocks are numbered by 64 bits. Sixteen blocks are
made at a time, one in each lane of the processor's vectors.
"""

from __future__ import annotations

import numba
import numpy as np

from discreet.kernels.compiled import compiled

LANES = 16
"""The blocks made at a time."""
DRAWS = LANES * 8
"""The words of 64 bits that they hold."""


# The rotations are shifts of 32-bit words; each step is cast back, as Numba widens what it adds or shifts.
@numba.njit(inline="always")
def _quarter(a, b, c, d):
    a = np.uint32(a + b)
    d = np.uint32(d ^ a)
    d = np.uint32((d << np.uint32(16)) | (d >> np.uint32(16)))
    c = np.uint32(c + d)
    b = np.uint32(b ^ c)
    b = np.uint32((b << np.uint32(12)) | (b >> np.uint32(20)))
    a = np.uint32(a + b)
    d = np.uint32(d ^ a)
    d = np.uint32((d << np.uint32(8)) | (d >> np.uint32(24)))
    c = np.uint32(c + d)
    b = np.uint32(b ^ c)
    b = np.uint32((b << np.uint32(7)) | (b >> np.uint32(25)))
    return a, b, c, d


@numba.njit(inline="always")
def _two_rounds(x):
    x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15 = x
    x0, x4, x8, x12 = _quarter(x0, x4, x8, x12)
    x1, x5, x9, x13 = _quarter(x1, x5, x9, x13)
    x2, x6, x10, x14 = _quarter(x2, x6, x10, x14)
    x3, x7, x11, x15 = _quarter(x3, x7, x11, x15)
    x0, x5, x10, x15 = _quarter(x0, x5, x10, x15)
    x1, x6, x11, x12 = _quarter(x1, x6, x11, x12)
    x2, x7, x8, x13 = _quarter(x2, x7, x8, x13)
    x3, x4, x9, x14 = _quarter(x3, x4, x9, x14)
    return x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15


# Bernstein's layout: constants "expand 32-byte k", key, a counter and a stream number of 64 bits each (RFC
# 8439 has 32 and 96). Lanes differ in the counter alone, so that the loop over them is vectorized: twenty
# rounds for 16 blocks at once.
@compiled
def fill(key, stream, first, words):
    """Fill ``words`` (16 rows of LANES words of 32 bits) with the blocks from ``first`` on, a block to a column.

    ``key`` holds eight words of 32 bits.
    """
    s0, s1 = np.uint32(0x61707865), np.uint32(0x3320646E)
    s2, s3 = np.uint32(0x79622D32), np.uint32(0x6B206574)
    k0, k1, k2, k3, k4, k5, k6, k7 = key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7]
    n0, n1 = np.uint32(stream), np.uint32(stream >> np.uint64(32))
    for lane in range(LANES):
        block = first + np.uint64(lane)
        c0, c1 = np.uint32(block), np.uint32(block >> np.uint64(32))
        x = (s0, s1, s2, s3, k0, k1, k2, k3, k4, k5, k6, k7, c0, c1, n0, n1)
        x = _two_rounds(_two_rounds(_two_rounds(_two_rounds(_two_rounds(x)))))
        x = _two_rounds(_two_rounds(_two_rounds(_two_rounds(_two_rounds(x)))))
        # The input is added once more: the rounds alone can be undone, and would reveal the key.
        words[0, lane] = x[0] + s0
        words[1, lane] = x[1] + s1
        words[2, lane] = x[2] + s2
        words[3, lane] = x[3] + s3
        words[4, lane] = x[4] + k0
        words[5, lane] = x[5] + k1
        words[6, lane] = x[6] + k2
        words[7, lane] = x[7] + k3
        words[8, lane] = x[8] + k4
        words[9, lane] = x[9] + k5
        words[10, lane] = x[10] + k6
        words[11, lane] = x[11] + k7
        words[12, lane] = x[12] + c0
        words[13, lane] = x[13] + c1
        words[14, lane] = x[14] + n0
        words[15, lane] = x[15] + n1
