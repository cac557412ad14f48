"""Collection on a cluster: noise of each row that does not change when the frame is worked out again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.engines.spark.test_spark import lent

from discreet import Baskets, ClusterBaskets
from discreet.collect import (
    AdditiveNoise,
    Channels,
    EMask,
    Gaussian,
    Laplace,
    MultiplicativeNoise,
    RandomizedResponse,
    Uniform,
)
from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.mine import Itemsets, MaskedItemsets

N = 3000


def people() -> pa.Table:
    """Return rows of which some are alike, with columns that stay as they are."""
    return pa.table(
        {
            "Age": pa.array([20 + number % 40 for number in range(N)], pa.int16()),
            "pay": [1000.0 + number % 7 for number in range(N)],
            "age": [f"town {number % 5}" if number % 11 else None for number in range(N)],
        }
    )


CHANNELS = Channels(
    {
        "Age": AdditiveNoise(Laplace.for_epsilon(1, low=0, high=100), low=0, high=100),
        "pay": MultiplicativeNoise(Gaussian(0.2)),
    }
)


def test_noise_is_that_of_the_channel_and_belongs_to_the_row() -> None:
    frame = lent(people())
    noisy = CHANNELS.perturb(frame)
    assert type(noisy) is type(frame)
    assert noisy.columns == ["Age", "pay", "age"]
    first, again = (noisy.toArrow() for _ in range(2))
    assert first.equals(again)  # several draws for a person could be averaged
    assert [str(field.type) for field in first.schema] == ["double", "double", "string"]
    towns = [sorted(map(str, rows["age"].to_pylist())) for rows in (first, people())]
    assert towns[0] == towns[1]
    # Rows that are alike have noise of their own.
    assert len(set(first["Age"].to_pylist())) > 0.95 * N
    ages = np.asarray(first["Age"])
    error = np.sqrt((np.var(np.asarray(people()["Age"])) + CHANNELS.channels["Age"].noise.variance) / N)
    assert abs(ages.mean() - np.asarray(people()["Age"]).mean()) < 5 * error
    assert np.var(ages) == pytest.approx(CHANNELS.channels["Age"].noise.variance, rel=0.25)
    pay = np.log(np.asarray(first["pay"]))
    assert np.std(pay) == pytest.approx(0.2, rel=0.1)
    # The order of the rows follows from a secret: it goes along with no column.
    for name in ("Age", "pay"):
        assert abs(np.corrcoef(np.arange(N), np.asarray(first[name]))[0, 1]) < 5 / np.sqrt(N)
    fresh = CHANNELS.perturb(frame).toArrow()
    assert set(fresh["Age"].to_pylist()).isdisjoint(set(first["Age"].to_pylist())) or not fresh.equals(first)


def test_a_seed_repeats_and_rows_elsewhere_change_nothing() -> None:
    channel = AdditiveNoise(Uniform(10.0), low=0, high=100)
    noisy, again, backwards, fewer = (
        sorted(channel.perturb(lent(rows), columns=["Age"], random_state=3).toArrow()["Age"].to_pylist())
        for rows in (people(), people(), people().take(list(range(N - 1, -1, -1))), people().slice(0, 400))
    )
    assert noisy == again == backwards
    assert set(fewer) <= set(noisy)


def test_reconstruction_takes_what_was_collected() -> None:
    channel = AdditiveNoise(Gaussian(5.0), low=0, high=100)
    noisy = channel.perturb(lent(people()), columns=["Age"], random_state=1).toArrow()
    found = channel.reconstruct(np.asarray(noisy["Age"]), intervals=10)
    assert found.mean == pytest.approx(np.asarray(people()["Age"]).mean(), abs=1)


def test_what_noise_cannot_hide_is_refused_before_workers_start() -> None:
    frame = lent(people())
    low = AdditiveNoise(Gaussian(5.0), low=30, high=100)
    response = RandomizedResponse.k_ary(["town 1"] + [f"town {number}" for number in (2, 3)], epsilon=1)
    cases: list[tuple[Any, str, type[Exception], str]] = [
        (low, "Age", InputError, "750 values of 'Age' lie outside"),
        (low, "age", InputError, "'age' must hold numbers"),
        (low, "absent", SchemaError, "no column 'absent'"),
        (response, "age", InputError, "'age' cannot be hidden on a cluster by RandomizedResponse"),
        (MultiplicativeNoise(Gaussian(0.1), low=2000), "pay", InputError, "3000 values of 'pay' lie outside"),
        (AdditiveNoise(Gaussian(1e-9)), "pay", InputError, "too large beside the noise"),
    ]
    for channel, column, kind, words in cases:
        with pytest.raises(kind, match=words) as error:
            Channels({column: channel}).perturb(frame)
        assert "\n" not in str(error.value)
    with pytest.raises(SchemaError, match="'l' has the type array"):
        Channels({"a": AdditiveNoise(Gaussian(1.0))}).perturb(lent(pa.table({"a": [1.5], "l": [[1]]})))


def shop(n: int = 4000) -> list[list[str]]:
    """Return baskets, many of them alike and some empty."""
    return [[["beer"], ["beer", "milk"], [], ["bread", "milk", "tea"]][number * 7 % 4] for number in range(n)]


def test_bits_are_flipped_with_the_probabilities_of_the_channel() -> None:
    catalog = ["beer", "bread", "milk", "tea", "wine"]
    channel = EMask(p=0.6, q=0.9)
    truth = ClusterBaskets.from_lists(lent(pa.table({"items": shop()})), column="items").listed(catalog)
    assert truth.n_items == 5
    reported = channel.perturb(truth)
    assert reported.distorted == (0.6, 0.9)
    assert len(reported) == 4000
    baskets = [reported.frame.toArrow()["items"].to_pylist() for _ in range(2)]
    assert baskets[0] == baskets[1]
    counts = dict(zip(catalog, reported.counts.tolist(), strict=True))
    for item, share in {"beer": 0.5, "bread": 0.25, "milk": 0.5, "tea": 0.25, "wine": 0.0}.items():
        expected = share * 0.6 + (1 - share) * 0.1
        assert counts[item] / 4000 == pytest.approx(
            expected, abs=5 * np.sqrt(expected * (1 - expected) / 4000)
        )
    # Baskets that are alike are distorted each for itself.
    assert len({tuple(basket) for basket in baskets[0]}) > 20
    here = Baskets.from_lists(baskets[0]).listed(catalog)
    miner = MaskedItemsets(channel, 0.1)
    assert miner.mine(reported).as_dict() == miner.mine(here).as_dict()
    with pytest.raises(ParameterError, match=r"distorted with p = 0.6 and q = 0.9"):
        Itemsets(0.1).mine(reported)
    with pytest.raises(InputError, match="1 of the 4 items of the baskets are not listed"):
        truth.listed([*catalog[:3], "wine"])
    with pytest.raises(ParameterError, match="as_bits"):
        channel.perturb(truth, as_bits=True)


def test_named_baskets_are_distorted_and_their_names_dropped() -> None:
    entries = pa.table(
        {"who": [f"planted {n // 2}" for n in range(200)], "code": [n % 2 + n % 3 for n in range(200)]}
    )
    truth = ClusterBaskets.from_long(lent(entries), basket="who", item="code")
    same = EMask(p=1, q=1).perturb(truth)
    assert sorted(map(sorted, same.frame.toArrow()["items"].to_pylist())) == sorted(
        map(sorted, Baskets.from_long(entries, basket="who", item="code").lists())
    )
    reported = [EMask(p=0.5, q=0.8).perturb(truth, random_state=seed) for seed in (4, 4, 5)]
    rows = [sorted(map(str, each.frame.toArrow()["items"].to_pylist())) for each in reported]
    assert rows[0] == rows[1] != rows[2]
    assert "planted" not in str(reported[0].frame.toArrow().to_pydict())
