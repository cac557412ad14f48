"""Likelihood ranks: the attack finds what the promise says, and undoes the spreads of the paper."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from discreet import Table, quasi
from discreet.core.errors import InputError
from discreet.measure import joint_matching, likelihood_ranks
from discreet.publish import UncertainRecords


def table(n: int = 150) -> Table:
    values = np.random.default_rng(4).normal(size=(n, 3))
    names = ["a", "b", "c"]
    columns = dict(zip(names, values.T, strict=True))
    return Table(pa.table(columns), {name: quasi() for name in names})


@pytest.mark.parametrize("spread", ["gaussian", "uniform"])
@pytest.mark.parametrize("k", [3, 8])
def test_the_mean_rank_over_draws_is_the_expected_anonymity(spread: str, k: int) -> None:
    people = table()
    for attacker in ("naive", "informed"):
        releases = [
            UncertainRecords(k, spread=spread, attacker=attacker, random_state=seed).release(people)
            for seed in range(12)
        ]
        ranks = [likelihood_ranks(release) for release in releases]
        expected = float(releases[0].evidence.arrays["anonymity"].mean())
        measured = [rank.mean if attacker == "naive" else rank.same_spread_mean for rank in ranks]
        assert np.mean(measured) == pytest.approx(expected, rel=0.06)


def test_whoever_computes_the_spreads_of_the_paper_finds_everybody() -> None:
    paper = UncertainRecords(5, attacker="naive", random_state=0).release(table())
    assert likelihood_ranks(paper).same_spread_first == 1.0
    assert joint_matching(paper) == 1.0
    ours = UncertainRecords(5, random_state=0).release(table())
    assert likelihood_ranks(ours).same_spread_mean > 5
    assert likelihood_ranks(ours).same_spread_first < 0.5
    assert joint_matching(ours) < 0.5
    assert joint_matching(UncertainRecords(5, spread="uniform", random_state=0).release(table())) < 0.5


def test_ranks_agree_with_plain_python() -> None:
    people = table(30)
    release = UncertainRecords(3, random_state=0).release(people)
    rows, originals = release.frame.to_pylist(), people.frame.to_pylist()
    ranks = []
    for row, own in zip(rows, release.order, strict=True):
        far = [sum(((row[c] - one[c]) / row[f"{c}_spread"]) ** 2 for c in "abc") for one in originals]
        ranks.append(sum(distance <= far[own] for distance in far))
    assert likelihood_ranks(release).mean == pytest.approx(np.mean(ranks))


def test_another_table_is_refused() -> None:
    release = UncertainRecords(3, random_state=0).release(table())
    with pytest.raises(InputError, match="must hold the records that were published"):
        likelihood_ranks(release, table(40))
