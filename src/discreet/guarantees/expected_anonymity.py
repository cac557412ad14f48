"""Expected anonymity: on average k records explain a published distribution as well as its own (Aggarwal 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NoReturn

import numpy as np

from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.guarantee import compare
from discreet.core.params import Constraints, InstanceOf, IntIn, OneOf
from discreet.core.release import Release
from discreet.core.verdict import Basis, Verdict
from discreet.guarantees.constructed import ConstructedGuarantee

ANONYMITY, LEVELS = "anonymity", "levels"
"""Where the evidence of a release keeps the expected anonymity and the level of every record."""
ATTACKER = "attacker"
"""Where the details of a release say against whom the anonymity was computed."""
Attacker = Literal["informed", "naive"]
ATTACKERS: tuple[Attacker, ...] = ("informed", "naive")


@public
@dataclass(frozen=True, repr=False)
class ExpectedAnonymity(ConstructedGuarantee):
    """On average over the noise, at least k original records explain a published record as well as its own.

    The attacker has *all* original records, knows the method, and ranks them by their likelihood given one published
    distribution. The expected rank of the true record, counting those that fit at least as well, is at least k. That is
    an expectation: in a single draw the true record may well come first. It is about one published record at a
    time, whereas matching all of them at once finds more; and it says nothing about a value that near records share.

    Spreads are computed from the data, so an attacker with all records can compute them too. Against the ``informed``
    attacker only records with the same published spread (and label) are counted, which is all that a spread
    shows. Against the ``naive`` attacker of the paper all records are counted, as if nobody looked at the spreads.
    Whoever does finds most records at once, so that form is never more than ``assumed``.

    Released data cannot show it: it is judged by the anonymity of every record, which the publisher keeps as evidence.

    Parameters
    ----------
    k
        One level for all records, or the name of the column that holds each record's own; neither where levels are
        stated apart from the table.
    attacker
        Whether the attacker compares the published spreads with those that the records would get: ``informed`` or
        ``naive``.

    References
    ----------
    C. Aggarwal: On unifying privacy and uncertain data models. ICDE 2008.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> from discreet import Table, quasi
    >>> from discreet.publish import UncertainRecords
    >>> table = Table(pa.table({"x": np.arange(40.0), "y": np.arange(40.0) ** 2}), {"x": quasi(), "y": quasi()})
    >>> UncertainRecords(5, random_state=0).release(table).verdict.word
    'by construction'
    >>> UncertainRecords(5, attacker="naive", random_state=0).release(table).verdict.word
    'assumed'
    """

    k: int | str | None = None
    attacker: Attacker = "informed"

    about: ClassVar[str] = "uncertain records"
    kind: ClassVar[str] = "uncertain-records"
    constraints: ClassVar[Constraints] = {
        "k": (IntIn(1), InstanceOf((str, type(None)), "the name of a column or None")),
        "attacker": OneOf(ATTACKERS),
    }

    @property
    def measured(self) -> str:  # type: ignore[override]
        """What is compared, which depends on whether there is one level for all."""
        return "expected anonymity" if isinstance(self.k, int) else "expected anonymity less level"

    @property
    def smallest(self) -> int:
        """The one level, where there is one."""
        return self.k if isinstance(self.k, int) else 1

    @property
    def bound(self) -> float:
        """The one level, or nothing beyond each record's own."""
        return float(self.k) if isinstance(self.k, int) else 0.0

    def check(self, subject: Any, *, suppressed: Literal["judged", "exempt"] = "judged") -> Verdict:
        """Judge a release of uncertain records by its evidence; anything else is refused."""
        del suppressed
        if not isinstance(subject, Release) or subject.kind != self.kind:
            self._refuse()
        arrays, details = subject.evidence.arrays, subject.evidence.details
        if not {ANONYMITY, LEVELS} <= set(arrays):
            raise InputError(
                "The evidence of the release does not hold what expected anonymity is judged by."
            )
        if details.get(ATTACKER) != self.attacker and self.attacker == "informed":
            raise InputError(
                "The spreads are each record's own: only a naive attacker can be judged by them."
            )
        measure = np.asarray(arrays[ANONYMITY], np.float64)
        required = np.maximum(arrays[LEVELS], self.smallest).astype(np.float64)
        if not isinstance(self.k, int):
            measure, required = measure - required, np.zeros(measure.size)
        failing = int((~compare(measure - required, ">=", 0.0, self.tolerance)).sum())
        return self._found(
            ok=not failing,
            worst=float(measure.min()) if measure.size else float("nan"),
            n_groups=int(measure.size),
            n_rows=int(measure.size),
            failing_groups=failing,
            failing_rows=failing,
            basis=Basis.CONSTRUCTION if self.attacker == "informed" else Basis.ASSUMED,
        )

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        level = f"{self.k}" if isinstance(self.k, int) else "as many as the record's own level"
        ranks = (
            "Whoever has all original records and ranks them by how well they explain one published record finds, on "
            f"average over the noise, at least {level} that fit at least as well as the true one, itself included"
        )
        if self.attacker == "informed":
            return f"{ranks}, and as many among those with its published spread and label."
        return (
            f"{ranks}, as long as they do not work out the spread of every record: each has one of its own, and "
            "whoever computes them finds most records by it."
        )

    def _refuse(self) -> NoReturn:
        raise ParameterError(
            "ExpectedAnonymity is a guarantee about a release of uncertain records; neither a table nor released files "
            "without the evidence kept by their maker can be judged by it."
        )
