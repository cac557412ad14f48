"""Numbers between 0 and 1, and waiting times, from ChaCha20: nobody who sees some of them can tell the others."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.chacha import DRAWS, LANES, fill
from discreet.kernels.compiled import compiled
from discreet.kernels.threads import in_threads

_SCALE = 2.0**-53
_LN2 = math.log(2.0)
_PAIRS = DRAWS // 2


def uniforms(
    key: NDArray[np.uint32], stream: int, size: int, *, threads: int | None = None
) -> NDArray[np.float64]:
    """Draw numbers strictly between 0 and 1, the first ``size`` of a stream; the same however many threads draw."""
    numbers = np.empty(size, np.float64)
    in_threads(
        lambda start, stop: _draw(key, np.uint64(stream), start, stop, numbers),
        -(-size // DRAWS),
        threads=threads,
    )
    return numbers


def exponentials(
    key: NDArray[np.uint32], stream: int, size: int, *, threads: int | None = None
) -> NDArray[np.float64]:
    """Draw exponential waiting times of mean 1, as fine in the far tail as near zero.

    The binary order of a uniform number is drawn on its own, so that the tail goes on to 64 ln 2 = 44.4, which no more
    than one in 2^64 would exceed, and no stretch of it is coarser than floating-point numbers are.
    """
    numbers = np.empty(size, np.float64)
    in_threads(
        lambda start, stop: _wait(key, np.uint64(stream), start, stop, numbers),
        -(-size // _PAIRS),
        threads=threads,
    )
    return numbers


@compiled
def _draw(key, stream, start, stop, numbers):
    words = np.empty((16, LANES), np.uint32)
    for part in range(start, stop):
        fill(key, stream, np.uint64(part * LANES), words)
        at = part * DRAWS
        for row in range(0, 16, 2):
            for lane in range(LANES):
                if at < numbers.size:
                    word = (np.uint64(words[row, lane]) << np.uint64(32)) | np.uint64(words[row + 1, lane])
                    numbers[at] = (np.float64(word >> np.uint64(12)) + 0.5) * (2.0 * _SCALE)
                at += 1


@compiled
def _wait(key, stream, start, stop, numbers):
    words = np.empty((16, LANES), np.uint32)
    for part in range(start, stop):
        fill(key, stream, np.uint64(part * LANES), words)
        at = part * _PAIRS
        for row in range(0, 16, 4):
            for lane in range(LANES):
                if at < numbers.size:
                    order = (np.uint64(words[row, lane]) << np.uint64(32)) | np.uint64(words[row + 1, lane])
                    halves = 0
                    while halves < 64 and not (order >> np.uint64(63 - halves)) & np.uint64(1):
                        halves += 1
                    rest = (np.uint64(words[row + 2, lane]) << np.uint64(32)) | np.uint64(
                        words[row + 3, lane]
                    )
                    part_of_one = 0.5 + (np.float64(rest >> np.uint64(12)) + 0.5) * _SCALE
                    numbers[at] = halves * _LN2 - math.log(part_of_one)
                at += 1
