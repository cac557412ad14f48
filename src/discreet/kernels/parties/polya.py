"""A Pólya urn, step by step, from random words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled


def urn_steps(drawn: int, step: int, n_steps: int, parts: int, words: NDArray[np.uint64]) -> tuple[int, int]:
    """Return how many balls the first of ``parts`` equal parts has drawn, and the step that was reached.

    In step i the first part draws the ball with the chance (1/parts + drawn) / (1 + i): a word is reduced to a uniform
    integer below parts · (1 + i), and refused where that would not be uniform. It stops where the words run out.
    """
    reached: tuple[int, int] = _steps(drawn, step, n_steps, parts, words)
    return reached


# The urn starts with one ball, 1/parts of it the first part's; times parts, its chance is a ratio of whole
# numbers, (1 + parts drawn) / (parts (1 + i)), and no float can round it. One word a step, and few are
# refused.
@compiled
def _steps(drawn, step, n_steps, parts, words):
    for word in words:
        if step == n_steps:
            break
        size = np.uint64(parts) * np.uint64(step + 1)
        # (2^64 - size) mod size is 2^64 mod size: without the words below it, size divides their number.
        if word < (np.uint64(0) - size) % size:
            continue
        if word % size < np.uint64(1) + np.uint64(parts) * np.uint64(drawn):
            drawn += 1
        step += 1
    return drawn, step
