"""JointRules: the itemsets and rules that parties found together, as local mining returns them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.core.baskets.supports import Support, least_count
from discreet.core.boundary import public
from discreet.core.params import FloatIn, IntIn, OneOf, require
from discreet.kernels.ragged import bounds
from discreet.mine.itemsets.found import FoundItemsets
from discreet.parties.protocol import Protocol, several_runs_leak

Sets = NDArray[np.int32]
"""Sets of items of one length, a row each, in lexicographic order."""
MOST_CANDIDATES = 1 << 20
"""The most sets of one length that are counted together."""


@public
@dataclass(frozen=True, eq=False)
class JointRules:
    """The output of mining rules together.

    ``itemsets`` and ``rules`` are those that :class:`discreet.mine.Itemsets` and :func:`discreet.mine.rules` return for
    the pooled data; names of items are text. ``parties`` are those whose data is in them.

    >>> from discreet.parties import simulate
    >>> from discreet.parties.mining import AssociationRules
    >>> run = simulate(AssociationRules(5, items=("tea",)), {name: [["tea"]] * 2 for name in ("a", "b", "c")})
    >>> list(run.outputs["a"].itemsets), list(run.outputs["a"].files())
    ([(('tea',), 6)], ['itemsets.csv', 'rules.csv'])
    """

    itemsets: FoundItemsets
    rules: pa.Table = field(repr=False)
    parties: tuple[str, ...]

    def files(self) -> dict[str, Any]:
        """Return the result as files: itemsets.csv and rules.csv, lists of items as JSON."""
        from discreet.engines.formats import without_lists

        return {"itemsets.csv": without_lists(self.itemsets.table), "rules.csv": without_lists(self.rules)}


@dataclass(frozen=True, kw_only=True)
class RulesProtocol(Protocol):
    """A protocol that mines rules, and opens no count below ``min_count``."""

    min_count: int = 5

    def least(self, n: int) -> int:
        """Return the least count of a frequent set among n baskets or people: that of the support, or ``min_count``."""
        return max(least_count(self.min_support, n), self.min_count)  # type: ignore[attr-defined]

    @property
    def count_leaks(self) -> tuple[str, ...]:
        """What the counts of frequent sets show."""
        small = "The counts of frequent sets are opened, however small; a count of one points to a person."
        return (
            *((small,) if self.min_count == 1 else ()),
            f"The difference of two counts, such as of a set and a larger one, may be below {max(2, self.min_count)}.",
            several_runs_leak(self.min_count),
        )

    def result_files(self, output: JointRules) -> dict[str, Any]:
        """Return the itemsets and the rules as files."""
        return output.files()

    def cautions(self, output: JointRules) -> tuple[str, ...]:
        """Return what to consider before the rules are passed on."""
        few = (
            f"min_count = 1: the smallest count that was opened is {min(output.itemsets.counts, default=0)}."
        )
        return (few,) if self.min_count == 1 else ()


def require_thresholds(protocol: Any) -> None:
    """Raise a ParameterError unless the thresholds of mining rules are in range."""
    from discreet.kernels.itemsets.rule_splits import METRICS

    require(protocol, "min_count", protocol.min_count, IntIn(1))
    require(protocol, "min_support", protocol.min_support, Support())
    require(protocol, "min_threshold", protocol.min_threshold, FloatIn())
    require(protocol, "metric", protocol.metric, OneOf(METRICS))
    require(protocol, "max_length", protocol.max_length, IntIn(0, 24))


def joint_rules(
    protocol: Any,
    levels: Sequence[Sets],
    counts: NDArray[np.int64],
    n: int,
    names: Sequence[str],
    parties: Any,
) -> JointRules:
    """Return the frequent sets of all lengths with their counts, and their rules."""
    from discreet.mine.itemsets.rules import rules

    lengths = np.repeat([level.shape[1] for level in levels], [len(level) for level in levels]).astype(
        np.int64
    )
    codes = np.concatenate([np.empty(0, np.int32), *(level.ravel() for level in levels)]).astype(np.int32)
    indptr = bounds(lengths)
    # Items of no frequent set have no place in the result.
    used, places = np.unique(codes, return_inverse=True)
    named = pa.array([names[code] for code in used], pa.string())
    itemsets = FoundItemsets(indptr, places.astype(np.int32), counts, n, named)
    table = rules(itemsets, metric=protocol.metric, min_threshold=protocol.min_threshold)
    return JointRules(itemsets, table, tuple(parties))


def longer_candidates(frequent: Sets, *, max_length: int) -> Sets:
    """Return the sets of one item more all of whose subsets are frequent; none beyond the longest length (0: any).

    >>> longer_candidates(np.array([[0], [1], [3]], np.int32), max_length=0).tolist()
    [[0, 1], [0, 3], [1, 3]]
    """
    from discreet.core.errors import InfeasibleError
    from discreet.kernels.itemsets.candidates import join

    length = frequent.shape[1] + 1
    if len(frequent) < 2 or (max_length and length > max_length):
        return np.zeros((0, length), np.int32)
    candidates: Sets = join(frequent, most=MOST_CANDIDATES)[0]
    if len(candidates) > MOST_CANDIDATES:
        raise InfeasibleError(
            f"More than {MOST_CANDIDATES:,} sets of {length} items may be frequent, too many to count together; "
            "raise 'min_support', or bound 'max_length'."
        )
    return candidates
