"""m-invariance: groups of m different values, and a person's groups with the same ones in all releases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet.core.arrays import BoolArray, FloatArray
from discreet.core.boundary import public
from discreet.core.guarantee import ColumnNames, SensitiveGuarantee
from discreet.core.params import Constraints, IntIn
from discreet.core.tables.groups import Groups, SensitiveCounts
from discreet.core.verdict import Verdict


@public
@dataclass(frozen=True, repr=False)
class MInvariance(SensitiveGuarantee):
    """Every group has at least ``m`` rows, no two with the same sensitive value, and a person's groups the same values.

    A person who is in several releases is in groups with the same set of values in all of them, so that intersecting
    them leaves as many values as each alone: at least ``m``, equally likely. That holds for values that never change.

    Groups of one release show that their values differ. Which values a person's earlier groups had only the owner
    knows, so from the second release on the verdict rests on what the publisher kept.

    Parameters
    ----------
    m
        The least number of rows, and of values, of a group.
    release
        Which release of a growing table it is; the first keeps the guarantee by itself.
    of
        The sensitive column; None means all.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, quasi, sensitive
    >>> table = Table(pa.table({"age": [1, 1, 2, 2, 2], "illness": ["a", "b", "a", "b", "b"]}),
    ...     {"age": quasi(), "illness": sensitive()})
    >>> print(MInvariance(2).check(table))
    MInvariance(m=2, release=1): broken (values, all different, 0, required >= 2; 1 of 2 classes (3 rows) fail)

    References
    ----------
    X. Xiao, Y. Tao: m-invariance: towards privacy preserving re-publication of dynamic datasets. SIGMOD 2007.
    """

    m: int
    release: int = field(default=1, kw_only=True)
    of: str | tuple[str, ...] | None = field(default=None, kw_only=True)

    joinable: ClassVar[bool] = False
    tolerance: ClassVar[float] = 0.0
    measured: ClassVar[str] = "values, all different,"
    constraints: ClassVar[Constraints] = {"m": IntIn(2), "release": IntIn(1), "of": ColumnNames()}

    @property
    def smallest(self) -> int:
        """The bound m: every value takes a row."""
        return self.m

    @property
    def bound(self) -> float:
        """The bound m."""
        return float(self.m)

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        return (
            f"Every group has at least {self.m} rows, no two with the same value of {self._where()}, and the groups of "
            f"a person have the same values in every release (this is release {self.release}). Values that change are "
            "not protected."
        )

    def _score(self, counts: SensitiveCounts) -> FloatArray:
        most = np.maximum.reduceat(counts.counts, counts.indptr[:-1])
        return np.where(most == 1, np.diff(counts.indptr), 0).astype(np.float64)

    def _judge(self, groups: Groups, judged: BoolArray) -> tuple[Verdict, BoolArray]:
        verdict, holds = super()._judge(groups, judged)
        return (verdict if self.release == 1 else verdict.by_construction()), holds
