"""Verdict: whether a guarantee is kept, by how much, and on what basis."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, replace

from discreet.core.adapters import PICTURE, load
from discreet.core.boundary import public
from discreet.core.errors import PromiseBrokenError


class Basis(enum.Enum):
    """What a verdict rests on."""

    VERIFIED = "verified"
    """Recomputed from the released data alone."""
    CONSTRUCTION = "by construction"
    """From kept evidence: a channel, a query log, group sizes."""
    ASSUMED = "assumed"
    """From a trust assumption, such as semi-honest parties."""
    CLAIMED = "claimed"
    """Stated by a release.json; nothing of it was recomputed."""


_WEAKEST_LAST = (Basis.VERIFIED, Basis.CONSTRUCTION, Basis.ASSUMED, Basis.CLAIMED)
BROKEN = "broken"
"""The word for a guarantee that is not kept, whatever the judgment rests on."""


@public
@dataclass(frozen=True)
class Verdict:
    """A judgment: ok or not, the worst value, the bound, where, and on what basis. Holds no data value.

    ``relation`` reads "worst relation bound", for example ``>=`` for k-anonymity. ``parts`` holds the verdicts of
    a conjunction.
    """

    ok: bool
    guarantee: str
    measure: str
    worst: float
    relation: str
    bound: float
    n_groups: int
    n_rows: int
    failing_groups: int
    failing_rows: int
    basis: Basis = Basis.VERIFIED
    parts: tuple[Verdict, ...] = ()

    def __bool__(self) -> bool:
        return self.ok

    def _repr_html_(self) -> str:
        return str(load(PICTURE)(self))

    @property
    def word(self) -> str:
        """The verdict in a word: broken, or the basis on which it holds; only verified is recomputed from the data."""
        return self.basis.value if self.ok else BROKEN

    @property
    def verified(self) -> bool:
        """Whether the guarantee is kept by the released data alone, all of its parts recomputed."""
        return self.ok and self.basis is Basis.VERIFIED

    def enforce(self) -> None:
        """Refuse a release that does not keep its guarantee, before anything of it is written."""
        if not self.ok:
            raise PromiseBrokenError(
                f"The release does not keep its guarantee, so nothing was written. {self}"
            )

    def by_construction(self) -> Verdict:
        """Return the same judgment, resting on evidence that is kept and not on the released data alone."""
        parts = tuple(part.by_construction() for part in self.parts)
        return replace(self, basis=Basis.CONSTRUCTION, parts=parts)

    def agrees_with(self, other: Verdict) -> bool:
        """Return whether two judgments found the same, but for rounding: sums of floats depend on their order."""
        numbers = ("ok", "n_groups", "n_rows", "failing_groups", "failing_rows", "guarantee", "bound")
        return (
            all(getattr(self, name) == getattr(other, name) for name in numbers)
            and (is_near(self.worst, other.worst) or (math.isnan(self.worst) and math.isnan(other.worst)))
            and len(self.parts) == len(other.parts)
            and all(part.agrees_with(same) for part, same in zip(self.parts, other.parts, strict=True))
        )

    def __str__(self) -> str:
        if self.parts:
            return "\n".join(str(part) for part in self.parts)
        if self.basis is Basis.CLAIMED:
            return f"{self.guarantee}: {self.word} (according to release.json)"
        details = f"{self.measure} {self.worst:.10g}, required {self.relation} {self.bound:.10g}"
        if self.ok or not self.n_groups:
            return f"{self.guarantee}: {self.word} ({details})"
        where = f"{self.failing_groups} of {self.n_groups} classes ({self.failing_rows} rows) fail"
        return f"{self.guarantee}: {self.word} ({details}; {where})"

    def to_dict(self) -> dict[str, object]:
        """Return the verdict as plain data for JSON."""
        record: dict[str, object] = {
            "ok": self.ok,
            "guarantee": self.guarantee,
            "measure": self.measure,
            "worst": self.worst,
            "relation": self.relation,
            "bound": self.bound,
            "classes": self.n_groups,
            "rows": self.n_rows,
            "failing_classes": self.failing_groups,
            "failing_rows": self.failing_rows,
            "basis": self.basis.value,
        }
        if self.parts:
            record["parts"] = [part.to_dict() for part in self.parts]
        return record


def is_near(first: float, second: float) -> bool:
    """Return whether two measures are the same but for rounding."""
    return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12)


def claimed(guarantee: str, *, ok: bool = True) -> Verdict:
    """Return the verdict that a release.json states about a guarantee; nothing of it was recomputed."""
    return Verdict(ok, guarantee, "", math.nan, "", math.nan, 0, 0, 0, 0, basis=Basis.CLAIMED)


def conjunction(parts: tuple[Verdict, ...]) -> Verdict:
    """Return the verdict on several guarantees at once: kept where all are, and on the weakest basis of any.

    >>> conjunction((claimed("KAnonymity(k=2) per 'who'"),)).word
    'claimed'
    """
    return Verdict(
        ok=all(part.ok for part in parts),
        guarantee=" & ".join(part.guarantee for part in parts),
        measure="promises kept",
        worst=float(sum(part.ok for part in parts)),
        relation=">=",
        bound=float(len(parts)),
        n_groups=max(part.n_groups for part in parts),
        n_rows=max(part.n_rows for part in parts),
        failing_groups=max(part.failing_groups for part in parts),
        failing_rows=max(part.failing_rows for part in parts),
        basis=weakest_basis(parts),
        parts=parts,
    )


def weakest_basis(parts: tuple[Verdict, ...]) -> Basis:
    """Return the weakest basis that any of several verdicts rests on."""
    return max((part.basis for part in parts), key=_WEAKEST_LAST.index)
