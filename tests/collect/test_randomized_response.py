"""Randomized and unary response: the right chances, the truth back, standard errors that hold, ε by enumeration."""

from __future__ import annotations

import itertools
import math
import warnings
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.collect import Channels, NotConvergedWarning, RandomizedResponse, UnaryResponse, unary_response
from discreet.core.errors import InputError, ParameterError
from discreet.guarantees import LocalDP

NAMES = ["a", "b", "c"]
MATRIX = np.array([[0.7, 0.2, 0.1], [0.05, 0.9, 0.05], [0.3, 0.1, 0.6]])
FALSE_ALARM = 1e-6
"""How often |z| > 4.9 for a right one; seeds are fixed."""


def test_reports_are_as_frequent_as_the_matrix_says() -> None:
    channel = RandomizedResponse(NAMES, MATRIX)
    for code, row in enumerate(MATRIX):
        seen = channel.count(channel.perturb([NAMES[code]] * 50_000, random_state=code))
        assert (np.abs(seen - 50_000 * row) < 4.9 * np.sqrt(50_000 * row * (1 - row))).all()


@given(st.lists(st.integers(1, 1000), min_size=3, max_size=3), st.sampled_from(["em", "bayes", "inverse"]))
def test_exact_expected_counts_return_the_truth(truth, method: str) -> None:
    shares = np.array(truth) / sum(truth)
    found = RandomizedResponse(NAMES, MATRIX).reconstruct(counts=1e6 * shares @ MATRIX, method=method)
    assert np.allclose(found.shares, shares, atol=1e-8)


@given(st.lists(st.integers(0, 50), min_size=3, max_size=3).filter(any))
def test_em_stays_a_distribution_and_is_never_less_likely_than_its_neighbors(counts) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        found = RandomizedResponse(NAMES, MATRIX).reconstruct(counts=counts, max_steps=5_000).shares
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1)

    def likelihood(shares: np.ndarray) -> float:
        return float(np.sum(np.array(counts) * np.log(shares @ MATRIX)))

    rng = np.random.default_rng(0)
    for _ in range(30):
        other = rng.dirichlet(np.ones(3))
        mixed = 0.9 * found + 0.1 * other
        assert likelihood(mixed) <= likelihood(found) + 1e-6 * sum(counts)


@pytest.mark.parametrize("channel", [RandomizedResponse(NAMES, MATRIX), UnaryResponse(NAMES, p=0.6, q=0.8)])
def test_standard_errors_are_those_of_many_repetitions(channel) -> None:
    """200 repetitions: an estimated spread is off by a twentieth, and a fourth is allowed, which is five of them."""
    truth = ["a"] * 500 + ["b"] * 300 + ["c"] * 200
    options = {"method": "inverse"} if isinstance(channel, RandomizedResponse) else {}
    rng = np.random.default_rng(1)
    found = []
    for seed in range(200):
        drawn = rng.choice(truth, len(truth))
        found.append(channel.reconstruct(channel.perturb(drawn, random_state=seed), **options))
    spread = np.std([one.shares for one in found], axis=0)
    told = np.mean([one.standard_errors for one in found], axis=0)
    assert np.allclose(spread / told, 1, atol=0.25)
    means = np.mean([one.shares for one in found], axis=0)
    assert (np.abs(means - [0.5, 0.3, 0.2]) < 4.9 * told / np.sqrt(200)).all()


@given(st.floats(0.05, 0.95), st.integers(2, 5))
def test_the_epsilon_of_k_ary_response_is_the_largest_ratio(keep: float, k: int) -> None:
    if abs(keep - 1 / k) < 1e-3:
        return
    channel = RandomizedResponse.k_ary(range(k), keep=keep)
    worst = max(
        math.log(channel.matrix[i, r] / channel.matrix[j, r])
        for i, j, r in itertools.product(range(k), repeat=3)
    )
    assert channel.epsilon == pytest.approx(worst)


@given(st.floats(0.02, 0.98), st.floats(0.02, 0.98))
def test_the_epsilon_of_unary_response_is_the_largest_ratio_of_all_reports(p: float, q: float) -> None:
    if abs(p + q - 1) < 1e-6:
        return
    channel = UnaryResponse(NAMES, p=p, q=q)

    def chance(truth: int, bits: tuple[int, ...]) -> float:
        return math.prod(
            (p if bit else 1 - p) if place == truth else (1 - q if bit else q)
            for place, bit in enumerate(bits)
        )

    worst = max(
        math.log(chance(i, bits) / chance(j, bits))
        for i, j in itertools.permutations(range(3), 2)
        for bits in itertools.product((0, 1), repeat=3)
    )
    assert channel.epsilon == pytest.approx(worst)


@given(st.floats(0.01, 20))
def test_channels_for_an_epsilon_have_it(epsilon: float) -> None:
    assert RandomizedResponse.k_ary(NAMES, epsilon=epsilon).epsilon == pytest.approx(epsilon)
    assert UnaryResponse.optimal(NAMES, epsilon=epsilon).epsilon == pytest.approx(epsilon)
    assert UnaryResponse.symmetric(NAMES, epsilon=epsilon).epsilon == pytest.approx(epsilon)


@given(st.floats(0.001, 700), st.integers(2, 30))
def test_no_requested_epsilon_is_exceeded_by_exact_arithmetic(epsilon: float, k: int) -> None:
    """The chances are whole numbers of 2^-52, which is what is drawn; so ratios of fractions are the whole truth."""
    with localcontext() as context:
        context.prec = 60
        most = Decimal(epsilon).exp()
        matrix = RandomizedResponse.k_ary(range(k), epsilon=epsilon).matrix
        keep, other = Fraction(float(matrix[0, 0])), Fraction(float(matrix[0, 1]))
        assert keep + (k - 1) * other == 1
        assert as_decimal(keep / other) <= most
        for channel in (UnaryResponse.optimal, UnaryResponse.symmetric):
            made = channel(range(k), epsilon=epsilon)
            p, q = Fraction(made.p), Fraction(made.q)
            assert p * 2**52 == int(p * 2**52)
            assert as_decimal(p * q / ((1 - p) * (1 - q))) <= most
            assert LocalDP(epsilon).check(made).ok


def as_decimal(ratio: Fraction) -> Decimal:
    return Decimal(ratio.numerator) / Decimal(ratio.denominator)


@given(st.integers(0, 10_000), st.integers(2, 5))
def test_the_epsilon_of_a_matrix_is_that_of_what_is_drawn(seed: int, k: int) -> None:
    """Of the 2^52 cells that a draw may fall into, those of each report are counted in exact arithmetic."""
    matrix = np.random.default_rng(seed).dirichlet(np.full(k, 0.2), k)
    try:
        channel = RandomizedResponse(range(k), matrix)
    except ParameterError:
        return
    drawn = [drawn_cells(row) for row in matrix]
    ratios = [
        Fraction(one[report], other[report]) if other[report] else None
        for one, other in itertools.permutations(drawn, 2)
        for report in range(k)
        if one[report]
    ]
    wanted = math.inf if None in ratios else math.log(max(one for one in ratios if one is not None))
    assert channel.epsilon == pytest.approx(wanted, abs=1e-12)


def drawn_cells(row: np.ndarray) -> list[int]:
    """Count the cells, with middles (w + 1/2) / 2^52, of each report: up to its sum of chances; the last takes all."""
    last = int(np.flatnonzero(row)[-1])
    ends, reached = [], 0.0
    for place, chance in enumerate(row):
        reached += float(chance)
        whole = place >= last or reached >= 1
        ends.append(2**52 if whole else math.ceil(Fraction(reached) * 2**52 - Fraction(1, 2)))
    return [end - start for start, end in itertools.pairwise([0, *ends])]


def test_chances_too_small_to_be_drawn_promise_nothing() -> None:
    assert RandomizedResponse(["a", "b"], [[1 - 1e-20, 1e-20], [0.5, 0.5]]).epsilon == math.inf
    assert UnaryResponse(NAMES, p=1e-20, q=0.5).epsilon == math.inf


def test_a_report_of_no_chance_never_comes_though_rounding_leaves_a_rest() -> None:
    channel = RandomizedResponse(NAMES, [[0.5, 0.5 - 9e-10, 0.0], [0.2, 0.8, 0.0], [0.1, 0.1, 0.8]])
    assert channel._ladder()[:2, 1].tolist() == [1.0, 1.0]
    assert channel.epsilon == math.inf


@given(st.lists(st.floats(0.01, 1), min_size=3, max_size=3))
def test_expected_counts_need_not_be_whole(truth) -> None:
    shares = np.array(truth) / sum(truth)
    found = RandomizedResponse(NAMES, MATRIX).reconstruct(counts=0.3 * shares @ MATRIX, method="inverse")
    assert np.allclose(found.shares, shares)


def test_a_report_that_settles_the_truth_has_no_finite_epsilon() -> None:
    assert RandomizedResponse(["a", "b"], [[1.0, 0.0], [0.5, 0.5]]).epsilon == math.inf
    assert UnaryResponse(NAMES, p=1.0, q=0.9).epsilon == math.inf


def test_the_bits_of_unary_response_are_as_frequent_as_they_should_be() -> None:
    bits = UnaryResponse(NAMES, p=0.7, q=0.9).perturb(["b"] * 50_000, random_state=1)
    for column, chance in zip(bits.T, (0.1, 0.7, 0.1), strict=True):
        assert abs(column.mean() - chance) < 4.9 * math.sqrt(chance * (1 - chance) / 50_000)
    assert abs(np.corrcoef(bits.T)[0, 2]) < 4.9 / math.sqrt(50_000)


def test_bits_are_drawn_a_few_at_a_time(monkeypatch) -> None:
    """Each part has draws of its own, and rows stay where they were."""
    monkeypatch.setattr(unary_response, "_DRAWS", 7)
    channel = UnaryResponse(NAMES, p=1, q=0.5)
    truth = np.array(NAMES * 200)
    bits = channel.perturb(truth, random_state=1)
    assert (bits[np.arange(600), np.tile([0, 1, 2], 200)]).all()
    assert len({row.tobytes() for row in np.ascontiguousarray(bits.reshape(100, -1))}) > 90
    assert channel.perturb([], random_state=1).shape == (0, 3)


def test_a_seed_gives_the_same_reports_and_no_chance_returns_the_input() -> None:
    channel = RandomizedResponse(NAMES, MATRIX)
    truth = np.array(NAMES * 100)
    assert np.array_equal(channel.perturb(truth, random_state=1), channel.perturb(truth, random_state=1))
    assert np.array_equal(RandomizedResponse(NAMES, np.eye(3)).perturb(truth), truth)
    assert np.array_equal(UnaryResponse(NAMES, p=1, q=1).perturb(truth), truth[:, None] == np.array(NAMES))


def test_all_kinds_of_columns_are_read() -> None:
    channel = RandomizedResponse.k_ary(NAMES, keep=0.6)
    plain = ["a", "b", "c", "a"]
    told = [channel.count(kind).tolist() for kind in (
        plain, tuple(plain), np.array(plain), pd.Series(plain), pd.Series(plain, dtype="category"),
        pl.Series(plain), pa.array(plain), pa.chunked_array([plain]), pa.array(plain).dictionary_encode(),
    )]  # fmt: skip
    assert all(one == [2, 1, 1] for one in told)
    numbers = RandomizedResponse.k_ary([1, 2], keep=0.9)
    assert numbers.count(np.array([1, 2, 2], np.int8)).tolist() == [1, 2]


def test_counts_of_batches_add_up() -> None:
    channel, unary = RandomizedResponse(NAMES, MATRIX), UnaryResponse(NAMES, p=0.6, q=0.9)
    reports = channel.perturb(NAMES * 40, random_state=1)
    merged = channel.reconstruct(counts=channel.count(reports[:50]) + channel.count(reports[50:]))
    assert np.array_equal(merged.shares, channel.reconstruct(reports).shares)
    bits = unary.perturb(NAMES * 40, random_state=1)
    merged = unary.reconstruct(counts=unary.count(bits[:50]) + unary.count(bits[50:]), n=120)
    assert np.array_equal(merged.shares, unary.reconstruct(bits).shares)


def test_one_that_does_not_settle_says_so() -> None:
    slow = RandomizedResponse.k_ary(NAMES, keep=0.35)
    with pytest.warns(NotConvergedWarning):
        found = slow.reconstruct(counts=[90, 5, 5], max_steps=2)
    assert not found.converged


@pytest.mark.parametrize(
    ("categories", "matrix", "words"),
    [
        (["a"], [[1.0]], "two or more"),
        (["a", "a"], np.eye(2), "once"),
        (["a", None], np.eye(2), "once"),
        (["a", "b"], np.eye(3), "2 × 2"),
        (["a", "b"], [[0.5, 0.6], [0.5, 0.5]], "add up to 1"),
        (["a", "b"], [[1.5, -0.5], [0.5, 0.5]], "add up to 1"),
        (["a", "b"], [[math.nan, 1.0], [0.5, 0.5]], "add up to 1"),
        (["a", "b"], [[0.5, 0.5], [0.5, 0.5]], "cannot be inverted"),
        (["a", "b"], "magic", "add up to 1"),
    ],
)
def test_matrices_that_do_not_serve_are_refused(categories, matrix, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        RandomizedResponse(categories, matrix)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: RandomizedResponse.k_ary(NAMES), ParameterError),
        (lambda: RandomizedResponse.k_ary(NAMES, keep=0.5, epsilon=1.0), ParameterError),
        (lambda: RandomizedResponse.k_ary(NAMES, keep=1.5), ParameterError),
        (lambda: RandomizedResponse.k_ary(NAMES, keep=1 / 3), ParameterError),
        (lambda: RandomizedResponse.k_ary(NAMES, epsilon=0), ParameterError),
        (lambda: RandomizedResponse(NAMES, MATRIX).reconstruct(["a"], method="magic"), ParameterError),
        (lambda: RandomizedResponse(NAMES, MATRIX).reconstruct(["a"], tolerance=0), ParameterError),
        (lambda: RandomizedResponse(NAMES, MATRIX).reconstruct(["a"], max_steps=0), ParameterError),
        (lambda: RandomizedResponse(NAMES, MATRIX).reconstruct(), ParameterError),
        (lambda: RandomizedResponse(NAMES, MATRIX).reconstruct(counts=[1, 2]), InputError),
        (lambda: RandomizedResponse(NAMES, MATRIX).reconstruct(counts=[0, 0, 0]), InputError),
        (lambda: RandomizedResponse(NAMES, MATRIX).reconstruct(counts=[1, math.inf, 0]), InputError),
        (lambda: RandomizedResponse(NAMES, MATRIX).reconstruct([]), InputError),
        (lambda: UnaryResponse(NAMES, p=0.4, q=0.6), ParameterError),
        (lambda: UnaryResponse(NAMES, p=1.4, q=0.6), ParameterError),
        (lambda: UnaryResponse(["a"], p=0.9, q=0.6), ParameterError),
        (lambda: UnaryResponse.optimal(NAMES, epsilon=-1), ParameterError),
        (lambda: UnaryResponse(NAMES, p=0.9, q=0.6).reconstruct(), ParameterError),
        (lambda: UnaryResponse(NAMES, p=0.9, q=0.6).reconstruct([[2, 0, 1]]), InputError),
        (lambda: UnaryResponse(NAMES, p=0.9, q=0.6).reconstruct([[1, 0]]), InputError),
        (lambda: UnaryResponse(NAMES, p=0.9, q=0.6).reconstruct(counts=[5, 0, 0], n=3), InputError),
        (lambda: UnaryResponse(NAMES, p=0.9, q=0.6).reconstruct(counts=[0, 0, 0], n=0), InputError),
        (lambda: UnaryResponse(NAMES, p=0.9, q=0.6).reconstruct(counts=[0, 0, 0]), ParameterError),
    ],
)
def test_mistakes_are_refused(call, error) -> None:
    with pytest.raises(error):
        call()


def test_nobody_and_nothing_are_distinguished() -> None:
    channel = RandomizedResponse(NAMES, MATRIX)
    assert channel.perturb([]).size == 0
    for empty in (pd.DataFrame({"x": []}, dtype=object), pl.DataFrame({"x": []}), pa.table({"x": []})):
        assert len(Channels({"x": channel}).perturb(empty)) == 0
    with pytest.raises(InputError, match="no reports"):
        channel.reconstruct([])
    with pytest.raises(InputError, match="2 values of 'data' are null"):
        channel.perturb([None, None])


@pytest.mark.parametrize("values", [["Zyzzogeton-4711"], [None, "a"], [1.5], [["a"]], ["a", 4711]])
def test_values_of_no_category_are_refused_unseen(values) -> None:
    for channel in (RandomizedResponse(NAMES, MATRIX), UnaryResponse(NAMES, p=0.9, q=0.9)):
        with pytest.raises(InputError) as caught:
            channel.perturb(values)
        assert "4711" not in str(caught.value)
        assert caught.value.__cause__ is None
