"""Blind and adversarial sequences against every auditor of the registry, judged by enumeration.

An attacker knows the method, the questions, the answers, the denials, and what is declared of the column. So for 5 to 7
records all tables that agree with the answers are listed, and each auditor's own promise is judged on them. That the
denials reveal nothing is judged with them: one of those tables, asked the same questions, gets the same decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.oracles import audit as oracles_audit

from discreet.core.errors import SchemaError
from discreet.core.registry import AUDITORS
from discreet.output.audit import (
    BooleanAuditor,
    Denied,
    ExtremaAuditor,
    IntervalAuditor,
    PrivateAnswers,
    SumAuditor,
    Vault,
)
from discreet.output.audit.auditor import Auditor, Bound, Question
from discreet.output.audit.bounds import decimal
from discreet.output.audit.gate.columns import PublicColumn, SecretColumn

N_QUESTIONS = 9
Transcript = list[tuple[str, np.ndarray, Any]]


def sets_by(style: str, rng: np.random.Generator, n: int) -> np.ndarray:
    """A query set: random, a range, small, or everyone but a few."""
    records = np.arange(n)
    if style == "random":
        return rng.random(n) < rng.uniform(0.2, 0.95)
    if style == "ranges":
        low, high = np.sort(rng.integers(0, n + 1, 2))
        return (records >= low) & (records < high)
    if style == "small":
        return np.isin(records, rng.integers(0, n, int(rng.integers(1, 4))))
    return ~np.isin(records, rng.integers(0, n, int(rng.integers(0, 4))))


def ordered(n: int) -> list[PublicColumn]:
    return [PublicColumn("age", "number", pa.int64(), tuple(range(n)), np.arange(n))]


def run(auditor: Auditor, values: Sequence[Any], questions: Sequence[tuple[str, np.ndarray]]) -> list[Any]:
    """What a vault over these values answers to each question: a release, or None for a denial."""
    column = SecretColumn.of(list(values), step=decimal(getattr(auditor, "step", None)))
    audit = auditor.over(column, public=ordered(len(values)), shared=auditor.shared())
    results: list[Any] = []
    for aggregate, members in questions:
        price = auditor.price(None)
        released = audit.ask(Question(aggregate, (members,), price), [column.truth(aggregate, members)])
        results.append(None if isinstance(released, Denied) else released[0])
    assert isinstance(auditor, PrivateAnswers) or audit.disclosed() == 0
    return results


@dataclass(frozen=True)
class Case:
    """An auditor, how values are drawn, and which tables an attacker may think of."""

    name: str
    auditor: Auditor
    n: int
    values: Callable[[np.random.Generator, int], list[Any]]
    tables: Sequence[int] | None = None
    """The values that everyone knows to be the possible ones; None for a continuum."""
    width: int = 1
    tries: int = 25
    answers: int = 25
    """How many questions are answered at least: an auditor that denies everything promises nothing."""
    unit: str | None = None
    """What the drawn whole numbers are counted in: values are this decimal times them. None for themselves."""
    decimals: bool = False
    """Whether values are decimals, whose last place is the unit; otherwise doubles with a declared step."""

    def table(self, steps: Sequence[Any]) -> list[Any]:
        """The values that stand for these numbers of steps."""
        if self.unit is None:
            return list(steps)
        if self.decimals:
            return [Decimal(self.unit) * step for step in steps]
        return [float(Fraction(self.unit) * step) for step in steps]

    def in_steps(self, released: Any) -> Any:
        """A release about the values as one about their numbers of steps, exactly."""
        if self.unit is None or released is None:
            return released
        if isinstance(released, Bound):
            return Bound(released.relation, float(decimal(released.value) / Fraction(self.unit)))
        steps = Fraction(released) / Fraction(self.unit)
        assert steps.denominator == 1
        return steps


def small(low: int, high: int) -> Callable[[np.random.Generator, int], list[Any]]:
    """Whole numbers, now and then most of them at an end of the bounds."""

    def draw(rng: np.random.Generator, n: int) -> list[Any]:
        skew = rng.choice([0.0, 0.0, 0.9])
        end = rng.choice([low, high])
        return [int(end) if rng.random() < skew else int(rng.integers(low, high + 1)) for _ in range(n)]

    return draw


def ranks(rng: np.random.Generator, n: int) -> list[Any]:
    return [int(k) for k in rng.permutation(n) + 1]


OPEN = {"group": 2, "minimum_set_size": 0}
CASES = [
    Case("sum, no bounds", SumAuditor(**OPEN), 5, small(-2, 2), range(-5, 6)),
    Case("sum, 0/1", SumAuditor(**OPEN, low=0, high=1), 7, small(0, 1), range(2), answers=0),
    Case("sum, 0 to 3", SumAuditor(**OPEN, low=0, high=3), 6, small(0, 3), range(4)),
    Case("sum, 0 to 9", SumAuditor(**OPEN, low=0, high=9), 5, small(0, 9), range(10)),
    Case("sum, 0 or more", SumAuditor(**OPEN, low=0), 5, small(0, 4), range(13)),
    Case("sum, 9 or less", SumAuditor(**OPEN, high=9), 5, small(5, 9), range(-3, 10)),
    Case("sum, group of 3", SumAuditor(group=3, minimum_set_size=3, low=0, high=2), 7, small(0, 2), range(3)),
    Case("extrema", ExtremaAuditor(minimum_set_size=0), 6, small(1, 4)),
    Case("extrema, distinct", ExtremaAuditor(minimum_set_size=0, distinct=True), 5, ranks, tries=120),
    Case("extrema, distinct 6", ExtremaAuditor(minimum_set_size=0, distinct=True), 6, ranks, tries=60),
    Case("extrema, distinct 7", ExtremaAuditor(minimum_set_size=0, distinct=True), 7, ranks, tries=20),
    Case("extrema, 0 or more", ExtremaAuditor(minimum_set_size=0, low=0), 5, small(0, 3), range(7)),
    Case("extrema, 0 to 4", ExtremaAuditor(minimum_set_size=0, low=0, high=4), 6, small(0, 4), range(5)),
    Case("boolean", BooleanAuditor("age"), 7, small(0, 1), range(2)),
    Case(
        "interval", IntervalAuditor(low=0, high=9, width=3, minimum_set_size=0), 5, small(0, 9), range(10), 3
    ),
    Case(
        "interval of a step",
        IntervalAuditor(low=0, high=7, width=1, minimum_set_size=0),
        5,
        small(0, 7),
        range(8),
    ),
]


def in_units_of(unit: str, *, decimals: bool = False) -> list[Case]:
    """The auditors with bounds, over values that are multiples of a number below 1, and bounds close to the data."""
    written = {} if decimals else {"step": float(unit)}

    def at(steps: int) -> float:
        return float(Fraction(unit) * steps)

    def case(name: str, auditor: Auditor, low: int, high: int, tables: range, *, answers: int = 1) -> Case:
        named = f"{name} of {unit}{' as decimals' if decimals else ''}"
        n = 4 if len(tables) > 7 else 5
        return Case(named, auditor, n, small(low, high), tables, 1, 12, answers, unit=unit, decimals=decimals)

    loose = {"minimum_set_size": 0, **written}
    summing = {**loose, "group": 2}
    return [
        case("sum, 0 to 3", SumAuditor(**summing, low=0, high=at(3)), 0, 3, range(4)),
        case("sum, 1 to 9", SumAuditor(**summing, low=at(1), high=at(9)), 1, 9, range(1, 10)),
        case("sum, 0 or more", SumAuditor(**summing, low=0), 0, 4, range(13)),
        case("sum, 9 or less", SumAuditor(**summing, high=at(9)), 5, 9, range(-3, 10)),
        case("extrema, 0 to 4", ExtremaAuditor(**loose, low=0, high=at(4)), 0, 4, range(5)),
        case("extrema, 1 to 3", ExtremaAuditor(**loose, low=at(1), high=at(3)), 1, 3, range(1, 4)),
        case("extrema, -1 to 9", ExtremaAuditor(**loose, low=at(-1), high=at(9)), -1, 9, range(-1, 10)),
        case("extrema, 0 or more", ExtremaAuditor(**loose, low=0), 0, 3, range(7)),
        case("extrema, 4 or less", ExtremaAuditor(**loose, high=at(4)), 1, 4, range(-2, 5)),
        case(
            "interval", IntervalAuditor(low=0, high=at(9), width=at(1), **loose), 0, 9, range(10), answers=0
        ),
    ]


UNITS = [in_units_of(unit) for unit in ("0.1", "0.25", "0.5", "0.01", "3")]
CASES += [
    case
    for cases in (*UNITS, in_units_of("0.1", decimals=True), in_units_of("0.01", decimals=True))
    for case in cases
]


def test_every_auditor_is_attacked() -> None:
    attacked = {case.auditor.name for case in CASES} | {PrivateAnswers.name}
    assert attacked == set(AUDITORS)


@pytest.mark.parametrize(
    ("unit", "low", "high", "first", "last"),
    [
        ("0.5", 1, 10, 9, 10),
        ("0.1", 4, 7, 6, 7),
        ("0.01", 0, 40, 39, 40),
        ("0.25", 0, 4, 3, 4),
        ("1", 0, 4, 3, 4),
        ("3", 0, 4, 3, 4),
    ],
)
def test_the_bound_itself_is_a_possible_answer(unit: str, low: int, high: int, first: int, last: int) -> None:
    """Six records below the bound by a step, then a seventh at it: only the seventh could attain the maximum."""
    scale, records = Fraction(unit), np.arange(7)
    for sign, aggregate in ((1, "max"), (-1, "min")):
        ends = sorted([float(sign * scale * low), float(sign * scale * high)])
        auditor = ExtremaAuditor(low=ends[0], high=ends[1], step=float(unit))
        values = [float(sign * scale * first)] * 6 + [float(sign * scale * last)]
        questions = [(aggregate, records < 6), (aggregate, records < 7)]
        assert run(auditor, values, questions) == [sign * scale * first, None]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_sequence_breaks_the_promise(case: Case) -> None:
    rng = np.random.default_rng(5)
    tables = None if case.tables is None else oracles_audit.grid(case.n, case.tables)
    answered = 0
    for attempt in range(case.tries):
        style = ("random", "ranges", "small", "complements")[attempt % 4]
        values = case.table(case.values(rng, case.n))
        kinds = sorted(case.auditor.aggregates)
        kinds = kinds if rng.random() < 0.5 else [str(rng.choice(kinds))]
        styles = [style if rng.random() < 0.7 else "random" for _ in range(N_QUESTIONS)]
        questions = [(str(rng.choice(kinds)), sets_by(one, rng, case.n)) for one in styles]
        results = run(case.auditor, values, questions)
        transcript = [(*asked, case.in_steps(one)) for asked, one in zip(questions, results, strict=True)]
        transcript = [one for one in transcript if one[1].any() and one[2] is not None]
        answered += len(transcript)
        other = (
            judged_on_reals(case, transcript, rng)
            if tables is None
            else judged(case, tables, transcript, rng)
        )
        assert run(case.auditor, case.table(other), questions) == results, (
            "a decision shows more than the answers"
        )
    assert answered >= case.answers


def judged(case: Case, tables: np.ndarray, transcript: Transcript, rng: np.random.Generator) -> list[Any]:
    """Judge what the answers leave possible, and return one of the tables that agree with them."""
    left = oracles_audit.agreeing(tables, transcript)
    apart = left.max(axis=0) - left.min(axis=0)
    assert (apart >= case.width).all(), "a value is determined, or confined too narrowly"
    return [int(one) for one in left[rng.integers(len(left))]]


def judged_on_reals(case: Case, transcript: Transcript, rng: np.random.Generator) -> list[Any]:
    assert case.auditor.name == "extrema"
    left, values = oracles_audit.continuum(case.n, transcript, distinct=case.auditor.distinct)
    settled = (left.min(axis=0) == left.max(axis=0)) & (left[0] % 2 == 1)
    assert not settled.any(), "a value is determined"
    return oracles_audit.realized(left[rng.integers(len(left))], values, rng)


def test_private_answers_decide_by_the_budget_alone() -> None:
    """Noise promises more than open values; what an attacker may use is what decisions and budget show."""
    rng = np.random.default_rng(6)
    auditor = PrivateAnswers(epsilon=1.0, low=0, high=9, per_question=0.2)
    for _ in range(5):
        questions = [("sum", sets_by("random", rng, 6)) for _ in range(N_QUESTIONS)]
        denials = [[one is None for one in run(auditor, small(0, 9)(rng, 6), questions)] for _ in range(2)]
        assert denials[0] == denials[1]


def test_an_answer_equal_to_that_of_another_set_hides_nothing() -> None:
    """Ranks 2, 6, 1, 3, 4: the minima of all, of {0, 3} and of {1, 4} are 1, 2 and 4, so that record 2 has the 1."""
    asked = [
        ("min", np.arange(5) < 5),
        ("min", np.isin(np.arange(5), [0, 3])),
        ("min", np.isin(np.arange(5), [1, 4])),
    ]
    auditor = ExtremaAuditor(minimum_set_size=0, distinct=True)
    assert None in run(auditor, [2, 6, 1, 3, 4], asked)


def test_a_sum_of_zeros_discloses_nobody() -> None:
    everyone = np.ones(22, np.bool_)
    for auditor in (SumAuditor(low=0), SumAuditor(low=0, high=1)):
        [released] = run(auditor, [0] * 22, [("sum", everyone)])
        assert released.relation == "at most"
        assert released.value >= 2


FLOATS = [
    SumAuditor(low=0, step=0.1),
    SumAuditor(high=500, step=0.1),
    IntervalAuditor(low=0, high=1000, width=1, step=0.1),
    ExtremaAuditor(low=0, step=0.1),
]


@pytest.mark.parametrize("auditor", FLOATS, ids=str)
def test_answers_about_doubles_depend_on_their_decimal_sums_alone(auditor: Auditor) -> None:
    """0.1 + 0.2 and 0.3 + 0.0 differ as sums of doubles; the last digits would filter the tables."""
    rng = np.random.default_rng(8)
    kind = "max" if auditor.name == "extrema" else "sum"
    for _ in range(20):
        tenths = rng.integers(100, 900, 12)
        other = tenths + np.where(np.arange(12) % 2, 1, -1)
        half = np.arange(12) < 6
        shown = []
        for table in (tenths, other) if kind == "sum" else (tenths, tenths):
            frame = pa.table({"half": half, "pay": [float(one) / 10 for one in table]})
            with Vault.in_memory(frame, sensitive=["pay"], public=["half"], auditor=auditor) as vault:
                asked = [f"SELECT {kind}(pay) FROM data", f"SELECT {kind}(pay) FROM data WHERE half"]
                asked += ["SELECT avg(pay) FROM data WHERE half"] if kind == "sum" else []
                shown.append([vault.ask(sql) for sql in asked])
                if kind == "sum":
                    assert shown[-1][0].value == float(Fraction(int(table.sum()), 10))
                    assert shown[-1][1].value == float(Fraction(int(table[half].sum()), 10))
        assert shown[0] == shown[1]


@pytest.mark.parametrize(
    "auditor", [SumAuditor(low=0), IntervalAuditor(0, 9, 1), ExtremaAuditor(low=0)], ids=str
)
def test_doubles_need_a_step(auditor: Auditor) -> None:
    with pytest.raises(SchemaError, match="step"):
        Vault.in_memory(pa.table({"pay": [0.5] * 9}), sensitive=["pay"], public=[], auditor=auditor)


@pytest.mark.parametrize(
    ("pays", "words"),
    [
        ([0, 1] * 5, "boolean"),
        ([True, False] * 5, "boolean"),
        (list(range(10)), "no value below 0"),
        ([-one for one in range(10)], "no value above 0"),
        (list(range(-5, 5)), "close together"),
    ],
)
@pytest.mark.parametrize("auditor", [SumAuditor(), ExtremaAuditor()], ids=str)
def test_bounds_that_everyone_knows_are_declared(auditor: Auditor, pays: list[int], words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        Vault.in_memory(pa.table({"pay": pays}), sensitive=["pay"], public=[], auditor=auditor)


def test_few_people_are_not_added_up_by_default() -> None:
    for auditor in (SumAuditor(low=0), IntervalAuditor(0, 100, 1)):
        assert (
            run(auditor, range(30, 60), [("sum", np.arange(30) < 4), ("sum", np.arange(30) < 5)])[0] is None
        )
    assert SumAuditor().group >= 5


def test_the_verdict_knows_the_bounds() -> None:
    """A log in which a sum of zeros was answered exactly: the row space is innocent, the bounds are not."""
    audit = SumAuditor(low=0).over(SecretColumn.of([0] * 22 + [7] * 8))
    members = np.arange(30) < 22
    audit.restore(Question("sum", (members,)), [Fraction(0)])
    assert audit.disclosed() == 22
    audit = SumAuditor().over(SecretColumn.of([0] * 22 + [7] * 8))
    audit.restore(Question("sum", (members,)), [Fraction(0)])
    assert audit.disclosed() == 0


def test_a_column_of_zeros_and_ones_is_still_answered() -> None:
    """Sums over larger sets of a 0/1 column are exact unless they are extreme."""
    rng = np.random.default_rng(4)
    bits = [int(one) for one in rng.integers(0, 2, 60)]
    sets = [np.arange(60) < 30, np.arange(60) % 2 == 0, np.arange(60) >= 20]
    auditor = SumAuditor(low=0, high=1)
    results = run(auditor, bits, [("sum", members) for members in sets])
    assert results == [
        sum(bit for bit, inside in zip(bits, members, strict=True) if inside) for members in sets
    ]


@pytest.mark.parametrize(
    ("n", "asked", "high", "parameters", "answered"),
    [
        (300, 30, 100_000, {}, 30),
        (300, 30, 100_000, {"low": 0}, 24),
        (60, 60, 100_000, {**OPEN}, 59),
        (60, 60, 100_000, {**OPEN, "low": 0, "high": 100_000}, 24),
        (60, 60, 100, {**OPEN, "low": 0, "high": 100}, 12),
        (60, 60, 1, {**OPEN, "low": 0, "high": 1}, 3),
    ],
)
def test_what_bounds_cost(n: int, asked: int, high: int, parameters: dict[str, Any], answered: int) -> None:
    """The shares that the page on auditing states, give or take what another solver finds."""
    rng = np.random.default_rng(1)
    values = rng.integers(0, high + 1, n).tolist()
    questions = [("sum", rng.random(n) < rng.uniform(0.1, 0.9)) for _ in range(asked)]
    results = run(SumAuditor(**parameters), values, questions)
    assert abs(sum(one is not None for one in results) - answered) <= 2
