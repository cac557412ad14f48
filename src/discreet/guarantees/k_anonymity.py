"""k-anonymity: no class has fewer than k rows (Samarati 2001; Sweeney 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.guarantee import Guarantee
from discreet.core.params import Constraints, IntIn
from discreet.core.tables.groups import Groups


@public
@dataclass(frozen=True, repr=False)
class KAnonymity(Guarantee):
    """Every class has at least ``k`` rows.

    Parameters
    ----------
    k
        The least number of rows that share all quasi-identifying values.

    References
    ----------
    P. Samarati: Protecting respondents' identities in microdata release. IEEE TKDE 13(6), 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.core.tables.groups import Groups
    >>> print(KAnonymity(3).check(Groups(sizes=np.array([3, 5, 2]))))
    KAnonymity(k=3): broken (class size 2, required >= 3; 1 of 3 classes (2 rows) fail)
    """

    k: int

    monotone: ClassVar[bool] = True
    by_size: ClassVar[bool] = True
    tolerance: ClassVar[float] = 0.0
    measured: ClassVar[str] = "class size"
    constraints: ClassVar[Constraints] = {"k": IntIn(1)}

    @property
    def smallest(self) -> int:
        """The bound k."""
        return self.k

    @property
    def bound(self) -> float:
        """The bound k."""
        return float(self.k)

    def measure(self, groups: Groups) -> FloatArray:
        """Return the size of every class."""
        return groups.sizes.astype(np.float64)

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        if self.k == 1:
            return "A row may be the only one with its quasi-identifying values."
        others = "one other" if self.k == 2 else f"{self.k - 1} others"
        return f"Every row shares all quasi-identifying values with at least {others}."
