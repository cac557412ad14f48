"""Guarantee: what every class must keep, its bound, how to measure a class, and how to judge any table."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from discreet.core.adapters import AS_TABLE, COUNTED, load
from discreet.core.arrays import BoolArray, FloatArray
from discreet.core.boundary import public
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.params import Constraints, InstanceOf, OneOf, check_parameters, listed, require
from discreet.core.tables.groups import Groups, SensitiveCounts
from discreet.core.verdict import Basis, Verdict, weakest_basis

if TYPE_CHECKING:
    from discreet.core.tables.encoding import Codebook

TOLERANCE = 1e-9
"""How far rounding may put a measure from its bound and the two still count as equal."""

Relation = Literal[">=", "<=", "<"]


@dataclasses.dataclass(frozen=True)
class ClassRule:
    """What a guarantee asks of the values of one sensitive column in every class, in a form that kernels judge by.

    ``kind`` is one of ``KINDS`` in `discreet.kernels.tables.class_rules`, ``bound`` what the measure is compared with,
    ``rank`` the l of a recursive rule.
    """

    kind: str
    column: str
    bound: float
    rank: int = 0

    @property
    def passes(self) -> float:
        """Where a measure passes: entropies from there on, shares and distances up to there, ratios below it."""
        if self.kind in ("distinct", "recursive", "largest share"):
            return self.bound
        slack = TOLERANCE * max(1.0, self.bound)
        return math.log(self.bound - slack) if self.kind == "entropy" else self.bound + slack

    def certain(self, moved: float) -> float:
        """Return the bound that no part of a class exceeds, a share of the rows being left out; nan for unknown."""
        if self.kind == "entropy":
            return math.log(self.bound) - 2 * TOLERANCE
        if self.kind == "ordered" or moved >= 1.0:
            return math.nan
        if self.kind != "largest share":
            moved = -math.log1p(-moved) if self.kind == "divergence" else moved
        bound = self.bound + (0.0 if self.kind == "largest share" else moved)
        return bound + TOLERANCE * max(1.0, bound)


class HasGroups(Protocol):
    """Anything a guarantee can judge: a table or a release."""

    def groups(self) -> Groups:
        """Return the classes."""
        ...


@runtime_checkable
class HasUnits(Protocol):
    """A table whose rows may belong to units: people, households or sites."""

    units: Any

    def unit_groups(self) -> Groups:
        """Return the classes with what distinguishes units in them."""
        ...


def _takes_own_arguments(check: Callable[..., Verdict]) -> Callable[..., Verdict]:
    """Return a method as it is, for type checkers: guarantees about other things than classes take no roles."""
    return check


@public
class Guarantee(ABC):
    """What every class of a table must keep.

    ``measure`` and ``holds`` look at classes, ``check`` judges a whole table. A measure compares with the
    bound by ``relation``. What lies within ``tolerance`` of the bound (relative where the bound is above 1)
    counts as equal to it, so ``>=`` and ``<=`` pass there and ``<`` fails. Counts and their ratios are
    compared exactly.
    """

    label: ClassVar[str] = ""
    """What a list of measures calls the guarantee, where that is not its name in job files."""
    letter: ClassVar[str] = ""
    """The parameter that a list of measures shows the measure of, where that is not the first."""
    monotone: ClassVar[bool] = False
    """Whether a class that keeps the guarantee keeps it after taking in any other rows."""
    joinable: ClassVar[bool] = True
    """Whether classes that keep the guarantee keep it when they are joined, compared with the same table."""
    by_size: ClassVar[bool] = False
    """Whether a class keeps the guarantee exactly when it has at least ``smallest`` rows."""
    relative: ClassVar[bool] = False
    """Whether classes are compared with the whole table, so that leaving rows out may change the others' measure."""
    needs_original: ClassVar[bool] = False
    """Whether classes are compared with the table before rows were left out, which no table alone shows."""
    not_shown: ClassVar[str] = ""
    """Why rows alone cannot show the guarantee; empty where they can."""
    table_wide: ClassVar[bool] = False
    """Whether some bound is about all classes together, so that a table may keep it although a class alone does not."""
    relation: ClassVar[Relation] = ">="
    """How the measure of a class must compare with the bound."""
    tolerance: ClassVar[float] = TOLERANCE
    """How near to the bound counts as equal; 0 where the measure is exact."""
    measured: ClassVar[str]
    """What is measured, in words."""
    constraints: ClassVar[Constraints] = {}
    """What each parameter must be."""

    def __post_init__(self) -> None:
        """Check the parameters, and keep numbers as plain Python numbers."""
        check_parameters(self)
        for name in self.constraints:
            value = getattr(self, name)
            if isinstance(value, Real):
                object.__setattr__(self, name, int(value) if isinstance(value, Integral) else float(value))

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger measure protects better."""
        return self.relation == ">="

    @classmethod
    def probes(
        cls, column: Codebook | None = None, population: object = None
    ) -> Iterator[tuple[str, Guarantee]]:
        """Iterate over guarantees that only measure, since any bound will do, each with words to tell them apart.

        `discreet check` measures tables by them: once without a column, and once for each sensitive column.

        Parameters
        ----------
        column
            A sensitive column; None for guarantees about the classes alone.
        population
            A population table, where there is one.
        """
        del population
        if column is None:
            yield "", cls(**cls._any_bound())

    @classmethod
    def _any_bound(cls) -> dict[str, Any]:
        """Return values of the parameters without a default that their constraints admit."""
        required = [
            field.name
            for field in dataclasses.fields(cls)  # type: ignore[arg-type]  # every concrete guarantee is a dataclass
            if field.init and field.default is dataclasses.MISSING
        ]
        return {
            name: next(
                number
                for number in (1, 0.5, 0, 2)
                if any(allowed.admits(number) for allowed in listed(cls.constraints[name]))
            )
            for name in required
        }

    @property
    def smallest(self) -> int:
        """A size below which no class can keep the guarantee; never too large."""
        return 1

    @property
    def bound(self) -> float:
        """What the measure of every class is compared with: the first parameter, where a guarantee says no other."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]  # every concrete guarantee is a dataclass
        return float(getattr(self, fields[0].name))

    @property
    def how_counted(self) -> str:
        """The last sentence of the description, on what is counted; empty where it is rows."""
        return ""

    def columns(self, sensitive: Sequence[str]) -> tuple[str, ...]:
        """Name those of a table's sensitive columns that the guarantee looks at."""
        return ()

    def judged_values(self, sensitive: Sequence[str]) -> tuple[str, ...]:
        """Name those of a table's sensitive columns whose values decide whether a class keeps the guarantee."""
        return self.columns(sensitive)

    def class_rules(self, sensitive: Sequence[str]) -> tuple[ClassRule, ...] | None:
        """Return what the guarantee asks of classes of ``smallest`` rows, as rules; None where it is no such list."""
        del sensitive
        return () if self.by_size else None

    @abstractmethod
    def measure(self, groups: Groups) -> FloatArray:
        """Measure every class, unrounded; the worst over the columns."""

    def holds(self, groups: Groups) -> BoolArray:
        """Return for every class whether it keeps the guarantee."""
        return self._passes(self.measure(groups), groups)

    def together(self, groups: Groups) -> BoolArray:
        """Return which classes of a whole table to keep, so that the table of those keeps the guarantee."""
        return self.holds(groups)

    def failing_at_least(self, groups: Groups, *, moved: float = 0.0) -> FloatArray:
        """Bound from below how many rows of each class fail, however the class is divided.

        A search may give up all finer generalizations where that is too many. ``moved`` is the share of rows that
        may be left out of the whole table a class is compared with.
        """
        if self.monotone:
            return np.where(self.holds(groups), 0, groups.sizes).astype(np.float64)
        return np.where(groups.sizes < self.smallest, groups.sizes, 0).astype(np.float64)

    @_takes_own_arguments
    def check(
        self,
        subject: Groups | HasGroups | Any,
        *,
        quasi: Sequence[str] | None = None,
        sensitive: Sequence[str] | None = None,
        person: str | None = None,
        suppressed: Literal["judged", "exempt"] = "judged",
    ) -> Verdict:
        """Judge a table, a release, its classes or any frame; no class breaks no guarantee, and the worst value is nan.

        Parameters
        ----------
        subject
            Classes, anything whose ``groups()`` gives them, or a frame of pandas, Polars, PyArrow or DuckDB.
        quasi, sensitive
            Of a frame: the columns that others may know, and those that must not be learned.
        person
            Of a frame: the column that says whose row it is, so that people are counted.
        suppressed
            Whether the class of fully suppressed rows is judged like any other (the safe reading) or exempt.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from discreet.guarantees import KAnonymity
        >>> frame = pa.table({"age": [24, 24, 37], "disease": ["flu", "cold", "flu"]})
        >>> KAnonymity(2).check(frame, quasi=["age"]).failing_rows
        1
        """
        require(self, "suppressed", suppressed, OneOf(("judged", "exempt")))
        if not isinstance(subject, Groups) and not hasattr(subject, "groups"):
            subject = load(AS_TABLE)(self, subject, quasi, sensitive, person)
        elif not (quasi is sensitive is person is None):
            raise ParameterError("Roles are for frames; what is judged has its roles already.")
        if isinstance(subject, HasUnits) and subject.units is not None:
            counted: Guarantee = load(COUNTED)(self, subject)
            return counted.check(subject.unit_groups(), suppressed=suppressed)
        groups = subject if isinstance(subject, Groups) else subject.groups()
        judged = np.ones(groups.n_groups, np.bool_)
        if suppressed == "exempt" and groups.suppressed is not None:
            judged = ~groups.suppressed
        return self._judge(groups, judged)[0]

    def with_original(self, table: Any) -> Guarantee:
        """Return the guarantee for what is made of a table, where it compares with that."""
        del table
        return self

    @abstractmethod
    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""

    def to_dict(self) -> dict[str, object]:
        """Return the guarantee as plain data for JSON; ``guarantee_from_dict`` reads it."""
        return {"guarantee": type(self).__name__} | {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in self._parameters().items()
            if value is not None
        }

    def __and__(self, other: Guarantee) -> AllOf:
        """Return both, joined."""
        return AllOf((self, other)) if isinstance(other, Guarantee) else NotImplemented

    def __repr__(self) -> str:
        fields = dataclasses.fields(self)  # type: ignore[arg-type]  # every concrete guarantee is a dataclass
        usual = {field.name: field.default for field in fields if isinstance(field.default, str)}
        arguments = (
            f"{name}={value!r}"
            for name, value in self._parameters().items()
            if value is not None and value != usual.get(name)
        )
        return f"{type(self).__name__}({', '.join(arguments)})"

    def _passes(self, measure: FloatArray, groups: Groups) -> BoolArray:
        return compare(measure, self.relation, self.bound, self.tolerance)

    def _judge(self, groups: Groups, judged: BoolArray) -> tuple[Verdict, BoolArray]:
        """Return the verdict on the judged classes, and which classes keep the guarantee."""
        measure = self.measure(groups)
        holds = self._passes(measure, groups)
        return self._verdict(measure, holds, groups, judged), holds

    def _verdict(self, measure: FloatArray, holds: BoolArray, groups: Groups, judged: BoolArray) -> Verdict:
        failing = judged & ~holds
        worst = math.nan
        if judged.any():
            worst = float(measure[judged].min() if self.higher_is_better else measure[judged].max())
        n_groups, n_rows = groups.counted(judged)
        failing_groups, failing_rows = groups.counted(failing)
        return self._found(
            ok=not failing.any(),
            worst=worst,
            n_groups=n_groups,
            n_rows=n_rows,
            failing_groups=failing_groups,
            failing_rows=failing_rows,
        )

    def _found(
        self,
        ok: bool,
        worst: float,
        *,
        basis: Basis = Basis.VERIFIED,
        parts: tuple[Verdict, ...] = (),
        **counts: int,
    ) -> Verdict:
        """Return the verdict of this guarantee; ``counts`` are the four of a Verdict, 0 where they are not given."""
        class_counts = dict.fromkeys(("n_groups", "n_rows", "failing_groups", "failing_rows"), 0) | counts
        guarantee, measured, relation, bound = repr(self), self.measured, self.relation, self.bound
        return Verdict(
            ok, guarantee, measured, worst, relation, bound, **class_counts, basis=basis, parts=parts
        )

    def _parameters(self) -> dict[str, object]:
        fields = dataclasses.fields(self)  # type: ignore[arg-type]  # every concrete guarantee is a dataclass
        return {field.name: getattr(self, field.name) for field in fields if field.init}


class SensitiveGuarantee(Guarantee):
    """A guarantee about the sensitive values of every class, in the columns ``of`` or (None) in all of them."""

    of: str | tuple[str, ...] | None

    def __post_init__(self) -> None:
        """Check the parameters; a column named twice counts once."""
        if isinstance(self.of, list | tuple):
            object.__setattr__(self, "of", tuple(dict.fromkeys(self.of)))
        super().__post_init__()

    @classmethod
    def probes(
        cls, column: Codebook | None = None, population: object = None
    ) -> Iterator[tuple[str, Guarantee]]:
        """Iterate over guarantees that only measure a sensitive column."""
        del population
        if column is not None:
            yield "", cls(**cls._any_bound() | {"of": column.name})

    def columns(self, sensitive: Sequence[str]) -> tuple[str, ...]:
        """Name those of a table's sensitive columns that the guarantee looks at."""
        if self.of is None:
            if not sensitive:
                raise SchemaError(f"{type(self).__name__} needs a sensitive column, but none is named.")
            return tuple(sensitive)
        named = (self.of,) if isinstance(self.of, str) else self.of
        for name in named:
            if name not in sensitive:
                listed = ", ".join(repr(column) for column in sensitive) or "none"
                raise SchemaError(
                    f"{type(self).__name__} looks at the column {name!r}, which is not sensitive here. "
                    f"The sensitive columns: {listed}."
                )
        return named

    def measure(self, groups: Groups) -> FloatArray:
        """Measure every class, unrounded; the worst over the columns."""
        scores = [self._score(counts) for counts in self._counts(groups)]
        return np.asarray(np.min(scores, axis=0) if self.higher_is_better else np.max(scores, axis=0))

    @abstractmethod
    def _score(self, counts: SensitiveCounts) -> FloatArray:
        """Measure every class in one column."""

    def _counts(self, groups: Groups) -> list[SensitiveCounts]:
        return [groups.sensitive[name] for name in self.columns(tuple(groups.sensitive))]

    def _where(self) -> str:
        if self.of is None:
            return "each sensitive column"
        return self.of if isinstance(self.of, str) else " and of ".join(self.of)


@public
@dataclasses.dataclass(frozen=True, repr=False)
class AllOf(Guarantee):
    """Several guarantees at once, as ``a & b`` makes them.

    The measure of a class is the number of guarantees it keeps; the verdict holds a verdict per guarantee.

    >>> from discreet.guarantees import EntropyDiversity, KAnonymity
    >>> KAnonymity(5) & EntropyDiversity(2, of="disease")
    KAnonymity(k=5) & EntropyDiversity(l=2, of='disease')
    """

    parts: tuple[Guarantee, ...]
    measured: ClassVar[str] = "promises kept"

    def __post_init__(self) -> None:
        """Check the parts, and take those of a conjunction one by one."""
        require(self, "parts", self.parts, _Guarantees())
        flat = (part.parts if isinstance(part, AllOf) else (part,) for part in self.parts)
        object.__setattr__(self, "parts", tuple(part for several in flat for part in several))

    @property
    def monotone(self) -> bool:  # type: ignore[override]  # a conjunction is what its parts are
        """Whether every part is monotone."""
        return all(part.monotone for part in self.parts)

    @property
    def smallest(self) -> int:
        """A size below which no class can keep every guarantee."""
        return max(part.smallest for part in self.parts)

    @property
    def bound(self) -> float:
        """The number of guarantees."""
        return float(len(self.parts))

    def columns(self, sensitive: Sequence[str]) -> tuple[str, ...]:
        """Name the sensitive columns that some part looks at, in the table's order."""
        looked_at = dict.fromkeys(name for part in self.parts for name in part.columns(sensitive))
        # The coded columns by which units are counted are no columns of the table.
        hidden = (name for name in looked_at if name not in sensitive)
        return (*(name for name in sensitive if name in looked_at), *hidden)

    def judged_values(self, sensitive: Sequence[str]) -> tuple[str, ...]:
        """Name the sensitive columns whose values decide whether a class keeps some part, in the table's order."""
        judged = {name for part in self.parts for name in part.judged_values(sensitive)}
        return tuple(name for name in sensitive if name in judged)

    def class_rules(self, sensitive: Sequence[str]) -> tuple[ClassRule, ...] | None:
        """Return the rules of all parts; None where a part is no list of rules, or parts compare with other tables."""
        rules: list[ClassRule] = []
        if self.relative and self.needs_original:
            return None
        for part in self.parts:
            more = part.class_rules(sensitive)
            if more is None:
                return None
            rules += more
        return tuple(dict.fromkeys(rules))

    def measure(self, groups: Groups) -> FloatArray:
        """Count the guarantees every class keeps."""
        return np.asarray(np.sum([part.holds(groups) for part in self.parts], axis=0, dtype=np.float64))

    def holds(self, groups: Groups) -> BoolArray:
        """Return for every class whether it keeps every guarantee."""
        return np.asarray(np.all([part.holds(groups) for part in self.parts], axis=0))

    @property
    def joinable(self) -> bool:  # type: ignore[override]  # a conjunction is what its parts are
        """Whether every part may be joined."""
        return all(part.joinable for part in self.parts)

    @property
    def by_size(self) -> bool:  # type: ignore[override]  # a conjunction is what its parts are
        """Whether every part is a matter of size alone."""
        return all(part.by_size for part in self.parts)

    @property
    def relative(self) -> bool:  # type: ignore[override]  # a conjunction is what its parts are
        """Whether some part compares classes with the whole table."""
        return any(part.relative for part in self.parts)

    @property
    def needs_original(self) -> bool:  # type: ignore[override]  # a conjunction is what its parts are
        """Whether some part compares classes with the table before rows were left out."""
        return any(part.needs_original for part in self.parts)

    @property
    def table_wide(self) -> bool:  # type: ignore[override]  # a conjunction is what its parts are
        """Whether some part is about all classes together."""
        return any(part.table_wide for part in self.parts)

    def with_original(self, table: Any) -> AllOf:
        """Return the guarantee with every part for what is made of a table."""
        return dataclasses.replace(self, parts=tuple(part.with_original(table) for part in self.parts))

    def together(self, groups: Groups) -> BoolArray:
        """Return which classes of a whole table to keep: bounds on all of them see those that the other parts keep."""
        by_class = [part for part in self.parts if not part.table_wide]
        kept = np.asarray(
            np.all([np.ones(groups.n_groups, np.bool_), *(p.holds(groups) for p in by_class)], axis=0)
        )
        for part in self.parts:
            if part.table_wide and kept.any():
                kept[kept] = part.together(groups.only(kept))
        return kept

    def failing_at_least(self, groups: Groups, *, moved: float = 0.0) -> FloatArray:
        """Bound from below how many rows of each class fail some part, however the class is divided."""
        least = [part.failing_at_least(groups, moved=moved) for part in self.parts]
        # The same rows may fail several parts, so that the numbers do not add up.
        return np.asarray(np.maximum.reduce(least))

    def describe(self) -> str:
        """Return every guarantee in a sentence of its own, and what several have in common once, at the end."""
        described = [part.describe().removesuffix(part.how_counted).rstrip() for part in self.parts]
        first = [text.partition(". ")[0].rstrip(".") + "." for text in described]
        more = dict.fromkeys(text.partition(". ")[2] for text in described)
        return " ".join(
            filter(None, [*first, *more, *dict.fromkeys(part.how_counted for part in self.parts)])
        )

    def to_dict(self) -> dict[str, object]:
        """Return the guarantee as plain data for JSON; ``guarantee_from_dict`` reads it."""
        return {"guarantee": "AllOf", "parts": [part.to_dict() for part in self.parts]}

    def __repr__(self) -> str:
        return " & ".join(repr(part) for part in self.parts)

    def _judge(self, groups: Groups, judged: BoolArray) -> tuple[Verdict, BoolArray]:
        verdicts, passes = zip(*(part._judge(groups, judged) for part in self.parts), strict=True)
        holds = np.asarray(np.all(passes, axis=0))
        verdict = self._verdict(np.sum(passes, axis=0, dtype=np.float64), holds, groups, judged)
        return dataclasses.replace(verdict, parts=verdicts, basis=weakest_basis(verdicts)), holds


def compare(
    measure: FloatArray, relation: Relation, bound: float | FloatArray, tolerance: float = TOLERANCE
) -> BoolArray:
    """Compare measures with a bound; what lies within the tolerance counts as equal."""
    # Relative to bounds above 1, absolute for those below.
    slack = tolerance * np.maximum(1.0, np.abs(bound))
    if relation == ">=":
        return np.asarray(measure >= bound - slack)
    return np.asarray(measure <= bound + slack if relation == "<=" else measure < bound - slack)


def failing_share(measure: FloatArray, bound: float, highest: float | FloatArray) -> FloatArray:
    """Return the least share of a class in failing parts, for a measure that no mixture of parts can exceed.

    Where the class measures more than the bound, its passing parts measure at most the bound and its failing parts at
    most the highest there is, and their weighted mean is no less than the whole's measure. The same holds of a linear
    function that is nowhere above the measure and equal to it at the class, so that ``highest`` may be this function's
    highest value over the class's own values.
    """
    bound += TOLERANCE * max(1.0, abs(bound))
    room = np.broadcast_to(np.subtract(highest, bound), measure.shape)
    share = np.divide(measure - bound, room, out=np.zeros(measure.size), where=room > TOLERANCE)
    # As a lower bound, the share may only be made smaller by rounding.
    return np.asarray(np.clip(share - TOLERANCE, 0.0, 1.0))


def expected(counts: SensitiveCounts) -> FloatArray:
    """Return the share in the whole table of the value of every entry."""
    return np.asarray(counts.overall[counts.values] / counts.overall.sum())


class ColumnNames:
    """The name of a column, several names or None."""

    def admits(self, value: object) -> bool:
        """Return whether the value is None, a name or a tuple of names."""
        names = value if isinstance(value, tuple) else (value,)
        return value is None or (len(names) > 0 and all(isinstance(name, str) and name for name in names))

    def __str__(self) -> str:
        return "a column name, a tuple of column names or None"


class _Guarantees:
    def admits(self, value: object) -> bool:
        return (
            isinstance(value, tuple) and len(value) > 0 and all(isinstance(part, Guarantee) for part in value)
        )

    def __str__(self) -> str:
        return "a tuple of one or more guarantees"


A_GUARANTEE = InstanceOf((Guarantee,), "a guarantee")
"""The constraint of publishers that keep any guarantee."""
