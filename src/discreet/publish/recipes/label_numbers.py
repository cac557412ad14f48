"""Label numbers: which label each group of a recipe shows, as text; a list of JSON numbers takes many times as long.

The text is Base64 of whole numbers, little-endian, each of as few bytes (1, 2 or 4) as the number of labels needs.
Recipes that hold lists of numbers are read as well.
"""

from __future__ import annotations

import binascii
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import CodeArray


def _width(n_labels: int) -> np.dtype[Any]:
    """Return the type of the numbers of so many labels."""
    return np.dtype(np.min_scalar_type(max(n_labels - 1, 0))).newbyteorder("<")


def packed(numbers: NDArray[Any], n_labels: int) -> str:
    """Write numbers of labels as text.

    >>> packed(np.array([0, 2, 1]), 3)
    'AAIB'
    """
    return binascii.b2a_base64(numbers.astype(_width(n_labels)).tobytes(), newline=False).decode()


def group_labels(entry: Mapping[str, Any]) -> CodeArray:
    """Return which of the labels, or lists of branches, of an entry each group has; a ValueError where it is damaged.

    >>> [group_labels({"labels": ["a", "b", "c"], "index": index}).tolist() for index in ("AAIB", [0, 2, 1])]
    [[0, 2, 1], [0, 2, 1]]
    """
    written, n_labels = entry.get("index"), len(entry["branches" if "branches" in entry else "labels"])
    numbers: NDArray[Any]
    if isinstance(written, str):
        numbers = np.frombuffer(binascii.a2b_base64(written, strict_mode=True), _width(n_labels))
    elif isinstance(written, list) and all(type(number) is int and 0 <= number < 2**31 for number in written):
        numbers = np.array(written, np.int64)
    else:
        raise ValueError("neither text nor a list of numbers")
    if numbers.size == 0 or numbers.max() >= n_labels:
        raise ValueError("no number, or one of no label")
    return numbers.astype(np.int32)
