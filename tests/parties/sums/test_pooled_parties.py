"""How many parties may pool what they saw is said as an attacker counts: without their vectors and their noise."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.parties import CandidateUnion, SecureSum, simulate
from discreet.parties.mining import HorizontalStatistics

NAMES = tuple("abcdef")
COUNTED = [
    (n, m, threshold)
    for n, m in product(range(3, 7), range(1, 6))
    if m < n
    for threshold in (0, *range(3, n + 1))
]


def private(min_honest: int, threshold: int = 0) -> HorizontalStatistics:
    return HorizontalStatistics(
        columns=("x",), ranges={"x": (0, 4)}, epsilon=0.5, min_honest=min_honest, threshold=threshold
    )


@pytest.mark.parametrize(("n", "min_honest", "threshold"), COUNTED)
def test_the_noise_of_enough_honest_parties_remains_whoever_drops_out(
    n: int, min_honest: int, threshold: int
) -> None:
    protocol = private(min_honest, threshold)
    protocol.check_parties(NAMES[:n])
    withstood, needed = protocol.withstands(n), protocol.needed(n)

    def holds(colluding: int) -> bool:
        noise = all(left - colluding >= min_honest for left in range(needed, n + 1))
        return noise and colluding < needed

    assert withstood == max(c for c in range(n) if holds(c))
    assert withstood >= 1


@pytest.mark.parametrize("n", [2, 3, 4])
def test_noise_that_holds_toward_no_party_is_refused(n: int) -> None:
    """Each party can subtract its own noise, so the noise of all is never there toward one of them."""
    protocol = HorizontalStatistics(
        columns=("x",), ranges={"x": (0, 4)}, epsilon=0.5, min_honest=n, two_parties_see_each_other=n == 2
    )
    with pytest.raises(ParameterError, match="'min_honest'"):
        simulate(protocol, {name: {"x": [1] * 9} for name in NAMES[:n]})


@pytest.mark.parametrize(("n", "threshold"), [(3, 0), (4, 0), (5, 0), (5, 4), (5, 5), (6, 0)])
def test_of_a_sum_two_others_are_left_when_as_many_pool_as_it_withstands(n: int, threshold: int) -> None:
    """One more in the smallest sum that is opened, and those that pool hold the vector of the last one."""
    protocol = SecureSum(length=2, threshold=threshold)
    needed = protocol.needed(n)
    assert needed - protocol.withstands(n) == 2
    vectors = {name: np.array([7, at]) for at, name in enumerate(NAMES[:n])}
    run = simulate(protocol, vectors, drop=dict.fromkeys(NAMES[needed:n], "masked"), timeout=4.0)
    remaining = run.outputs["a"].parties
    pooled, last = remaining[:-1], remaining[-1]
    assert len(pooled) == protocol.withstands(n) + 1
    rest = run.outputs["a"].values - sum(vectors[name] for name in pooled)
    assert rest.tolist() == vectors[last].tolist()


@pytest.mark.parametrize(
    "protocol",
    [
        SecureSum(length=2),
        SecureSum(length=2, method="ring"),
        CandidateUnion(candidates=("x",)),
        HorizontalStatistics(columns=("x",)),
        HorizontalStatistics(columns=("x",), min_count=1),
        private(1),
    ],
)
def test_leaks_say_what_parties_that_pool_learn(protocol: Any) -> None:
    assert any("that pool" in sentence and "all but one" in sentence for sentence in protocol.leaks)


def test_other_protocols_of_sums_count_alike() -> None:
    assert HorizontalStatistics(columns=("x",), min_count=1).withstands(6) == 2
    assert CandidateUnion(candidates=("x",)).withstands(4) == 1
    assert CandidateUnion(candidates=("x",), threshold=6).withstands(6) == 3
    agreed = SecureSum(length=1, two_parties_see_each_other=True)
    assert agreed.withstands(2) == 1, "what each of two learns is declared, as both agreed to it"
    assert agreed.verdict(("a", "b")).ok
