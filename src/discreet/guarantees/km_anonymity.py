"""k^m-anonymity: who knows up to m items of a basket finds at least k baskets (Terrovitis, Mamoulis & Kalnis 2008)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NoReturn

import numpy as np

from discreet.core.baskets.baskets import Baskets
from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.guarantee import Guarantee
from discreet.core.params import Constraints, InstanceOf, IntIn, require
from discreet.core.release import Release
from discreet.core.tables.groups import Groups
from discreet.core.verdict import Verdict


@public
@dataclass(frozen=True, repr=False)
class KmAnonymity(Guarantee):
    """Every combination of at most ``m`` items is in at least ``k`` baskets, or in none.

    All items count alike: none is sensitive, and each may be what an attacker knows. Where items were generalized the
    released ones are judged, as in the paper: an attacker's m original items stand for at most m released ones, and the
    basket they belong to holds these. In a verdict a class is a combination that occurs, and its rows are the baskets
    that hold it. Empty baskets hold no combination.

    Parameters
    ----------
    k
        The least number of baskets.
    m
        How many items an attacker may know.

    References
    ----------
    M. Terrovitis, N. Mamoulis, P. Kalnis: Privacy-preserving anonymization of set-valued data. VLDB 2008.

    Examples
    --------
    The paper's small database: a1 is with b1 in one basket only, and with a2 in another.

    >>> bought = Baskets.from_lists([["a1", "b1", "b2"], ["a2", "b1"], ["a2", "b1", "b2"], ["a1", "a2", "b2"]])
    >>> print(KmAnonymity(2, 2).check(bought))
    KmAnonymity(k=2, m=2): broken (support of a combination 1, required >= 2; 2 of 10 classes (2 rows) fail)
    >>> KmAnonymity(2, 1).check(bought).ok
    True
    """

    k: int
    m: int

    tolerance: ClassVar[float] = 0.0
    measured: ClassVar[str] = "support of a combination"
    constraints: ClassVar[Constraints] = {"k": IntIn(1), "m": IntIn(1)}

    def check(self, subject: Any, *, suppressed: Literal["judged", "exempt"] = "judged") -> Verdict:
        """Judge baskets, or a release of baskets without groups."""
        del suppressed
        data: Any = subject.data if isinstance(subject, Release) else subject
        require(self, "subject", data, InstanceOf((Baskets,), "Baskets, or a release of them without groups"))
        from discreet.kernels.itemsets.combinations import count_combinations, laid_out

        laid = laid_out(data.indptr, data.items, np.arange(data.n_items, dtype=np.int32))
        # No combination is in more baskets than there are, so that a larger k fails alike.
        least = min(self.k, len(data) + 1)
        violations = count_combinations(laid, least, min(self.m, max(int(data.lengths.max(initial=1)), 1)))
        return self._found(
            ok=violations.n_rare == 0,
            worst=math.nan if violations.least is None else float(violations.least),
            n_groups=violations.n_sets,
            n_rows=int(np.count_nonzero(data.lengths)),
            failing_groups=violations.n_rare,
            failing_rows=int(np.count_nonzero(violations.marked)),
        )

    def measure(self, groups: Groups) -> NoReturn:
        """Refuse: the combinations of items are not in the classes of a table."""
        del groups
        raise ParameterError("KmAnonymity is a guarantee about baskets; no table can be judged by it.")

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        items = "one item" if self.m == 1 else f"up to {self.m} items"
        return f"Who knows {items} of a basket finds at least {self.k} baskets that hold them."
