"""Ratings from noisy scores: the written-out prediction, sums without the noise, people's rules, refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import noise as oracles_noise

from discreet.collect import AdditiveNoise, Gaussian, Laplace, Uniform, rating_scores, report_ratings
from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.mine import NoisyRatings

ITEMS = ["A", "B", "C", "D"]
RATINGS = st.dictionaries(st.sampled_from(ITEMS), st.sampled_from([1, 2, 3.5, 5]), min_size=1)


def table(people: list[dict[str, float]]) -> pl.DataFrame:
    rows = [
        (f"user {number}", item, value)
        for number, rated in enumerate(people)
        for item, value in rated.items()
    ]
    return pl.DataFrame(rows, schema=["user", "item", "rating"], orient="row", strict=False).cast(
        {"rating": pl.Float64}
    )


@given(
    st.lists(RATINGS, min_size=1, max_size=6),
    RATINGS,
    st.sampled_from([None, 0.0, 2.5]),
    st.integers(0, 2**32),
)
@settings(max_examples=60, deadline=None)
def test_predictions_are_those_written_out(people, own, shrink, seed) -> None:
    channel = AdditiveNoise(Gaussian(0.5))
    reports = channel.perturb(rating_scores(table(people), items=ITEMS).scores, random_state=seed)
    learned = NoisyRatings(channel, ITEMS, shrink=shrink).fit(reports)
    added = 0.25 * len(people) + 10 if shrink is None else shrink
    slow = [oracles_noise.predicted_rating(reports, 0.25, added, ITEMS, own, item) for item in ITEMS]
    assert np.allclose(learned.predict(own), slow)
    assert np.allclose(learned.predict(own, ["C", "A"]), [slow[2], slow[0]])
    mean = np.mean(list(own.values()))
    farthest = max(abs(value - mean) for value in own.values())
    assert (np.abs(learned.predict(own) - mean) <= farthest + 1e-9).all()


@given(st.lists(RATINGS, min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_the_scores_of_a_table_are_those_each_person_computes_at_home(people) -> None:
    scores = rating_scores(table(people), items=ITEMS, limit=1.2).scores
    for rated, row in zip(people, scores, strict=True):
        reported = report_ratings(rated, ITEMS, "uniform", 1e-9, limit=1.2)
        assert np.allclose(reported, row, atol=1e-8)


@pytest.mark.parametrize("noise", [Gaussian(1.0), Uniform(1.5), Laplace(0.7)])
def test_the_noise_is_taken_off_the_sums(noise) -> None:
    rng = np.random.default_rng(2)
    people = np.repeat(rng.normal(size=(20, 3)), 1000, axis=0)
    channel = AdditiveNoise(noise)
    learned = NoisyRatings(channel, list("ABC"))
    reports = channel.perturb(people, random_state=3)
    for batch in np.array_split(reports, 7):
        learned.partial_fit(batch)
    assert learned.n_users_ == len(people)
    assert np.allclose(learned.item_products_, NoisyRatings(channel, list("ABC")).fit(reports).item_products_)
    assert np.allclose(learned.item_products_ / len(people), people.T @ people / len(people), atol=0.06)


def test_one_rating_or_like_ratings_say_nothing_and_are_answered_by_the_mean() -> None:
    people = table([{"A": 4.0}, {"A": 2.0, "B": 2.0}, {"A": 1.0, "B": 5.0}])
    scores = rating_scores(people, items=ITEMS)
    assert scores.scores[:2].tolist() == [[0.0] * 4] * 2
    assert repr(scores) == "RatingScores(3 users, 4 items)"
    learned = NoisyRatings(None, ITEMS).fit(scores.scores)
    assert learned.predict({"C": 3.0}).tolist() == [3.0] * 4
    assert learned.predict({"C": 3.0, "D": 3.0}, ["A"]).tolist() == [3.0]


def test_a_rounded_spread_is_not_taken_for_one() -> None:
    people = table([dict.fromkeys(ITEMS[:3], 0.1)])
    assert not rating_scores(people).scores.any()


def test_epsilon_adds_up_over_the_items() -> None:
    channel = AdditiveNoise(Laplace.for_epsilon(1, low=-3, high=3), low=-3, high=3)
    assert NoisyRatings(channel, ITEMS).epsilon == pytest.approx(4, abs=1e-3)
    assert NoisyRatings(AdditiveNoise(Gaussian(1.0)), ITEMS).epsilon == np.inf
    assert NoisyRatings(None, ITEMS).epsilon == np.inf


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("u", "A", 1.0), ("u", "A", 2.0)], "1 ratings repeat an item"),
        ([("u", "A", None), ("u", "B", 2.0)], "1 users, items or ratings are null"),
        ([("u", "A", float("nan"))], "1 values of 'rating' are null, NaN"),
        ([("u", "Wilhelmina", 1.0)], "1 ratings are of items that are none"),
        ([], "no ratings"),
    ],
)
def test_tables_with_gaps_and_repetitions_are_refused(rows, words: str) -> None:
    frame = pl.DataFrame(
        rows, schema={"user": pl.String, "item": pl.String, "rating": pl.Float64}, orient="row"
    )
    for kind in (frame, frame.to_arrow(), frame.to_pandas()):
        if isinstance(kind, pd.DataFrame) and "NaN" in words:
            continue  # NaN is null in pandas, and counted so
        with pytest.raises(InputError, match=words) as caught:
            rating_scores(kind, items=ITEMS)
        assert "Wilhelmina" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: rating_scores(table([{"A": 1.0}]), rating="stars"), SchemaError, "no column 'stars'"),
        (lambda: rating_scores(table([{"A": 1.0}]), rating="item"), InputError, "'item' must hold numbers"),
        (lambda: rating_scores(table([{"A": 1.0}]), items=["A", "A"]), InputError, "named once"),
        (lambda: rating_scores(table([{"A": 1.0}]), limit=0), ParameterError, "'limit'"),
        (lambda: NoisyRatings("much", ITEMS).fit([[0] * 4]), ParameterError, "'channel'"),
        (lambda: NoisyRatings(None, 4).fit([[0] * 4]), ParameterError, "'items'"),
        (lambda: NoisyRatings(None, "ABCD").fit([[0] * 4]), InputError, "'items'"),
        (lambda: NoisyRatings(None, ITEMS, shrink=-1).fit([[0] * 4]), ParameterError, "'shrink'"),
        (lambda: NoisyRatings(None, ITEMS).fit([[0] * 3]), InputError, "rows of 4 numbers"),
        (lambda: NoisyRatings(None, ITEMS).fit([[0, 0, 0, np.nan]]), InputError, "1 values of 'reports'"),
        (lambda: NoisyRatings(None, ITEMS).predict({"A": 1.0}), InputError, "Nothing was learned"),
        (lambda: NoisyRatings(None, ITEMS).fit([[0] * 4]).predict({}), InputError, "no ratings"),
        (
            lambda: NoisyRatings(None, ITEMS).fit([[0] * 4]).predict({"Wilhelmina": 1.0}),
            InputError,
            "1 items are none",
        ),
        (
            lambda: NoisyRatings(None, ITEMS).fit([[0] * 4]).predict({"A": np.inf}),
            InputError,
            "1 ratings are null, NaN",
        ),
    ],
)
def test_mistakes_are_refused(call, error, words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        call()
    assert "Wilhelmina" not in str(caught.value)


@pytest.mark.parametrize(
    ("ratings", "items", "words"),
    [
        ({"Wilhelmina": 1.0}, ITEMS, "not among the known"),
        ({"A": float("nan")}, ITEMS, "finite"),
        ({"A": 1.0}, ["A", "A"], "once"),
    ],
)
def test_a_device_refuses_what_it_cannot_report(ratings, items, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        report_ratings(ratings, items, "gaussian", 1.0)
    assert "Wilhelmina" not in str(caught.value)
