"""No value disclosed: the answers of a query log together determine nobody's value (Chin & Ozsoyoglu 1982)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NoReturn, Protocol, runtime_checkable

from discreet.core.boundary import public
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.guarantee import Relation
from discreet.core.params import InstanceOf, OneOf, require
from discreet.core.verdict import Basis, Verdict
from discreet.guarantees.constructed import ConstructedGuarantee, under_condition


@runtime_checkable
class QueryLog(Protocol):
    """Anything that knows which queries were answered, such as a Vault."""

    @property
    def condition(self) -> str | None:
        """What is assumed of the users where each has a history apart; None where all answers are judged together."""
        ...

    def disclosures(self) -> Mapping[str, tuple[int, int]]:
        """Return for each sensitive column how many values the answers determine, and how many there are."""
        ...


@public
@dataclass(frozen=True, repr=False)
class NoValueDisclosed(ConstructedGuarantee):
    """The answered queries determine no value of a sensitive column.

    Judged from the query log of a vault, by construction: the answered query sets are put together again, without the
    auditor's own state, and with what is declared of the columns (bounds, step), which an attacker may know. Where
    neither a disclosure nor its absence is proved, the values count as disclosed.

    Where each user has a history apart, each is judged apart, and the verdict is assumed: it holds if users do not pool
    their answers.

    Parameters
    ----------
    of
        The sensitive columns that are judged; None judges all of them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet.output.audit import SumAuditor, Vault
    >>> staff = pa.table({"name": ["ann", "bob", "eve"], "salary": [10, 20, 30]})
    >>> vault = Vault.in_memory(staff, sensitive=["salary"], public=["name"], auditor=SumAuditor(low=0))
    >>> print(NoValueDisclosed().check(vault))
    NoValueDisclosed(): by construction (values disclosed 0, required <= 0)
    """

    of: tuple[str, ...] | None = None

    about: ClassVar[str] = "query log"
    relation: ClassVar[Relation] = "<="
    tolerance: ClassVar[float] = 0.0
    measured: ClassVar[str] = "values disclosed"

    def __post_init__(self) -> None:
        named: object = self.of
        if isinstance(named, str | list):
            object.__setattr__(self, "of", (named,) if isinstance(named, str) else tuple(named))
        require(self, "of", self.of, InstanceOf((tuple,), "a tuple of column names"), OneOf((None,)))

    @property
    def bound(self) -> float:
        """The most values that may be disclosed: none."""
        return 0.0

    def check(self, subject: Any, *, suppressed: Literal["judged", "exempt"] = "judged") -> Verdict:
        """Judge the query log of a vault, by construction; anything else is refused."""
        del suppressed
        if not isinstance(subject, QueryLog):
            self._refuse()
        disclosures = subject.disclosures()
        names = tuple(disclosures) if self.of is None else self.of
        missing = [name for name in names if name not in disclosures]
        if missing:
            raise SchemaError(
                f"NoValueDisclosed looks at the column {missing[0]!r}, which is not sensitive here."
            )
        disclosed = [disclosures[name][0] for name in names]
        verdict = self._found(
            ok=not any(disclosed),
            worst=float(max(disclosed, default=0)),
            n_groups=len(names),
            n_rows=max((disclosures[name][1] for name in names), default=0),
            failing_groups=sum(count > 0 for count in disclosed),
            failing_rows=sum(disclosed),
            basis=Basis.CONSTRUCTION,
        )
        return under_condition(verdict, subject.condition)

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        where = "any sensitive column" if self.of is None else " or ".join(self.of)
        return f"The answered queries together determine nobody's value of {where}."

    def _refuse(self) -> NoReturn:
        raise ParameterError(
            "NoValueDisclosed is a guarantee about the query log of a vault; nothing else can be judged by it."
        )
