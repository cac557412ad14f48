"""(alpha, k)-anonymity, beta-likeness and delta-disclosure."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.guarantees.small_tables import Rows, groups_of, rows_of, tables, wards
from tests.oracles import tables as oracles

from discreet.core.errors import ParameterError
from discreet.guarantees import AlphaKAnonymity, BasicBetaLikeness, DeltaDisclosure, EnhancedBetaLikeness


@given(tables(), st.sampled_from([0.2, 0.25, 1 / 3, 0.5, 0.6, 2 / 3, 1.0]), st.integers(1, 4))
def test_alpha_k_agrees_with_counting(rows: Rows, alpha: float, k: int) -> None:
    classes, _ = wards(rows)
    groups = groups_of(rows)
    shares = [oracles.largest_share(values) for values in classes]
    assert AlphaKAnonymity(alpha, k).measure(groups).tolist() == shares
    expected = [share <= alpha and len(values) >= k for share, values in zip(shares, classes, strict=True)]
    assert AlphaKAnonymity(alpha, k).holds(groups).tolist() == expected


def test_alpha_k_verdict_says_which_half_failed() -> None:
    groups = groups_of(rows_of({"u": "abc", "v": "ab"}))
    verdict = AlphaKAnonymity(0.5, 3).check(groups)
    sizes, shares = verdict.parts
    assert (verdict.ok, sizes.ok, shares.ok) == (False, False, True)
    assert (sizes.worst, shares.worst, verdict.failing_groups) == (2.0, 0.5, 1)


@given(tables(), st.floats(0.05, 4))
def test_basic_beta_agrees(rows: Rows, beta: float) -> None:
    classes, everyone = wards(rows)
    gains = [oracles.relative_gain(values, everyone) for values in classes]
    groups = groups_of(rows)
    assert BasicBetaLikeness(beta).measure(groups) == pytest.approx(gains, abs=1e-12)
    for holds, gain in zip(BasicBetaLikeness(beta).holds(groups), gains, strict=True):
        assert holds == (gain <= beta) or gain == pytest.approx(beta, abs=1e-8)


@given(tables(), st.floats(0.05, 4))
def test_enhanced_beta_agrees(rows: Rows, beta: float) -> None:
    classes, everyone = wards(rows)
    groups = groups_of(rows)
    holds = EnhancedBetaLikeness(beta).holds(groups).tolist()
    assert holds == [oracles.is_enhanced_beta_like(values, everyone, beta) for values in classes]


def test_beta_by_hand() -> None:
    """In v, a rises from 3/4 to 1: by 1/3, above -ln 3/4 = 0.288. In u, b rises from 1/4 to 1/2: by 1."""
    groups = groups_of(rows_of({"u": "ab", "v": "aa"}))
    assert BasicBetaLikeness(1).measure(groups) == pytest.approx([1.0, 1 / 3])
    assert BasicBetaLikeness(1).check(groups)
    assert not BasicBetaLikeness(0.999).check(groups)
    assert EnhancedBetaLikeness(1).holds(groups).tolist() == [True, False]
    assert EnhancedBetaLikeness(1).measure(groups) == pytest.approx([1.0, (1 / 3) / -math.log(0.75)])


def test_constant_column_gains_nothing() -> None:
    groups = groups_of(rows_of({"u": "aa", "v": "a"}))
    assert EnhancedBetaLikeness(0.1).measure(groups).tolist() == [0.0, 0.0]
    assert EnhancedBetaLikeness(0.1).check(groups)
    assert DeltaDisclosure(0.1).check(groups)


@given(tables(), st.floats(0.1, 4))
def test_delta_disclosure_agrees(rows: Rows, delta: float) -> None:
    classes, everyone = wards(rows)
    ratios = [oracles.log2_ratio(values, everyone) for values in classes]
    groups = groups_of(rows)
    assert DeltaDisclosure(delta).measure(groups) == pytest.approx(ratios, abs=1e-12)
    for holds, ratio in zip(DeltaDisclosure(delta).holds(groups), ratios, strict=True):
        assert holds == (ratio < delta) or ratio == pytest.approx(delta, abs=1e-8)


def test_delta_disclosure_is_strict_and_forgets_absent_values() -> None:
    groups = groups_of(rows_of({"u": "aa", "v": "bb"}))
    assert DeltaDisclosure(1).measure(groups).tolist() == [1.0, 1.0]
    assert not DeltaDisclosure(1).check(groups)
    assert DeltaDisclosure(1.001).check(groups)
    thirds = groups_of(rows_of({"u": "a", "v": "b", "w": "c"}))
    assert not DeltaDisclosure(math.log2(3)).check(thirds)


@given(tables(), st.floats(0.1, 4))
def test_the_published_reading_of_delta_disclosure_counts_absent_values(rows: Rows, delta: float) -> None:
    classes, everyone = wards(rows)
    groups = groups_of(rows)
    literal = DeltaDisclosure(delta, absent="counted")
    expected = [
        math.inf if set(values) < set(everyone) else oracles.log2_ratio(values, everyone)
        for values in classes
    ]
    assert literal.measure(groups) == pytest.approx(expected, abs=1e-12)
    assert not (literal.holds(groups) & ~DeltaDisclosure(delta).holds(groups)).any()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: AlphaKAnonymity(0, 2), "alpha"),
        (lambda: AlphaKAnonymity(1.1, 2), "alpha"),
        (lambda: AlphaKAnonymity(0.5, 0), "k"),
        (lambda: BasicBetaLikeness(0), "beta"),
        (lambda: EnhancedBetaLikeness(math.inf), "beta"),
        (lambda: DeltaDisclosure(-1), "delta"),
    ],
)
def test_errors_name_the_parameter(make: object, name: str) -> None:
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of"):
        make()  # type: ignore[operator]
