"""PermMondrian: Mondrian's splits on items, with exact items published (Ghinita, Tao & Kalnis, ICDE 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.arrays import CodeArray
from discreet.core.boundary import public
from discreet.core.params import Constraints
from discreet.guarantees import PrivacyDegree
from discreet.publish.baskets.grouping import DEGREE, BasketPublisher, SplitBaskets


@public
@dataclass(repr=False, eq=False)
class PermMondrian(BasketPublisher):
    """Divide the baskets by whether they hold an item, again and again, as long as both halves keep the degree p.

    The most even split that keeps it is taken: even in baskets, and in the sensitive items, so that the halves can be
    divided further. A group without sensitive items is left whole, since nothing is lost in it. Ordinary items
    are published exactly, sensitive ones as counts per group.

    Whoever knows the method learns from each cut that was not made: both halves would not have kept the degree. That
    can tie a basket to an item with more than 1/p, and a caution of every release says so. Prefer `Anatomy` against
    such an attacker, and `Cahd` for better estimates, unless groups must be described by their items.

    Parameters
    ----------
    p
        The privacy degree: groups and counts tie nobody to a sensitive item with a probability above 1/p. A number,
        or a `PrivacyDegree`.

    Examples
    --------
    >>> from discreet import Baskets
    >>> customers = Baskets.from_lists([
    ...     ["wine", "meat", "viagra"], ["wine", "meat"], ["cream", "strawberries", "pregnancy test"],
    ...     ["meat", "strawberries"], ["wine", "meat", "cream"]])
    >>> release = PermMondrian(2, sensitive=["viagra", "pregnancy test"]).release(customers)
    >>> sorted(release.data.sizes.tolist()), release.data.count("viagra", with_items=["strawberries"])
    ([1, 2, 2], 0.0)

    References
    ----------
    G. Ghinita, Y. Tao, P. Kalnis: On the anonymization of sparse high-dimensional data. ICDE 2008.
    K. LeFevre, D. DeWitt, R. Ramakrishnan: Mondrian multidimensional k-anonymity. ICDE 2006.
    """

    p: int | PrivacyDegree

    constraints: ClassVar[Constraints] = {"p": DEGREE, **BasketPublisher.constraints}

    def _grouped(self, parts: SplitBaskets, rng: np.random.Generator) -> tuple[CodeArray, dict[str, object]]:
        del rng
        return self.groups(parts), {}

    def groups(self, parts: SplitBaskets) -> CodeArray:
        """Return the group of each basket."""
        from discreet.kernels.baskets.item_splits import item_splits

        n = len(parts.ordinary)
        if parts.held.items.size == 0:
            return np.zeros(n, np.int32)
        return item_splits(*parts.arrays, p=min(self.guarantee.p, n + 1))[0]
