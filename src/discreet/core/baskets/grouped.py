"""GroupedBaskets: exact ordinary items, sensitive items as counts per group; how well a group hides an item."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import IntIn, require
from discreet.core.tables.groups import Groups, SensitiveCounts
from discreet.kernels.ragged import bounds

# Effective sizes of groups: what baskets that are published without any ordinary item reveal about sensitive ones.
#
# A group has N baskets, E of them published empty, and c_j of them hold the sensitive item j. Where no original basket
# was empty, each of the E holds at least one of the occurrences. All arrangements that fit are equally likely; the
# number of those in which E baskets are covered is, by inclusion and exclusion,
#
#     T = Σ_i (−1)^i C(E, i) Π_j C(N − i, c_j),
#
# and the number of those in which in addition a given one of the E holds j is
#
#     A_j = Σ_i (−1)^i C(E − 1, i) C(N − 1 − i, c_j − 1) Π_{k≠j} C(N − i, c_k)
#         = c_j Σ_i (−1)^i C(E − 1, i) Π_k C(N − i, c_k)/(N − i).
#
# So the probability A_j/T is in proportion to c_j, and the group hides every item as one of c_j·T/A_j baskets would.
# An attacker may also know that some original baskets were empty. The more of them there are in a group, the less
# likely one of the E is to hold j, and the more likely a basket with ordinary items: the two ends are the worst.


_MOST_WORK = 2e8
"""The digits of exact sums that are worth their time; beyond, a bound from below is taken."""
_DIGIT = 30
"""The bits of a digit of Python's integers."""


def effective_sizes(sizes: IntArray, empty: IntArray, sensitive: SensitiveCounts) -> FloatArray:
    """Return for every group the size e that bounds what it reveals: no basket holds item j with more than c_j/e.

    It holds for every attacker for whom the arrangements within a group are equally likely, whatever he knows of the
    number of original baskets without any item. Without baskets that are published empty, or with no others, e is the
    size. Elsewhere e is exact, or smaller where it would take too long, and rounded down.
    """
    effective = sizes.astype(np.float64)
    for group in np.flatnonzero((empty > 0) & (empty < sizes) & (np.diff(sensitive.indptr) > 0)):
        counts = sensitive.counts[sensitive.indptr[group] : sensitive.indptr[group + 1]]
        effective[group] = _mixed(int(sizes[group]), int(empty[group]), tuple(sorted(counts.tolist())))
    return effective


@cache
def _mixed(size: int, empty: int, counts: tuple[int, ...]) -> float:
    """Return the effective size of a group of which some baskets are published empty, and some are not."""
    # All occurrences may lie among the others, where they are enough; else these hold the commonest item for certain.
    others = max(size - empty, counts[-1])
    # With fewer occurrences than empty baskets, the attacker's worst case is that each occurrence is in one of those.
    covered = Fraction(empty) if sum(counts) <= empty else _covered(size, empty, counts)
    exact = min(covered, Fraction(others))
    rounded = float(exact)
    return rounded if Fraction(rounded) <= exact else math.nextafter(rounded, 0.0)


def _covered(size: int, empty: int, counts: tuple[int, ...]) -> Fraction:
    """Return c·T/A of the module's formulas, in whole numbers: the terms cancel, and floating point would lose them.

    Each product of binomials follows from the one before it: E steps over numbers of as many digits as the largest.
    """
    digits = sum(_log2_comb(size, count) for count in counts) / _DIGIT
    if empty * digits * (len(counts) + empty / _DIGIT) > _MOST_WORK:
        return Fraction(empty)  # A_j/T ≤ c_j/E, since at most c_j of the E hold j.
    most = counts[-1]
    product = math.prod(math.comb(size, count) for count in counts)
    choose, choose_rest = 1, 1
    covered, holding = 0, 0
    for i in range(empty + 1):
        sign, rest = (-1) ** i, size - i
        covered += sign * choose * product
        # Both quotients are whole: c C(n, c)/n = C(n - 1, c - 1), and C(n - 1, c) = C(n, c) (n - c)/n for
        # each item.
        holding += sign * choose_rest * (product * most // rest)
        product = product * math.prod(rest - count for count in counts) // rest ** len(counts)
        if product == 0:
            break
        choose = choose * (empty - i) // (i + 1)
        choose_rest = choose_rest * (empty - 1 - i) // (i + 1)
    return Fraction(most * covered, holding)


def _log2_comb(n: int, k: int) -> float:
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(2)


MOST_ITEMS = 20
"""The most items that can be grouped by at once: a cell for every combination of them."""


@public
@dataclass(frozen=True, repr=False, eq=False)
class GroupedBaskets:
    """Published baskets: what the two files of a release hold, and nothing else.

    Parameters
    ----------
    baskets
        The baskets with their ordinary items alone.
    group
        The number of each basket's group, from 0 on without a gap.
    sensitive
        How many baskets of each group hold each sensitive item; an item that none holds has no entry.
    sensitive_names
        The names of the sensitive items, in the order of their codes.

    Examples
    --------
    The five customers of the paper and their groups (figure 1c). Who buys cream but no meat also buys a pregnancy test:
    one of one in truth, and half of one as estimated from the release (equation 2).

    >>> customers = Baskets.from_lists([
    ...     ["wine", "meat"], ["wine", "meat"], ["wine", "meat", "cream"],
    ...     ["meat", "strawberries"], ["cream", "strawberries"]])
    >>> published = GroupedBaskets.of(customers, [0, 0, 0, 1, 1], Baskets.from_lists(
    ...     [["viagra"], [], [], [], ["pregnancy test"]]))
    >>> published
    GroupedBaskets(5 baskets, 2 groups, 4 ordinary items, 2 sensitive items)
    >>> published.count("pregnancy test", with_items=["cream"], without_items=["meat"])
    0.5
    >>> published.cells("pregnancy test", ["cream", "meat"])
    array([[0. , 0.5],
           [0.5, 0. ]])
    >>> published.count(None, with_items=["strawberries", "cream"])
    1.0
    """

    baskets: Baskets
    group: CodeArray
    sensitive: SensitiveCounts
    sensitive_names: pa.Array

    def __post_init__(self) -> None:
        group = np.ascontiguousarray(self.group, np.int32)
        object.__setattr__(self, "group", group)
        sensitive = self.sensitive
        if group.shape != (len(self.baskets),) or (group.size and group.min() < 0):
            raise InputError("Every basket needs the number of its group, from 0 on.")
        if (self.sizes == 0).any() or sensitive.n_groups != self.sizes.size:
            raise InputError("The groups of the baskets and of the sensitive counts are not the same.")
        if sensitive.values.size and (
            sensitive.values.min() < 0 or sensitive.values.max() >= len(self.sensitive_names)
        ):
            raise InputError("A group holds a sensitive item that has no name.")
        if (sensitive.counts < 1).any() or (sensitive.counts > self.sizes[sensitive.group]).any():
            raise InputError(
                "A group cannot have more holders of a sensitive item than baskets, nor fewer than one."
            )
        keys = sensitive.group * max(len(self.sensitive_names), 1) + sensitive.values
        if (np.diff(keys) <= 0).any():
            raise InputError("The sensitive items of a group must be in ascending order, each once.")

    @classmethod
    def of(cls, ordinary: Baskets, group: Iterable[int] | CodeArray, sensitive: Baskets) -> GroupedBaskets:
        """Group baskets whose sensitive items are given beside their ordinary ones, and count those per group."""
        numbers = np.asarray(group, np.int32)
        fitting = numbers.shape == (len(ordinary),) and len(sensitive) == len(ordinary)
        if not fitting or numbers.min(initial=0) < 0:
            raise InputError("Every basket needs its ordinary items, its sensitive items and its group.")
        n_groups, m = int(numbers.max(initial=-1)) + 1, max(sensitive.n_items, 1)
        keys, counts = np.unique(
            numbers[sensitive.rows()].astype(np.int64) * m + sensitive.items, return_counts=True
        )
        groups, values = np.divmod(keys, m)
        return cls(
            ordinary,
            numbers,
            group_item_counts(groups, values, counts, n_groups=n_groups, n_items=sensitive.n_items),
            sensitive.names,
        )

    @property
    def ordinary(self) -> Baskets:
        """The items that are published exactly."""
        return self.baskets

    def text_frames(self) -> Iterator[pa.Table]:
        """Iterate over frames that hold every text: ordinary items, then sensitive ones."""
        yield from self.baskets.text_frames()
        yield pa.table({"item": self.sensitive_names.take(pa.array(np.unique(self.sensitive.values)))})

    @cached_property
    def sizes(self) -> IntArray:
        """The number of baskets of each group."""
        return np.bincount(self.group, minlength=self.sensitive.n_groups).astype(np.int64)

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return int(self.sizes.size)

    @cached_property
    def effective_sizes(self) -> FloatArray:
        """The size by which each group hides its sensitive items: c baskets hold one with at most c/size each.

        Smaller than the size of a group only where some of its baskets are published without any ordinary item: unless
        baskets may be empty, these hold a sensitive one.
        """
        empty = np.bincount(self.group[self.baskets.lengths == 0], minlength=self.n_groups)
        return effective_sizes(self.sizes, empty, self.sensitive)

    def groups(self) -> Groups:
        """Return the groups as guarantees judge them.

        A sensitive item that stands among a basket's ordinary ones is known of that basket for certain, and so counts
        for the whole group.
        """
        group, code = self._exposed()
        if group.size == 0:
            return Groups(self.sizes, items=self.sensitive, effective_sizes=self.effective_sizes)
        m = len(self.sensitive_names)
        exposed = group * m + code
        keys = np.concatenate([self.sensitive.group * m + self.sensitive.values, exposed])
        counts = np.concatenate([self.sensitive.counts, self.sizes[group]])
        # A group and item that are in both come together, the size last: it is the larger count.
        order = np.lexsort((counts, keys))
        last = np.flatnonzero(np.diff(keys[order], append=-1) != 0)
        groups, values = np.divmod(keys[order][last], m)
        items = group_item_counts(groups, values, counts[order][last], n_groups=self.n_groups, n_items=m)
        effective = self.effective_sizes.copy()
        effective[group] = self.sizes[group]
        return Groups(self.sizes, items=items, effective_sizes=effective)

    def _exposed(self) -> tuple[IntArray, IntArray]:
        """Return the groups and codes of sensitive items that stand among ordinary ones, each pair once."""
        names = self.sensitive_names.cast(pa.string())
        same = pc.index_in(self.baskets.names.cast(pa.string()), value_set=names).fill_null(-1)
        code = np.asarray(same, np.int64)[self.baskets.items]
        entries = np.flatnonzero(code >= 0)
        rows = np.searchsorted(self.baskets.indptr, entries, side="right") - 1
        m = max(len(names), 1)
        pairs = np.unique(self.group[rows].astype(np.int64) * m + code[entries])
        group, value = np.divmod(pairs, m)
        return group, value

    def chance(self, sensitive: Any) -> FloatArray:
        """Return the chance that each basket holds a sensitive item: its share in the basket's group."""
        names = Baskets(np.zeros(1, np.int64), np.empty(0, np.int32), self.sensitive_names)
        code = names.codes_of([sensitive], parameter="sensitive")[0]
        entries = self.sensitive.values == code
        share = np.zeros(self.n_groups)
        share[self.sensitive.group[entries]] = self.sensitive.counts[entries]
        return np.asarray((share / self.sizes)[self.group])

    def count(
        self, sensitive: Any, with_items: Iterable[Any] = (), without_items: Iterable[Any] = ()
    ) -> float:
        """Estimate how many baskets hold a sensitive item, some ordinary items and not some others.

        The estimate is the sum over the groups of a·b/|G|, where a of the group's |G| baskets hold the sensitive item
        and b match the ordinary ones. With None for the sensitive item the count is exact.
        """
        included = np.unique(self.baskets.codes_of(with_items, parameter="with_items"))
        unwanted = np.unique(self.baskets.codes_of(without_items, parameter="without_items"))
        value = np.zeros(self.baskets.n_items, np.int64)
        # Each wanted item adds 1, and an unwanted one more than all of these: the sum says whether a basket
        # matches.
        value[included] = 1
        value[unwanted] = included.size + 1
        matches = _sums(self.baskets, value) == included.size
        if np.isin(included, unwanted).any():
            matches = np.zeros(len(self.baskets), np.bool_)
        if sensitive is None:
            return float(np.count_nonzero(matches))
        return float(self.chance(sensitive)[matches].sum())

    def cells(self, sensitive: Any, items: Iterable[Any]) -> FloatArray:
        """Estimate the count in each of the 2^r cells that r ordinary items make.

        The answer has an axis for each item: 0 is without it, 1 is with it. With None for the sensitive item the counts
        are exact.
        """
        if sensitive is None:
            return cell_sums(self.baskets, items, np.ones(len(self.baskets)))
        chance = self.chance(sensitive)
        maybe = np.flatnonzero(chance)
        return cell_sums(self.baskets.take(maybe), items, chance[maybe])

    def to_arrow(self) -> pa.Table:
        """Return one table, a row per group: its number, its baskets, and its sensitive items with their counts."""
        order = np.argsort(self.group, kind="stable")
        chosen = self.baskets.take(order)
        lists = pa.LargeListArray.from_arrays(chosen.indptr, chosen.names.take(pa.array(chosen.items)))
        ends = bounds(self.sizes)
        names = self.sensitive_names.take(pa.array(self.sensitive.values))
        sensitive = pa.StructArray.from_arrays([names, pa.array(self.sensitive.counts)], ["item", "count"])
        return pa.table({
            "group": np.arange(self.n_groups, dtype=np.int32),
            "baskets": pa.LargeListArray.from_arrays(ends, lists),
            "sensitive": pa.LargeListArray.from_arrays(self.sensitive.indptr, sensitive),
        })  # fmt: skip

    def __len__(self) -> int:
        return len(self.baskets)

    def __repr__(self) -> str:
        return (
            f"GroupedBaskets({len(self)} baskets, {self.n_groups} groups, {self.baskets.n_items} ordinary items, "
            f"{len(self.sensitive_names)} sensitive items)"
        )


def group_item_counts(
    groups: IntArray, values: IntArray, counts: IntArray, *, n_groups: int, n_items: int
) -> SensitiveCounts:
    """Put counts per group and sensitive item, in ascending order of both, into compressed rows."""
    indptr = bounds(np.bincount(groups, minlength=n_groups))
    overall = np.bincount(values, weights=counts, minlength=n_items).astype(np.int64)
    return SensitiveCounts(
        "sensitive items", indptr, values.astype(np.int32), counts.astype(np.int64), overall
    )


def cell_sums(baskets: Baskets, items: Iterable[Any], weights: FloatArray) -> FloatArray:
    """Sum a weight per basket in each of the cells that some items make; an axis for each item, 0 without, 1 with."""
    codes = baskets.codes_of(items)
    require("cells", "the number of items", codes.size, IntIn(0, MOST_ITEMS))
    if np.unique(codes).size < codes.size:
        raise InputError("The same item is given twice.")
    value = np.zeros(baskets.n_items, np.int64)
    value[codes] = 1 << np.arange(codes.size)[::-1]
    sums = np.bincount(_sums(baskets, value), weights=weights, minlength=1 << codes.size)
    return sums.astype(np.float64).reshape((2,) * codes.size)


def _sums(baskets: Baskets, value: IntArray) -> IntArray:
    """Sum a value per item over each basket; most items have the value 0."""
    of_entry = value[baskets.items]
    nonzero = np.flatnonzero(of_entry)
    rows = np.searchsorted(baskets.indptr, nonzero, side="right") - 1
    return np.bincount(rows, weights=of_entry[nonzero], minlength=len(baskets)).astype(np.int64)
