"""Matching of classes with rows by bit sets: the rows that every column of a class admits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels import ragged
from discreet.kernels.compiled import compiled


def matched_weight(
    classes: NDArray[np.int32], admitted: list[NDArray[np.bool_]], weights: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Sum, for each class, the weights of the rows that all its labels admit.

    ``classes`` holds a label code per column; ``admitted[j][label, row]`` indicates whether column j's label admits the
    row.
    """
    bits, offsets = _packed(admitted)
    matched: NDArray[np.int64] = _matched_weight(classes, bits, offsets, weights)
    return matched


def first_match(rows: NDArray[np.int32], admitted: list[NDArray[np.bool_]]) -> NDArray[np.int32]:
    """Find, for each row, the first class that admits all its codes, or -1.

    ``rows`` holds a value code per column; ``admitted[j][value, class]`` indicates whether the class admits the value.
    """
    bits, offsets = _packed(admitted)
    matches: NDArray[np.int32] = _first_match(rows, bits, offsets)
    return matches


def _packed(admitted: list[NDArray[np.bool_]]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Pack boolean matrices over the same columns into one matrix of 64-bit words, with the first row of each."""
    width = admitted[0].shape[1]
    words = max((width + 63) // 64, 1)
    offsets = ragged.bounds([len(matrix) for matrix in admitted])
    packed = np.zeros((int(offsets[-1]), words * 8), np.uint8)
    for start, matrix in zip(offsets, admitted, strict=False):
        block = np.packbits(matrix, axis=1, bitorder="little")
        packed[start : start + len(matrix), : block.shape[1]] = block
    return packed.view(np.uint64), offsets


@compiled
def _lowest_bit(word):
    position = 0
    while not word & np.uint64(1):
        word >>= np.uint64(1)
        position += 1
    return position


# O(classes x columns x rows / 64): 64 rows are admitted or not by one AND, and only those admitted by all
# are read.
@compiled
def _matched_weight(classes, bits, offsets, weights):
    matched = np.zeros(classes.shape[0], np.int64)
    for group in range(classes.shape[0]):
        for word in range(bits.shape[1]):
            common = np.uint64(0xFFFFFFFFFFFFFFFF)
            for column in range(classes.shape[1]):
                common &= bits[offsets[column] + classes[group, column], word]
                if common == np.uint64(0):
                    break
            while common != np.uint64(0):
                matched[group] += weights[word * 64 + _lowest_bit(common)]
                # Clears the lowest set bit.
                common &= common - np.uint64(1)
    return matched


# O(rows x columns x classes / 64), up to the first word with a match; bits behind the last class are 0.
@compiled
def _first_match(rows, bits, offsets):
    matches = np.full(rows.shape[0], -1, np.int32)
    for row in range(rows.shape[0]):
        for word in range(bits.shape[1]):
            common = np.uint64(0xFFFFFFFFFFFFFFFF)
            for column in range(rows.shape[1]):
                common &= bits[offsets[column] + rows[row, column], word]
                if common == np.uint64(0):
                    break
            if common != np.uint64(0):
                matches[row] = word * 64 + _lowest_bit(common)
                break
    return matches
