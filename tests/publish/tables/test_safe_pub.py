"""SafePub: its delta against exact arithmetic and against the divergence itself, its scores, its rows, bad input."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Table, from_mapping, intervals, masked, person, quasi, sensitive
from discreet.core.errors import InfeasibleError, ParameterError, SchemaError
from discreet.guarantees import KAnonymity, SampledPrivacy
from discreet.guarantees.k_anonymity import SampleSize, _sampling_delta
from discreet.publish import Generalization, Mondrian, SafePub
from discreet.publish.lattice.lattice import Lattice
from discreet.publish.tables.safe_pub import noisy_best, scores_of

TOWNS = from_mapping({"a": ["north"], "b": ["north"], "c": ["south"]})


def probability(j: int, n: int, beta: Fraction) -> Fraction:
    return math.comb(n, j) * beta**j * (1 - beta) ** (n - j) if 0 <= j <= n else Fraction(0)


def exact_delta(epsilon: float, k: int, most: int) -> float:
    """The largest tail over classes of up to ``most`` rows, term by term in fractions."""
    beta = Fraction(-math.expm1(-epsilon))
    gamma = 1 - (1 - beta) * Fraction(math.exp(-epsilon))
    return float(
        max(
            sum(probability(j, n, beta) for j in range(math.floor(gamma * n) + 1, n + 1))
            for n in range(max(math.ceil(k / gamma - 1), 1), most)
        )
    )


@pytest.mark.parametrize(("epsilon", "k"), [(0.25, 3), (0.5, 6), (1.0, 5), (1.0, 12), (1.1, 8), (2.0, 15)])
def test_the_delta_is_that_of_exact_arithmetic(epsilon: float, k: int) -> None:
    assert _sampling_delta(epsilon, k) == pytest.approx(exact_delta(epsilon, k, 90), rel=1e-6)


@pytest.mark.parametrize(("epsilon", "k"), [(0.5, 4), (1.0, 6), (2.0, 9)])
def test_no_class_diverges_by_more_than_the_delta(epsilon: float, k: int) -> None:
    """One row more or less in a class of n: what is published of it are j drawn rows, or nothing below k."""
    beta, ratio = Fraction(-math.expm1(-epsilon)), Fraction(math.exp(epsilon)) * (1 + Fraction(1, 10**12))
    delta = _sampling_delta(epsilon, k)
    for n in range(1, 60):
        shown = []
        for size in (n, n - 1):
            drawn = [probability(j, size, beta) for j in range(n + 1)]
            shown.append([sum(drawn[:k], Fraction(0)), *drawn[k:]])
        for first, second in itertools.permutations(shown):
            beyond = sum(max(p - ratio * q, Fraction(0)) for p, q in zip(first, second, strict=True))
            assert float(beyond) <= delta


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(2.0, 1e-5), (1.5, 1e-6), (math.log(2), 1e-7), (math.log(3), 1e-8)]
)
def test_the_k_is_the_least(epsilon: float, delta: float) -> None:
    """The parameters of ARX's own tests; beta is theirs to the digit."""
    size = SampleSize.of_added(epsilon, delta)
    assert size.beta == pytest.approx(1 - math.exp(-epsilon), rel=1e-15)
    assert _sampling_delta(epsilon, size.k) < delta <= _sampling_delta(epsilon, size.k - 1)


def table_of(rows: list[tuple[Any, ...]]) -> Table:
    ages, towns = zip(*rows, strict=True)
    frame = pa.table({"age": pa.array(ages, pa.int64()), "town": list(towns)})
    return Table(frame, {"age": quasi(intervals(10)), "town": quasi(TOWNS)})


ROW = st.tuples(st.sampled_from([1, 2, 11, 21, None]), st.sampled_from("abc"))


@given(rows=st.lists(ROW, min_size=1, max_size=12), other=ROW, at=st.integers(0, 11), least=st.integers(1, 5))
@settings(max_examples=150, deadline=None)
def test_a_row_that_changes_moves_no_score_by_more_than_is_charged(
    rows: list[tuple[Any, ...]], other: tuple[Any, ...], at: int, least: int
) -> None:
    changed = list(rows)
    changed[at % len(rows)] = other
    first, second = (scores_of(Lattice(table_of(one)), least) for one in (rows, changed))
    for node in itertools.product(range(3), range(3)):
        assert abs(first(node) - second(node)) <= least * 64


def test_the_rows_are_true_ones_of_classes_that_are_large_enough() -> None:
    rows = [(1, "a"), (11, "b"), (21, "c"), (2, "c")] * 400 + [(45, "a")]
    promise = SampledPrivacy(2, 1e-6)
    release = SafePub(promise, levels={"age": 1}).release(table_of(rows))
    whole = Generalization(KAnonymity(1), levels={"age": 1}).release(table_of(rows)).frame.to_pylist()
    sampled = Counter(tuple(row.values()) for row in release.frame.to_pylist())
    original = Counter(tuple(row.values()) for row in whole)
    assert release.kind == "sampled-table"
    assert min(sampled.values()) >= release.guarantee.smallest > 50
    assert all(count < original[row] for row, count in sampled.items())
    assert ("[40, 49]", "a") not in sampled
    beta = release.evidence.details["beta"]
    assert abs(sum(sampled.values()) - beta * 1600) < 6 * math.sqrt(1600 * beta)
    assert release.evidence.suppressed == len(rows) - sum(sampled.values())
    again = SafePub(promise, levels={"age": 1}).release(table_of(rows))
    assert Counter(tuple(row.values()) for row in again.frame.to_pylist()) != sampled


def test_the_search_finds_detail_where_there_is_room_for_it() -> None:
    rows = [(age, town) for age in (1, 11) for town in ("a", "c")] * 20_000
    release = SafePub(SampledPrivacy(4, 1e-6), n_steps=12).release(table_of(rows))
    assert release.evidence.levels == {"age": 0, "town": 0}
    assert release.verdict.word == "by construction"


def test_a_large_budget_takes_the_best_node() -> None:
    assert noisy_best([(0,), (1,), (2,)], [5, 900, 40], 1, 20.0) == (1,)
    drawn = Counter(noisy_best([(0,), (1,)], [0, 1], 1, 1e-6) for _ in range(400))
    assert 120 < drawn[(0,)] < 280


def test_the_folder_is_claimed_for_others_and_k_verified(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from discreet.cli._app import app

    release = SafePub(SampledPrivacy(2, 1e-6), levels={"age": 1}).release(
        table_of([(1, "a"), (11, "b")] * 500)
    )
    folder = release.write(tmp_path / "release")
    judged = CliRunner().invoke(app, ["check", str(folder)])
    assert f"verified  KAnonymity(k={release.guarantee.smallest})" in judged.output
    assert "claimed   SampledPrivacy(epsilon=2, delta=1e-06, search=0.0)" in judged.output
    assert judged.exit_code == 3


def test_what_would_break_the_promise_is_refused() -> None:
    rows = [(1, "a"), (11, "b")] * 500
    promise = SampledPrivacy(2, 1e-6)
    with pytest.raises(SchemaError, match="which no other method takes"):
        Mondrian(promise).release(table_of(rows))
    with pytest.raises(SchemaError, match="which no other method takes"):
        promise.check(table_of(rows))
    with pytest.raises(ParameterError, match="guarantee"):
        SafePub(KAnonymity(5))
    with pytest.raises(ParameterError, match="random_state"):
        SafePub(promise, random_state=1)
    with pytest.raises(ParameterError, match="takes a share of epsilon"):
        SafePub(SampledPrivacy(2, 1e-6, search=0)).release(table_of(rows))
    with pytest.raises(InfeasibleError, match="No class has"):
        SafePub(promise, levels={}).release(table_of(rows[:10]))
    ill = pa.table({"age": [1, 2], "ill": ["x", "y"], "zip": ["1", "22"], "who": [1, 2]})
    for column, words in ((sensitive(), "no quasi-identifier"), (quasi(masked()), "may depend on the rows")):
        roles = {"age": quasi(intervals(10)), "zip": column}
        with pytest.raises(SchemaError, match=words):
            SafePub(promise).release(Table(ill.select(["age", "zip"]), roles))
    visits = Table(ill.select(["age", "who"]), {"age": quasi(intervals(10)), "who": person()})
    with pytest.raises(SchemaError, match="counts rows"):
        SafePub(promise).release(visits)
    assert np.isfinite(promise.bound)


def test_the_public_record_is_that_of_the_sample_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tables whose rows differ where nobody was drawn have the same public record, figures and cautions."""
    plan = SafePub._plan

    class FixedDraws:
        def __init__(self, rng: np.random.Generator) -> None:
            self._rng = rng

        def __getattr__(self, name: str) -> Any:
            return getattr(self._rng, name)

        def binomial(self, counts: Any, beta: float) -> Any:
            del beta
            return np.where(counts > 5, 100, 0)

    monkeypatch.setattr(SafePub, "_plan", lambda self, table, rng: plan(self, table, FixedDraws(rng)))
    rows = [(1, "a"), (11, "b"), (21, "c")] * 400
    releases = [
        SafePub(SampledPrivacy(2, 1e-6), levels={"age": 1}).release(table_of([*rows, last]))
        for last in ((2, "b"), (98, "a"))
    ]
    assert releases[0].recipe == releases[1].recipe
    first, second = ([each for each in release.cautions if each.public] for release in releases)
    assert first == second
    assert releases[0].verdict == releases[1].verdict
    figures = [release.figures.public.to_dict() for release in releases]
    assert figures[0] == figures[1]
