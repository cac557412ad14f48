"""The interface of auditors: questions about one column, decisions, answers, and what ends an audit."""

from __future__ import annotations

import dataclasses
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.core.arrays import BoolArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import DiscreetError, InputError, ParameterError
from discreet.guarantees import NoValueDisclosed
from discreet.guarantees.constructed import ConstructedGuarantee
from discreet.output.audit.gate.columns import PublicColumn, SecretColumn


class QueryError(DiscreetError, ValueError):
    """A statement that the vault does not take; which ones depends on the declared columns alone, not on the data."""


class LogError(InputError):
    """A log that is damaged, incomplete or does not belong to its vault; nothing is answered."""


class VaultInUseError(DiscreetError):
    """A vault that another process has open."""


class DataChangedError(InputError):
    """A data file that is not the one the vault was made for."""


WOULD_DISCLOSE = "the answer, together with earlier ones, could disclose a value"
SMALL_SET = "the query set is smaller than the vault allows"
OVERLAP = "the query set overlaps an earlier one by more records than the vault allows"
NOT_A_RANGE = "the query set is not a range of the ordering column"
BUDGET_SPENT = "the privacy budget does not cover the question"


@public
@dataclass(frozen=True)
class Bound:
    """A released inequality, where the exact number could disclose a value.

    >>> print(Bound("at most", 3))
    at most 3
    """

    relation: Literal["at most", "at least"]
    value: float

    def __str__(self) -> str:
        return f"{self.relation} {self.value:g}"

    def to_dict(self) -> dict[str, float]:
        """Return the inequality as plain data for JSON."""
        return {self.relation.replace(" ", "_"): self.value}


Released = int | float | Bound | None
"""What one aggregate of one query set comes to; None for an empty set."""


@public
@dataclass(frozen=True)
class Answer:
    """The rows of an answered query; ``epsilon_left`` is the budget that remains, where there is one."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    epsilon_left: float | None = None

    def __bool__(self) -> bool:
        return True

    @property
    def value(self) -> Any:
        """The value of an answer with one row and one column."""
        if len(self.rows) != 1 or len(self.columns) != 1:
            raise AttributeError("only an answer of one row and one column has a single value")
        return self.rows[0][0]


@public
@dataclass(frozen=True)
class Denied:
    """A query that is not answered. The reason depends on query sets and released answers alone."""

    reason: str

    def __bool__(self) -> bool:
        return False


@dataclass(frozen=True)
class Question:
    """One aggregate ("sum", "min" or "max") of one column over one or more disjoint query sets."""

    aggregate: Literal["sum", "min", "max"]
    sets: tuple[BoolArray, ...]
    epsilon: float | None = None


@dataclass(frozen=True)
class AnswerPlan:
    """A question that may be answered: the auditor's next state, and what else the auditor needs to answer it."""

    question: Question
    state: Any = field(repr=False)


def split_atoms(
    labels: IntArray, members: BoolArray, element_sizes: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Split the atoms (records that were in the same sets so far) that a set cuts.

    ``labels`` is the atom of every element, -1 for an element without records. Returns the new labels, for every new
    atom twice its old label, plus 1 for one in the set, and the sizes of the new atoms.
    """
    filled = labels >= 0
    # Odd numbers are the parts inside the set, and only parts with elements become atoms.
    occupied, places = np.unique(2 * labels[filled] + members[filled], return_inverse=True)
    fresh = np.full(labels.size, -1, np.int64)
    fresh[filled] = places
    return fresh, occupied, np.bincount(places, element_sizes[filled], occupied.size).astype(np.int64)


def set_key(members: BoolArray, sizes: IntArray) -> bytes:
    """Return what two sets with the same records have in common."""
    return hashlib.sha256(np.packbits(members & (sizes > 0)).tobytes()).digest()


class Audit(ABC):
    """The state of one auditor over one column.

    ``decide`` sees query sets and what was released before, never a value of the column, so its decisions can be
    simulated by whoever knows the public columns. The decision is made durable before ``answer`` sees the truth.
    """

    answers_kept: bool = False
    """Whether later decisions depend on released answers, which must then be durable as well."""

    @abstractmethod
    def decide(self, question: Question) -> AnswerPlan | Denied:
        """Return the plan of a question that may be answered, or the denial; the state does not change."""

    @abstractmethod
    def answer(self, plan: AnswerPlan, truths: Sequence[Fraction | None]) -> tuple[Any, ...]:
        """Take the plan's state over, and return what is released of the true aggregates of each set."""

    @abstractmethod
    def restore(self, question: Question, released: Sequence[Any] | None) -> None:
        """Bring the state to where it was after a question of the log was answered."""

    @abstractmethod
    def disclosed(self) -> int:
        """Return for how many records the log settles a value, recomputed exactly."""

    def ask(self, question: Question, truths: Sequence[Fraction | None]) -> tuple[Any, ...] | Denied:
        """Decide and answer at once, without a log."""
        plan = self.decide(question)
        return plan if isinstance(plan, Denied) else self.answer(plan, truths)

    def carry(self, origins: IntArray, sizes: IntArray) -> None:
        """Move to a new version of the data.

        Parameters
        ----------
        origins : array
            For every element of the new version the element its records came from, or -1 for new records.
        sizes : array
            How many records every element of the new version has.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot follow updates")


@public
class Auditor(ABC):
    """The parameters of an auditor; ``over`` starts it on one column."""

    name: ClassVar[str]
    """The name on the command line."""
    aggregates: ClassVar[frozenset[str]]
    """The aggregates it answers."""
    several: ClassVar[bool] = False
    """Whether it decides on several query sets at once, as GROUP BY needs."""
    one_column: ClassVar[bool] = False
    """Whether a statement may aggregate only one sensitive column."""
    follows_updates: ClassVar[bool] = False
    """Whether it keeps old answers counting when the data changes."""
    exact: ClassVar[bool] = True
    """Whether answers are exact or inequalities, without noise."""
    step: float | None = None
    """The step that values are rounded to before anything is computed; None takes them as they are."""

    def over(
        self,
        column: SecretColumn,
        *,
        sizes: IntArray | None = None,
        public: Sequence[PublicColumn] = (),
        shared: Any = None,
    ) -> Audit:
        """Return the state of this auditor before any question about a column.

        Parameters
        ----------
        column : SecretColumn
            The column.
        sizes : array, optional
            The sizes of the elements in the first version of the data, if the column is of a later one.
        public : sequence of PublicColumn
            The public columns.
        shared : object
            What ``shared`` returned, for all columns of one history.
        """
        return self._start(column, column.sizes if sizes is None else sizes, public, shared)

    @abstractmethod
    def _start(
        self, column: SecretColumn, sizes: IntArray, public: Sequence[PublicColumn], shared: Any
    ) -> Audit:
        """Return the state over elements of these sizes."""

    def shared(self) -> Any:
        """Return what the auditors of all columns of one history share."""
        return None

    def epsilon_left(self, shared: Any) -> float | None:
        """Return the privacy budget that remains to a history (None: one without answers); None without a budget."""
        del shared
        return None

    def privacy_loss(self, histories: Sequence[Any]) -> tuple[float, float]:
        """Return the epsilon and the delta that the answers of these histories have cost together."""
        del histories
        raise ParameterError("This vault answers exactly; NoValueDisclosed judges it.")

    def require_fit(self, name: str, column: SecretColumn, public: Sequence[PublicColumn]) -> None:
        """Refuse a column that this auditor cannot protect."""
        del name, column, public

    def price(self, epsilon: float | None) -> float | None:
        """Return what a question costs, where there is a budget."""
        if epsilon is not None:
            raise ParameterError("Only a vault with differential privacy takes an epsilon.")
        return None

    @property
    def cautions(self) -> tuple[str, ...]:
        """What whoever makes a vault with these parameters should know."""
        return ()

    def guarantee(self, sensitive: tuple[str, ...]) -> ConstructedGuarantee:
        """Return what the answers about these columns keep together."""
        return NoValueDisclosed(of=sensitive)

    def to_dict(self) -> dict[str, Any]:
        """Return the auditor as plain data for JSON."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]  # every auditor is a dataclass
        return {"auditor": self.name} | {field.name: getattr(self, field.name) for field in fields}
