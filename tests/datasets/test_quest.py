"""The Quest generator: its names, its seeds, and the laws its baskets follow."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet import Baskets, read_baskets
from discreet.core.errors import ParameterError
from discreet.datasets import quest
from discreet.datasets.quest import _cumulated_poisson, _patterns, _Sizes


def patterns(*, correlation: float = 0.5, seed: int = 0, n: int = 4000, length: float = 4) -> list[set[int]]:
    rng = np.random.default_rng(seed)
    sizes = _Sizes(10, length, 1, 1000, n)
    bounds, members = _patterns(sizes, rng.exponential(size=1000), correlation, rng)
    return [set(part.tolist()) for part in np.split(members, bounds[1:-1])]


@pytest.mark.parametrize(
    ("name", "n", "n_items", "length"),
    [
        ("T10.I4.D2K.N1K", 2000, 1000, 10),
        ("T10I4D3K", 3000, 1000, 10),
        ("C20.I4.D2K", 2000, 1000, 20),
        ("Q12.I2.D2K.N0.2K", 2000, 200, 12),
        ("t2.5.i1.d4k.n500.l900", 4000, 500, 2.5),
        ("T15.D1K", 1000, 1000, 15),
    ],
)
def test_names(name: str, n: int, n_items: int, length: float) -> None:
    made = quest(name, random_state=1)
    assert (len(made), made.n_items) == (n, n_items)
    assert made.lengths.mean() == pytest.approx(length, rel=0.1)
    assert made.names.to_pylist() == list(range(n_items))


def test_keywords_go_before_the_name() -> None:
    named = quest("T10.I4.D1K.N100.L50", random_state=3)
    worded = quest(length=10, pattern_length=4, n_baskets=1000, n_items=100, patterns=50, random_state=3)
    assert named.equals(worded)
    assert len(quest("T10.I4.D1M", n_baskets=10, random_state=3)) == 10


@pytest.mark.parametrize(
    "name", ["T10.I4.D1K.X5", "T10.C5.D1K", "T10.T10.D1K", "hello", "T10 I4 D1K", "T.I4.D1K", ""]
)
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(ParameterError, match=r"The '(name|length)' parameter of quest must be"):
        quest(name)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("length", {"length": 0.5}),
        ("length", {"name": "I4.D1K"}),
        ("n_baskets", {"name": "T10.I4"}),
        ("n_baskets", {"n_baskets": 0}),
        ("n_items", {"n_items": 0}),
        ("patterns", {"patterns": 0}),
        ("pattern_length", {"pattern_length": 0.5}),
        ("correlation", {"correlation": 1.5}),
        ("corruption", {"corruption": 1.0}),
        ("corruption_variance", {"corruption_variance": -0.1}),
        ("item_weights", {"item_weights": "zipf"}),
        ("random_state", {"random_state": -1}),
        ("name", {"name": 5}),
    ],
)
def test_parameters_that_are_refused(name: str, options: Any) -> None:
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of quest must be"):
        quest(**{"name": "T10.I4.D1K", **options})


def test_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    before = np.random.get_state()[1].tolist()  # type: ignore[index, union-attr]  # noqa: NPY002
    one = quest("T10.I4.D20K", random_state=5)
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index, union-attr]  # noqa: NPY002
    assert quest("T10.I4.D20K", random_state=5).equals(one)
    assert quest("T10.I4.D20K", random_state=np.random.default_rng(5)).equals(one)
    assert not quest("T10.I4.D20K", random_state=6).equals(one)
    assert not quest("T10.I4.D1K").equals(quest("T10.I4.D1K"))
    for threads in (1, 3):
        monkeypatch.setattr("discreet.kernels.threads.processors", lambda threads=threads: threads)
        assert quest("T10.I4.D20K", random_state=5).equals(one)


def test_no_basket_is_empty() -> None:
    for corruption in (0.0, 0.5, 0.9):
        made = quest("T2.I2.D5K.N100", corruption=corruption, random_state=1)
        assert made.lengths.min() >= 1


@pytest.mark.parametrize("name", ["T5.I2", "T10.I2", "T10.I4", "T20.I2", "T20.I4", "T20.I6"])
def test_mean_length_of_the_papers_sets(name: str) -> None:
    made = quest(f"{name}.D20K", random_state=1)
    assert made.lengths.mean() == pytest.approx(float(name[1:].partition(".")[0]), rel=0.06)


def test_a_pattern_is_put_into_an_empty_basket_even_if_it_does_not_fit() -> None:
    made = quest("T2.I4.D20K", corruption=0, corruption_variance=0, random_state=1)
    assert 4 < made.lengths.mean() < 6


@pytest.mark.parametrize("mean", [0, 0.5, 9, 300])
def test_lengths_are_drawn_from_poissons_law(mean: float) -> None:
    chances = _cumulated_poisson(mean)
    assert chances == pytest.approx(stats.poisson.cdf(np.arange(chances.size), mean), abs=1e-12)
    assert chances[-1] == 1


def test_pattern_lengths() -> None:
    lengths = [len(pattern) for pattern in patterns(n=20_000)]
    assert min(lengths) == 1
    assert np.mean(lengths) == pytest.approx(4, abs=0.06)  # 5 standard errors
    assert np.var(lengths) == pytest.approx(3, abs=0.25)


def test_correlation_is_what_patterns_share() -> None:
    shares = []
    for correlation in (0.0, 0.25, 0.5, 1.0):
        found = patterns(correlation=correlation, n=6000, length=8)
        shared = [len(now & before) / len(now) for before, now in itertools.pairwise(found)]
        shares.append(np.mean(shared))
    assert shares == sorted(shares)
    assert shares[0] < 0.03
    assert shares[2] == pytest.approx(0.5 * (1 - np.exp(-2)), abs=0.04)  # the mean of min(Exp(0.5), 1)


def test_item_weights() -> None:
    spread = {}
    for kind in ("exponential", "uniform"):
        made = quest("T10.I4.D5K.N100", item_weights=kind, correlation=0, patterns=20_000, random_state=2)
        spread[kind] = made.counts.std() / made.counts.mean()
    assert spread["uniform"] < 0.2
    assert 0.7 < spread["exponential"] < 1.2


def test_without_corruption_patterns_stay_whole() -> None:
    rng = np.random.default_rng(4)
    made = quest("T10.I4.D3K.N1K.L300", corruption=0, corruption_variance=0, random_state=4)
    bounds, members = _patterns(_Sizes(10, 4, 3000, 1000, 300), rng.exponential(size=1000), 0.5, rng)
    found = [frozenset(part.tolist()) for part in np.split(members, bounds[1:-1])]
    for basket in map(set, made):
        whole = [pattern for pattern in found if pattern <= basket]
        assert set().union(*whole) == basket


def test_corruption_drops_items_one_by_one() -> None:
    """Each further item goes with the chance of the level; a pattern of which nothing is left is drawn again."""
    level = 0.6
    made = quest(
        length=1,
        pattern_length=6,
        n_baskets=50_000,
        patterns=1,
        corruption=level,
        corruption_variance=0,
        random_state=8,
    )
    size = int(made.lengths.max())
    assert size > 3
    chance = np.array([level ** (size - left) * (1 if left == 0 else 1 - level) for left in range(size + 1)])[
        1:
    ]
    expected = chance / chance.sum() * len(made)
    observed = np.bincount(made.lengths, minlength=size + 1)[1:]
    assert stats.chisquare(observed, expected).pvalue > 1e-6
    assert stats.chisquare(made.counts[made.counts > 0]).statistic < 5 * size * 5


def test_patterns_weigh_exponentially() -> None:
    made = quest(
        length=1, pattern_length=1, n_baskets=100_000, n_items=100_000, patterns=500, corruption=0,
        corruption_variance=0, correlation=0, item_weights="uniform", random_state=3,
    )  # fmt: skip
    shares = np.sort(made.counts[made.counts > 0]) / len(made) * 500
    assert stats.kstest(shares, "expon").pvalue > 1e-4


def test_like_the_published_file(shared_data: Path) -> None:
    published = read_baskets(shared_data / "fimi" / "T10I4D100K.dat.gz")
    made = quest("T10I4D100K", random_state=1)

    def shape(baskets: Baskets) -> list[float]:
        support = baskets.counts[baskets.counts > 0] / len(baskets) * 100
        quartiles = np.percentile(support, [25, 50, 75]).tolist()
        return [baskets.lengths.mean(), baskets.lengths.std(), float(support.size) / 100, *quartiles]

    assert shape(made) == pytest.approx(shape(published), rel=0.12)
