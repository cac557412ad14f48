"""Sketches of unequal lengths compared: dot products, squared distances and cosines on their common components.

Sketches to compare with are arranged in blocks, longest first, a row of the block for each component: what reaches
component j is then the beginning of row j, and one loop over it fills the processor's vectors.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiled import compiled
from discreet.kernels.threads import in_threads

KINDS = {"dot": 0, "squared distance": 1, "cosine": 2}
# The scores of a block, 2 KiB of floats, stay in the first cache while all components are added up.
_BLOCK = 256

Values = NDArray[np.float64]
Components = NDArray[np.float64] | NDArray[np.int8] | NDArray[np.int16]
Numbers = NDArray[np.int64]


def compare_all(
    values: Components, indptr: Numbers, others: Components, bounds: Numbers, kind: str
) -> Values:
    """Compare every sketch of the first with every one of the second: a matrix."""
    values, others = _floats(values), _floats(others)
    scores = np.empty((indptr.size - 1, bounds.size - 1), np.float64)
    blocks = list(_blocks(others, bounds))

    def work(start: int, stop: int) -> None:
        for block, lengths, places in blocks:
            _compare(values, indptr, block, lengths, places, KINDS[kind], scores, start, stop)

    in_threads(work, indptr.size - 1)
    return scores


def compare_pairs(
    values: Components, indptr: Numbers, others: Components, bounds: Numbers, kind: str
) -> Values:
    """Compare sketch i with sketch i; a single one on either side is compared with each."""
    values, others = _floats(values), _floats(others)
    n = 0 if 0 in (indptr.size - 1, bounds.size - 1) else max(indptr.size, bounds.size) - 1
    scores = np.empty(n, np.float64)
    in_threads(
        lambda start, stop: _pairs(values, indptr, others, bounds, KINDS[kind], scores, start, stop), n
    )
    return scores


def nearest_by_distance(
    values: Components,
    indptr: Numbers,
    others: Components,
    bounds: Numbers,
    kind: str,
    k: int,
    *,
    shrink: float = 0.0,
    centers: Values | None = None,
) -> tuple[Values, Numbers]:
    """Find the k nearest of the second for each sketch of the first: scores and places, nearest first.

    Nearest is the least squared distance, or the greatest dot product or cosine; of equal ones, the first. Where
    fewer than k can be compared, the rest are at −1 and have the score NaN. A score from m components is moved
    toward its sketch's center: what it differs by is multiplied by m/(m + shrink).
    """
    values, others = _floats(values), _floats(others)
    n = indptr.size - 1
    middle = np.zeros(n) if centers is None else centers
    scores, places = np.full((n, k), np.inf), np.full((n, k), -1, np.int64)
    blocks = list(_blocks(others, bounds))

    def work(start: int, stop: int) -> None:
        for block, lengths, home in blocks:
            _nearest(
                values, indptr, block, lengths, home, KINDS[kind], shrink, middle, scores, places, start, stop
            )

    in_threads(work, n)
    scores[places < 0] = np.nan
    return scores if kind == "squared distance" else -scores, places


def mean_scores(
    values: Components, indptr: Numbers, others: Components, bounds: Numbers, kind: str
) -> Values:
    """Return the mean score of every sketch of the first over all of the second, each as often as components it has.

    Where nothing can be compared it is 0.
    """
    values, others = _floats(values), _floats(others)
    n = indptr.size - 1
    sums, weights = np.zeros(n), np.zeros(n)
    blocks = list(_blocks(others, bounds))

    def work(start: int, stop: int) -> None:
        for block, lengths, _ in blocks:
            _add_scores(values, indptr, block, lengths, KINDS[kind], sums, weights, start, stop)

    in_threads(work, n)
    return sums / np.maximum(weights, 1)


def component_sums(
    values: Components, indptr: Numbers, labels: Numbers, n: int, width: int
) -> tuple[Values, Numbers]:
    """Add up the components of the sketches of each label, and count how many have each component."""
    sums, counts = np.zeros((n, width), np.float64), np.zeros((n, width), np.int64)
    _add_up(_floats(values), indptr, labels, sums, counts)
    return sums, counts


def _floats(values: Components) -> Values:
    return np.asarray(values, np.float64)


def _blocks(values: Values, bounds: Numbers) -> Iterator[tuple[Values, Numbers, Numbers]]:
    """Arrange sketches in blocks, a row for each component, longest first."""
    lengths = np.diff(bounds)
    order = np.argsort(-lengths, kind="stable")
    for start in range(0, order.size, _BLOCK):
        places = order[start : start + _BLOCK]
        block = np.zeros((int(lengths[places[0]]), places.size), np.float64)
        _arrange(values, bounds, places, block)
        yield block, lengths[places], places


@compiled
def _arrange(values, bounds, places, block):
    for column in range(places.size):
        first = bounds[places[column]]
        for j in range(bounds[places[column] + 1] - first):
            block[j, column] = values[first + j]


# Lengths descend, so the sketches with a component j are the first ``active`` of the block. That shrinks as
# j grows and never reaches 0: j stays below the length of the first, which is the number of rows of the
# block. Time O(common components x block); no branch inside the innermost loops, which the compiler
# therefore vectorizes.
@compiled
def _score_block(query, block, lengths, kind, scores, squares, prefix):
    """Score one sketch against a block, into ``scores``; NaN where there is no common component."""
    n = lengths.size
    for t in range(n):
        scores[t] = 0.0
        squares[t] = 0.0
    active = n
    query_square = 0.0
    common = min(query.size, block.shape[0])
    for j in range(common):
        while lengths[active - 1] <= j:
            active -= 1
        row = block[j]
        q = query[j]
        query_square += q * q
        # The cosine is that of the common components alone: each partner needs the norm of another prefix.
        prefix[j] = query_square
        if kind == 1:
            for t in range(active):
                apart = q - row[t]
                scores[t] += apart * apart
        elif kind == 0:
            for t in range(active):
                scores[t] += q * row[t]
        else:
            for t in range(active):
                scores[t] += q * row[t]
                squares[t] += row[t] * row[t]
    for t in range(n):
        shared = min(query.size, lengths[t])
        if shared == 0:
            scores[t] = np.nan
        elif kind < 2:
            scores[t] /= shared
        else:
            # Two roots, not the root of a product, which could overflow or vanish. Rounding may pass 1.
            size = np.sqrt(prefix[shared - 1]) * np.sqrt(squares[t])
            scores[t] = min(1.0, max(-1.0, scores[t] / size)) if size > 0 else 0.0


@compiled
def _compare(values, indptr, block, lengths, places, kind, comparisons, start, stop):
    scores = np.empty(lengths.size, np.float64)
    squares = np.empty(lengths.size, np.float64)
    prefix = np.empty(block.shape[0], np.float64)
    for row in range(start, stop):
        _score_block(values[indptr[row] : indptr[row + 1]], block, lengths, kind, scores, squares, prefix)
        for t in range(lengths.size):
            comparisons[row, places[t]] = scores[t]


# A score weighs as much as the number of components that it is the mean of: longer ones estimate better.
@compiled
def _add_scores(values, indptr, block, lengths, kind, sums, weights, start, stop):
    scores = np.empty(lengths.size, np.float64)
    squares = np.empty(lengths.size, np.float64)
    prefix = np.empty(block.shape[0], np.float64)
    for row in range(start, stop):
        query = values[indptr[row] : indptr[row + 1]]
        _score_block(query, block, lengths, kind, scores, squares, prefix)
        for t in range(lengths.size):
            shared = min(query.size, lengths[t])
            if shared > 0:
                sums[row] += shared * scores[t]
                weights[row] += shared


# The k best so far, in sorted order, one insertion at a time: O(pairs x (components + k)) at worst. Blocks
# come by length, not by number, so ties are decided by the number explicitly. NaN compares false with
# everything, so a sketch without a common component never enters.
@compiled
def _nearest(values, indptr, block, lengths, home, kind, shrink, centers, best, places, start, stop):
    scores = np.empty(lengths.size, np.float64)
    squares = np.empty(lengths.size, np.float64)
    prefix = np.empty(block.shape[0], np.float64)
    k = best.shape[1]
    for row in range(start, stop):
        query = values[indptr[row] : indptr[row + 1]]
        _score_block(query, block, lengths, kind, scores, squares, prefix)
        near, where = best[row], places[row]
        for t in range(lengths.size):
            score = scores[t]
            if shrink > 0:
                shared = min(query.size, lengths[t])
                score = centers[row] + (score - centers[row]) * (shared / (shared + shrink))
            score = score if kind == 1 else -score
            if score < near[k - 1] or (score == near[k - 1] and home[t] < where[k - 1]):
                j = k - 1
                while j > 0 and (score < near[j - 1] or (score == near[j - 1] and home[t] < where[j - 1])):
                    near[j] = near[j - 1]
                    where[j] = where[j - 1]
                    j -= 1
                near[j] = score
                where[j] = home[t]


# Each sketch of one side with that of the other, or with the only one there: by kind 0 the dot product, by 1 the
# squared distance, both for each common component, by 2 the cosine. O(common components).
@compiled
def _pairs(values, indptr, others, bounds, kind, scores, start, stop):
    for pair in range(start, stop):
        i = pair if indptr.size > 2 else 0
        k = pair if bounds.size > 2 else 0
        a = values[indptr[i] : indptr[i + 1]]
        b = others[bounds[k] : bounds[k + 1]]
        shared = min(a.size, b.size)
        total, squares, other_squares = 0.0, 0.0, 0.0
        for j in range(shared):
            total += (a[j] - b[j]) ** 2 if kind == 1 else a[j] * b[j]
            squares += a[j] * a[j]
            other_squares += b[j] * b[j]
        if shared == 0:
            scores[pair] = np.nan
        elif kind < 2:
            scores[pair] = total / shared
        else:
            size = np.sqrt(squares) * np.sqrt(other_squares)
            scores[pair] = min(1.0, max(-1.0, total / size)) if size > 0 else 0.0


@compiled
def _add_up(values, indptr, labels, sums, counts):
    for row in range(labels.size):
        label = labels[row]
        for j in range(indptr[row + 1] - indptr[row]):
            sums[label, j] += values[indptr[row] + j]
            counts[label, j] += 1
