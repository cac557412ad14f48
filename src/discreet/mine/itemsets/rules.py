"""Association rules of found itemsets, with the same columns as mlxtend's."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import FloatIn, InstanceOf, OneOf, require
from discreet.mine.itemsets.found import FoundItemsets, named_lists

_MOST_ITEMS = 24
"""The longest set that is split: it has a rule for each of its 16 million parts."""


@public
def rules(found: FoundItemsets, *, metric: str = "confidence", min_threshold: float = 0.8) -> pa.Table:
    """Split the found itemsets into antecedents and consequents, and keep the rules that are strong enough.

    With s for the supports, A for the antecedents and C for the consequents:

    - confidence = s(A C) / s(A), lift = confidence / s(C), leverage = s(A C) - s(A) s(C)
    - conviction = (1 - s(C)) / (1 - confidence), infinite where the confidence is 1
    - zhangs_metric = leverage / max(s(A C) (1 - s(A)), s(A) (s(C) - s(A C)))
    - jaccard = s(A C) / (s(A) + s(C) - s(A C)), certainty = (confidence - s(C)) / (1 - s(C))
    - kulczynski = (confidence + s(A C) / s(C)) / 2
    - representativity = 1: the share of the baskets without missing values, of which baskets have none

    Parameters
    ----------
    found
        Frequent itemsets. Closed or maximal ones are refused, since the supports of their subsets are not among
        them. For masked itemsets every support is an estimate: a confidence above 1 is possible, and a measure that
        would divide by an estimate that is not positive is not a number and never high enough.
    metric
        The column that is judged.
    min_threshold
        The least value of that column. What misses it by rounding alone is kept: 3 of 5 baskets are 0.6 of them.

    Returns
    -------
    pyarrow.Table
        antecedents and consequents (lists of names), antecedent support, consequent support, support, confidence,
        lift, representativity, leverage, conviction, zhangs_metric, jaccard, certainty and kulczynski; the rules of
        shorter itemsets first.

    Examples
    --------
    >>> from discreet import Baskets
    >>> from discreet.mine import Itemsets
    >>> shop = Baskets(np.array([0, 2, 5, 7]), np.array([0, 1, 0, 1, 2, 1, 2]), pa.array(["beer", "bread", "milk"]))
    >>> table = rules(Itemsets(2).mine(shop), min_threshold=0.9)
    >>> table.select(["antecedents", "consequents", "confidence"]).to_pylist()
    [{'antecedents': ['beer'], 'consequents': ['bread'], 'confidence': 1.0},
     {'antecedents': ['milk'], 'consequents': ['bread'], 'confidence': 1.0}]
    """
    from discreet.kernels.itemsets.rule_splits import METRICS, members, splits

    require("rules", "found", found, InstanceOf((FoundItemsets,), "found itemsets"))
    require("rules", "metric", metric, OneOf(METRICS))
    require("rules", "min_threshold", min_threshold, FloatIn())
    _refuse_gaps(found)
    supports = np.ascontiguousarray(found.supports)
    union, mask, before, after = splits(
        found.indptr, found.subsets, supports, METRICS.index(metric), float(min_threshold)
    )
    columns = {}
    for name, side in (("antecedents", 1), ("consequents", 0)):
        bounds, items = members(found.indptr, found.codes, union, mask, side)
        columns[name] = named_lists(bounds, items, found.names)
    return pa.table(columns | _measures(supports[union], supports[before], supports[after]))


def _refuse_gaps(itemsets: FoundItemsets) -> None:
    if itemsets.kind != "frequent":
        raise InputError(
            f"Rules need the supports of all subsets, and {itemsets.kind} itemsets leave most of them out; "
            "mine with kind='frequent'."
        )
    # Sets of one item have the empty set below them, which is never among those found.
    if (itemsets.subsets[np.repeat(itemsets.lengths > 1, itemsets.lengths)] < 0).any():
        raise InputError("Rules need the supports of all subsets, and some of them were left out.")
    longest = int(itemsets.lengths.max(initial=0))
    if longest > _MOST_ITEMS:
        raise InputError(f"Rules are made of sets of at most {_MOST_ITEMS} items; mine with max_length.")


def _measures(both: FloatArray, left: FloatArray, right: FloatArray) -> dict[str, FloatArray]:
    """Work out the columns; the operations and their order are those of the judged metric."""
    defined = (left > 0) & (right > 0)
    before, after = np.where(defined, left, np.nan), np.where(defined, right, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        confidence = both / before
        zhang = np.maximum(both * (1 - before), before * (after - both))
        either = before + after - both
        return {
            "antecedent support": left,
            "consequent support": right,
            "support": both,
            "confidence": confidence,
            "lift": confidence / after,
            "representativity": np.ones(both.size),
            "leverage": both - left * right,
            "conviction": np.where(confidence >= 1, np.inf, (1 - after) / (1 - confidence)),
            "zhangs_metric": np.where(zhang == 0, 0.0, (both - before * after) / zhang),
            "jaccard": np.where(either == 0, np.nan, both / either),
            "certainty": np.where(after == 1, 0.0, (confidence - after) / (1 - after)),
            "kulczynski": (confidence + both / after) / 2,
        }
