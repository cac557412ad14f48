"""Privacy degree: groups and counts tie nobody to a sensitive item with more than 1/p (Ghinita, Tao & Kalnis 2008)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import SchemaError
from discreet.core.guarantee import Guarantee, failing_share
from discreet.core.params import Constraints, IntIn
from discreet.core.tables.groups import Groups, SensitiveCounts


@public
@dataclass(frozen=True, repr=False)
class PrivacyDegree(Guarantee):
    """In every group at most one in ``p`` holds the same sensitive item.

    A group of |G| baskets of which f hold an item s has the degree |G|/f for s, and the least of these over all
    sensitive items; a group without any has an infinite one. A basket may hold any number of sensitive items. In
    groups of rows the values of every sensitive column count, null among them. The comparison is of whole numbers.

    Baskets that are published without any ordinary item stand out: unless baskets may be empty, each holds a sensitive
    one. Where a group has such baskets beside others, its degree is 1 over the highest probability with which one of
    its baskets holds an item, whatever the attacker knows of the number of baskets that were empty before.

    The probability is that of an attacker who has the published groups and counts, and for whom all arrangements of the
    sensitive items within a group are equally likely. Reasoning about how a method formed the groups may add to it; the
    pages of the methods and their cautions say where.

    Parameters
    ----------
    p
        The least degree of every group: nobody is tied to a sensitive item above 1 in p.

    References
    ----------
    G. Ghinita, Y. Tao, P. Kalnis: On the anonymization of sparse high-dimensional data. ICDE 2008.

    Examples
    --------
    The paper's two groups of three and two customers, one of each with a sensitive item:

    >>> from discreet import Baskets
    >>> from discreet import GroupedBaskets
    >>> groups = GroupedBaskets.of(Baskets.from_lists([["wine"]] * 5), [0, 0, 0, 1, 1], Baskets.from_lists(
    ...     [["viagra"], [], [], [], ["pregnancy test"]]))
    >>> print(PrivacyDegree(2).check(groups))
    PrivacyDegree(p=2): verified (privacy degree 2, required >= 2)
    >>> PrivacyDegree(3).holds(groups.groups()).tolist()
    [True, False]
    """

    p: int

    tolerance: ClassVar[float] = 0.0
    measured: ClassVar[str] = "privacy degree"
    constraints: ClassVar[Constraints] = {"p": IntIn(1)}

    def columns(self, sensitive: Sequence[str]) -> tuple[str, ...]:
        """Name those of a table's sensitive columns that the guarantee looks at: all of them."""
        if not sensitive:
            raise SchemaError("PrivacyDegree needs a sensitive column, but none is named.")
        return tuple(sensitive)

    def measure(self, groups: Groups) -> FloatArray:
        """Return the degree of every group, unrounded; infinite where nothing sensitive is held."""
        most = _most(groups)
        degree = np.full(groups.n_groups, np.inf)
        np.divide(_sizes(groups), most, out=degree, where=most > 0)
        return degree

    def failing_at_least(self, groups: Groups, *, moved: float = 0.0) -> FloatArray:
        """Bound from below how many rows of each group fail, however it is divided: parts that keep it hold n/p."""
        share = _most(groups) / groups.sizes
        return failing_share(share, 1 / self.p, 1.0) * groups.sizes

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        if self.p == 1:
            return "Anybody may be tied to a sensitive item with certainty."
        return (
            f"From the published groups and counts, nobody can be tied to a sensitive item with a probability above "
            f"1/{self.p}, as long as all arrangements of a group's sensitive items over its members are equally likely."
        )

    def _passes(self, measure: FloatArray, groups: Groups) -> BoolArray:
        # p·most is whole, so what a size is above a whole number does not matter.
        sizes = _sizes(groups).astype(np.int64)
        return np.asarray(_most(groups) <= sizes // min(self.p, np.iinfo(np.int64).max))


def _sizes(groups: Groups) -> IntArray | FloatArray:
    """Return by how many members each group hides its sensitive items."""
    return groups.sizes if groups.effective_sizes is None else groups.effective_sizes


def _most(groups: Groups) -> IntArray:
    """Count how often each group holds the sensitive item it holds most often."""
    if groups.items is not None:
        return _highest(groups.items)
    if not groups.sensitive:
        raise SchemaError("PrivacyDegree needs sensitive items or a sensitive column, but none is named.")
    return np.asarray(np.max([_highest(counts) for counts in groups.sensitive.values()], axis=0))


def _highest(counts: SensitiveCounts) -> IntArray:
    highest = np.zeros(counts.n_groups, np.int64)
    nonempty = np.flatnonzero(np.diff(counts.indptr))
    if nonempty.size:
        highest[nonempty] = np.maximum.reduceat(counts.counts, counts.indptr[nonempty])
    return highest
