"""Numbers between 0 and 1, and waiting times, from ChaCha20: seeing some of them does not help to predict others."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.random.chacha import DRAWS, LANES, fill
from discreet.kernels.threads import in_threads

_SCALE = 2.0**-53
_LN2 = math.log(2.0)
_PAIRS = DRAWS // 2


def uniforms(
    key: NDArray[np.uint32], stream: int, size: int, *, threads: int | None = None
) -> NDArray[np.float64]:
    """Draw numbers strictly between 0 and 1, the first ``size`` of a stream; the same however many threads draw."""
    return _drawn(_draw, DRAWS, key, stream, size, threads)


def exponentials(
    key: NDArray[np.uint32], stream: int, size: int, *, threads: int | None = None
) -> NDArray[np.float64]:
    """Draw exponential waiting times of mean 1, as fine in the far tail as near zero.

    The binary order of a uniform number is drawn on its own, so that the tail goes on to 64 ln 2 = 44.4, which no more
    than one in 2^64 would exceed, and no stretch of it is coarser than floating-point numbers are.
    """
    return _drawn(_wait, _PAIRS, key, stream, size, threads)


def _drawn(
    kernel: Callable[..., Any],
    per_part: int,
    key: NDArray[np.uint32],
    stream: int,
    size: int,
    threads: int | None,
) -> NDArray[np.float64]:
    """Draw the numbers in threads, the same number from each part of the stream."""
    numbers = np.empty(size, np.float64)
    in_threads(
        lambda start, stop: kernel(key, np.uint64(stream), start, stop, numbers),
        -(-size // per_part),
        threads=threads,
    )
    return numbers


# Number i is always draw i % 128 of part i // 128 of the stream, whoever makes it: threads do not change the
# numbers. The middles of 2^52 steps need 53 bits, so they are exact floats, and neither 0 nor 1 is among
# them.
@compiled
def _draw(key, stream, start, stop, numbers):
    words = np.empty((16, LANES), np.uint32)
    for part in range(start, stop):
        fill(key, stream, np.uint64(part * LANES), words)
        at = part * DRAWS
        for row in range(0, 16, 2):
            for lane in range(LANES):
                if at < numbers.size:
                    numbers[at] = _fraction(words, row, lane) * (2.0 * _SCALE)
                at += 1


# Inversion, -ln U, with U = 2^-halves x part: the leading zeros of one word are geometric, as binary orders
# of a uniform number are, and a second word fills the part between 1/2 and 1, whose middles round to floats,
# at the ends to 1/2 and 1.
@compiled
def _wait(key, stream, start, stop, numbers):
    words = np.empty((16, LANES), np.uint32)
    for part in range(start, stop):
        fill(key, stream, np.uint64(part * LANES), words)
        at = part * _PAIRS
        for row in range(0, 16, 4):
            for lane in range(LANES):
                if at < numbers.size:
                    order = _word(words, row, lane)
                    halves = 0
                    while halves < 64 and not (order >> np.uint64(63 - halves)) & np.uint64(1):
                        halves += 1
                    part_of_one = 0.5 + _fraction(words, row + 2, lane) * _SCALE
                    numbers[at] = halves * _LN2 - math.log(part_of_one)
                at += 1


@compiled
def _fraction(words, row, lane):
    """Return the middle of one of 2^52 equal steps, in steps."""
    return np.float64(_word(words, row, lane) >> np.uint64(12)) + 0.5


@compiled
def _word(words, row, lane):
    """Join two words of a lane to one of 64 bits."""
    return (np.uint64(words[row, lane]) << np.uint64(32)) | np.uint64(words[row + 1, lane])
