"""Association rules of found itemsets: every way to split a set in two, kept where a measure is high enough."""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiled import compiled

METRICS = (
    "antecedent support",
    "consequent support",
    "support",
    "confidence",
    "lift",
    "representativity",
    "leverage",
    "conviction",
    "zhangs_metric",
    "jaccard",
    "certainty",
    "kulczynski",
)
_ROUNDING = 1e-12
"""A measure that misses the threshold by less has missed it by rounding alone: 3/5 is 0.6."""


# O(2^length) for each set, which is the number of its splits. Written so that NaN, which compares false, is
# no rule.
@compiled
def splits(indptr, subsets, supports, metric, threshold):
    """Return rules: the set of each, a bit per item of its antecedent, and the numbers of antecedent and consequent.

    ``subsets`` holds, for every item of every set, the number of the set without it.
    """
    sets, mask = np.empty(1024, np.int64), np.empty(1024, np.int64)
    before, after = np.empty(1024, np.int64), np.empty(1024, np.int64)
    size = 0
    least = threshold - _ROUNDING * max(1.0, abs(threshold))
    number_of = np.empty(4, np.int64)
    for number in range(indptr.size - 1):
        length = indptr[number + 1] - indptr[number]
        if length < 2:
            continue
        full = (1 << length) - 1
        if number_of.size <= full:
            number_of = np.empty(full + 1, np.int64)
        _number_all(indptr, subsets, number, length, number_of)
        for antecedent in range(full - 1, 0, -1):
            a, c = number_of[antecedent], number_of[full ^ antecedent]
            if not _measured(metric, supports[number], supports[a], supports[c]) >= least:
                continue
            if size == sets.size:
                sets, mask = np.concatenate((sets, sets)), np.concatenate((mask, mask))
                before, after = np.concatenate((before, before)), np.concatenate((after, after))
            sets[size], mask[size], before[size], after[size] = number, antecedent, a, c
            size += 1
    return sets[:size].copy(), mask[:size].copy(), before[:size].copy(), after[:size].copy()


# Dynamic programming over masks, from the full set down: a subset is reached from the one with its lowest
# missing item, whose mask is larger and therefore done. One look at ``subsets`` each, no search.
@compiled
def _number_all(indptr, subsets, number, length, number_of):
    """Find the numbers of all subsets of a set: each is one found before, without one item."""
    full = (1 << length) - 1
    number_of[full] = number
    for mask in range(full - 1, 0, -1):
        left_out = 0
        while (mask >> left_out) & 1:
            left_out += 1
        rank = 0
        for item in range(left_out):
            rank += (mask >> item) & 1
        number_of[mask] = subsets[indptr[number_of[mask | (1 << left_out)]] + rank]


@compiled
def _measured(metric, support, antecedent, consequent):
    """Compute one measure of a rule from the three supports, as the table does; a division by nothing is no number."""
    if metric == 0:
        return antecedent
    if metric == 1:
        return consequent
    if metric == 2:
        return support
    if metric == 5:
        return 1.0
    if metric == 6:
        return support - antecedent * consequent
    if antecedent <= 0.0 or consequent <= 0.0:
        return np.nan
    confidence = support / antecedent
    if metric == 3:
        return confidence
    if metric == 4:
        return confidence / consequent
    if metric == 7:
        return (1.0 - consequent) / (1.0 - confidence) if confidence < 1.0 else np.inf
    if metric == 8:
        below = max(support * (1.0 - antecedent), antecedent * (consequent - support))
        return (support - antecedent * consequent) / below if below != 0.0 else 0.0
    if metric == 9:
        either = antecedent + consequent - support
        return support / either if either != 0.0 else np.nan
    if metric == 10:
        return (confidence - consequent) / (1.0 - consequent) if consequent != 1.0 else 0.0
    return (confidence + support / consequent) / 2.0


@compiled
def members(indptr, codes, sets, mask, wanted):
    """Write the items of the rules' antecedents (wanted 1) or consequents (wanted 0), as CSR arrays."""
    bounds = np.zeros(sets.size + 1, np.int64)
    for rule in range(sets.size):
        size = 0
        for item in range(indptr[sets[rule] + 1] - indptr[sets[rule]]):
            size += ((mask[rule] >> item) & 1) == wanted
        bounds[rule + 1] = bounds[rule] + size
    items = np.empty(bounds[-1], np.int32)
    position = 0
    for rule in range(sets.size):
        start = indptr[sets[rule]]
        for item in range(indptr[sets[rule] + 1] - start):
            if ((mask[rule] >> item) & 1) == wanted:
                items[position] = codes[start + item]
                position += 1
    return bounds, items
