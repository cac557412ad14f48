"""Recommending from noisy scores: the error of predicted ratings by the noise, and what the noise is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.collect import AdditiveNoise, Gaussian, Laplace, rating_scores
from discreet.measure import likelihood_linkage
from discreet.mine import NoisyRatings
from experiments.data_sets import present
from experiments.page import Cell, Page, spread
from experiments.randomization import pictures

RATINGS = Path("movielens-small") / "ratings.csv.gz"
WIDTHS = (0.0, 0.25, 0.5, 1.0, 2.0)
_FEWEST_RATINGS, _TESTED, _LIMIT, _TARGETS = 20, 3_000, 3.0, 200


@dataclass
class Recommended:
    """What noise of one width came to: figures for each seed."""

    width: float
    error: list[float] = field(default_factory=list)
    mean_error: list[float] = field(default_factory=list)
    linked: list[float] = field(default_factory=list)
    n_items: int = 0

    @property
    def channel(self) -> AdditiveNoise | None:
        """The noise of a score."""
        if not self.width:
            return None
        return AdditiveNoise(Gaussian(self.width), low=-_LIMIT, high=_LIMIT)


def recommended(ratings: pl.DataFrame, *, seeds: Sequence[int]) -> list[Recommended]:
    """Hold some ratings out, learn from noisy scores of the others, and predict the ones held out."""
    often = ratings.filter(pl.len().over("movieId") >= _FEWEST_RATINGS)
    items = sorted(often["movieId"].unique().to_list())
    results = [Recommended(width, n_items=len(items)) for width in WIDTHS]
    for seed in seeds:
        rng = np.random.default_rng(seed)
        tested = np.zeros(len(often), bool)
        tested[rng.choice(len(often), min(_TESTED, len(often) // 10), replace=False)] = True
        train = often.filter(~tested)
        scores = rating_scores(train, user="userId", item="movieId", items=items, limit=_LIMIT).scores
        people = {user: _by_item(rated) for (user,), rated in train.group_by("userId")}
        tests = [
            (user, rated) for (user,), rated in often.filter(tested).group_by("userId") if user in people
        ]
        for result in results:
            channel = result.channel
            reports = scores if channel is None else channel.perturb(scores, random_state=rng)
            learned = NoisyRatings(channel, items).fit(reports)
            result.error.append(_error(tests, lambda user, rated: learned.predict(people[user], rated)))  # noqa: B023
            result.mean_error.append(_error(tests, lambda user, _: np.mean(list(people[user].values()))))  # noqa: B023
            if channel is not None:
                own = rng.choice(len(scores), min(_TARGETS, len(scores)), replace=False)
                linkage = likelihood_linkage(reports[own], scores, channel, truth=own)
                result.linked.append(linkage.first)
    return results


def section(page: Page, *, data: Path | None, seeds: Sequence[int]) -> None:
    """Make the table and the picture, where the ratings are present."""
    path = present(data, RATINGS)
    if path is None:
        page.section("Recommending", "MovieLens (latest-small) is absent, so that nothing was predicted.")
        return
    page.log("ratings")
    results = recommended(pl.read_csv(path), seeds=seeds)
    page.section(
        "Recommending",
        f"MovieLens (latest-small): items with {_FEWEST_RATINGS} ratings or more ({results[0].n_items:,}), {_TESTED:,} "
        "ratings held out. Everybody reports a score for every item, 0 where she did not rate it, with Gaussian noise; "
        f"scores end at ±{_LIMIT:g}. The mean of a person's own ratings is what no report is needed for.",
    )
    page.table(
        "ratings",
        "Mean absolute error of predicted ratings",
        [
            "noise, sd",
            "error",
            "error of the mean",
            "95 % interval over the range",
            "ε of a score",
            "ε of a report",
            "linked",
        ],
        [_row(result) for result in results],
        note="ε is that of Laplace noise of the same standard deviation; Gaussian noise has none. Linked: the share of "
        "people whose report is found among all by one who knows all their ratings.",
    )
    page.picture("ratings-picture", "Error of predicted ratings", pictures.ratings(results))


def _row(result: Recommended) -> list[Cell]:
    figures: list[Cell] = [result.width, spread(result.error, 3), spread(result.mean_error, 3)]
    if result.channel is None:
        return [*figures, None, None, None, None]
    laplace = Laplace(result.width / 2**0.5).epsilon(2 * _LIMIT)
    return [
        *figures,
        f"{result.channel.privacy():.0%}",
        f"{laplace:.1f}",
        f"{laplace * result.n_items:,.0f}",
        spread(result.linked, 3),
    ]


def _by_item(rated: pl.DataFrame) -> dict[Any, float]:
    return dict(zip(rated["movieId"].to_list(), rated["rating"].to_list(), strict=True))


def _error(tests: Sequence[tuple[Any, pl.DataFrame]], predict: Any) -> float:
    away = [
        np.abs(predict(user, rated["movieId"].to_list()) - rated["rating"].to_numpy())
        for user, rated in tests
    ]
    return float(np.concatenate(away).mean())
