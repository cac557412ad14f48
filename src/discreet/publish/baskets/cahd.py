"""CAHD: groups of like baskets in which sensitive items are rare (Ghinita, Tao & Kalnis, ICDE 2008)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal

import numpy as np

from discreet.core.arrays import CodeArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.boundary import public
from discreet.core.params import BOOL, Constraints, IntIn, OneOf
from discreet.guarantees import PrivacyDegree
from discreet.publish.baskets.grouping import DEGREE, BasketPublisher, SplitBaskets


@public
@dataclass(repr=False, eq=False)
class Cahd(BasketPublisher):
    """Publish ordinary items exactly, and sensitive items as counts in groups of similar baskets.

    Baskets are ordered so that similar ones are neighbors. Each sensitive basket in turn is put with p − 1 of its
    neighbors, no sensitive item occurring twice in the group; what is left at the end is one group more. A group is
    formed only where the rest can still keep the degree, so all groups have it.

    Anybody can make the order again from the published items. In the paper a basket is put with those around it that
    share most items with it, and whoever sees the group can guess, far better than by 1/p, for which basket it was
    made: the one in the middle. With ``randomize_groups`` sensitive baskets come in a random order, and each takes its
    nearest neighbors, a random number of them from before it and the others from behind it, so that it may stand
    anywhere among them. Near another holder of the same item, or near an end of the order, groups still leave traces:
    whoever knows the method may tie a basket to an item with more than 1/p, and a caution of every release says so.
    `Anatomy` draws its groups whatever baskets hold otherwise, and leaves none.

    Parameters
    ----------
    p
        The privacy degree: groups and counts tie nobody to a sensitive item with a probability above 1/p. A number,
        or a `PrivacyDegree`.
    alpha
        How far to look for neighbors: α·p baskets on each side that can be taken.
    order
        ``"rcm"``, Reverse Cuthill–McKee as in the paper, or ``"lexicographic"``, the most common item first.
    randomize_groups
        Whether to draw where in its group the basket it was made for stands. False is as in the paper.
    random_state
        Seeds the numbers of the groups and the order of the baskets, and what is drawn to randomize groups.

    Examples
    --------
    The five customers of the paper:

    >>> from discreet import Baskets
    >>> customers = Baskets.from_lists([
    ...     ["wine", "meat", "viagra"], ["wine", "meat"], ["cream", "strawberries", "pregnancy test"],
    ...     ["meat", "strawberries"], ["wine", "meat", "cream"]])
    >>> release = Cahd(2, sensitive=["viagra", "pregnancy test"], random_state=1).release(customers)
    >>> print(release.verdict)
    PrivacyDegree(p=2): verified (privacy degree 2, required >= 2)
    >>> release.data.count("viagra", with_items=["wine", "meat"]), release.data.count(None, with_items=["wine", "meat"])
    (1.0, 3.0)
    >>> Cahd(6, sensitive=["viagra"]).release(customers)
    Traceback (most recent call last):
    discreet.core.errors.InfeasibleError: No release can keep the guarantee: with p=6 a sensitive item may be in at most
    0 of the 5 baskets, and these are in more: 'viagra' (1). Use p=5 at most, or leave them out.

    References
    ----------
    G. Ghinita, Y. Tao, P. Kalnis: On the anonymization of sparse high-dimensional data. ICDE 2008.
    """

    p: int | PrivacyDegree
    _: KW_ONLY
    alpha: int = 3
    order: Literal["rcm", "lexicographic"] = "rcm"
    randomize_groups: bool = True

    constraints: ClassVar[Constraints] = {
        "p": DEGREE,
        **BasketPublisher.constraints,
        "alpha": IntIn(1),
        "order": OneOf(("rcm", "lexicographic")),
        "randomize_groups": BOOL,
    }

    def _grouped(self, parts: SplitBaskets, rng: np.random.Generator) -> tuple[CodeArray, dict[str, object]]:
        group, rolled_back = self.groups(parts, rng)
        return group, {"rolled_back": rolled_back}

    def groups(self, parts: SplitBaskets, rng: np.random.Generator) -> tuple[CodeArray, int]:
        """Return the group of each basket, and how many groups were rolled back."""
        from discreet.kernels.baskets.cahd_groups import cahd_groups

        n, p = len(parts.ordinary), self.guarantee.p
        if parts.held.items.size == 0:
            return np.zeros(n, np.int32), 0
        visits, turns = (rng.permutation(n), rng.integers(0, p, n)) if self.randomize_groups else (None, None)
        # From n/p on, the search reaches every basket.
        order, alpha = self.ordered(parts.ordinary), min(int(self.alpha), -(-n // p))
        return cahd_groups(order, *parts.arrays, p=p, alpha=alpha, visits=visits, turns=turns)

    def ordered(self, ordinary: Baskets) -> CodeArray:
        """Order baskets so that similar ones are neighbors."""
        from discreet.kernels.baskets.cuthill_mckee import band_order
        from discreet.kernels.baskets.lexicographic import lexicographic_order

        ordered = band_order if self.order == "rcm" else lexicographic_order
        return ordered(ordinary.indptr, ordinary.items, ordinary.n_items)
