"""Scores of ratings: how far each is above the mean of whoever gave it, for all people of a table at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.collect.frames import frame_of, require_columns
from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import NONE, POSITIVE, require
from discreet.core.validation import finite


@public
@dataclass(frozen=True, repr=False, eq=False)
class RatingScores:
    """The scores of people for items: a row for each person, a column for each item, 0 where nothing was rated."""

    users: tuple[Any, ...]
    items: tuple[Any, ...]
    scores: FloatArray

    def __repr__(self) -> str:
        return f"RatingScores({len(self.users)} users, {len(self.items)} items)"


@public
def rating_scores(
    ratings: Any,
    *,
    user: str = "user",
    item: str = "item",
    rating: str = "rating",
    items: Sequence[Any] | None = None,
    limit: float | None = None,
) -> RatingScores:
    """Return the scores that people would report, before any noise: for simulations, where all ratings are at hand.

    A person whose ratings are all alike, or who has only one, has the score 0 everywhere. ``AdditiveNoise.perturb`` of
    the scores makes reports. In real use each person computes her own (:func:`report_ratings`).

    Parameters
    ----------
    ratings
        A pandas, Polars or Arrow frame with a row for each rating. Nulls and several ratings of an item by one person
        are refused.
    user, item, rating
        The names of its columns.
    items
        All items, in the public order; by default those that are rated, in ascending order. Others are refused.
    limit
        The public limit of scores; one beyond is moved to it.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rated = pa.table({"user": ["ann", "ann", "bea"], "item": ["A", "C", "B"], "rating": [2, 4, 5]})
    >>> rating_scores(rated).scores.tolist()
    [[-1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    require("rating_scores", "limit", limit, POSITIVE, NONE)
    frame = frame_of(ratings)
    require_columns(frame, [user, item, rating])
    nulls = sum(frame.get_column(name).null_count() for name in (user, item, rating))
    if nulls or not len(frame):
        raise InputError(
            f"{nulls} users, items or ratings are null; drop the rows first."
            if nulls
            else "There are no ratings."
        )
    users, rows = _codes(frame.get_column(user).to_list())
    columns, listed = _item_codes(frame.get_column(item).to_list(), items)
    cells = rows * len(listed) + columns
    repeated = cells.size - np.unique(cells).size
    if repeated:
        raise InputError(f"{repeated} ratings repeat an item of the same user; keep one of each first.")
    numbers = frame.get_column(rating).to_numpy()
    if numbers.dtype.kind not in "iuf":
        raise InputError(f"Column '{rating}' must hold numbers.")
    values = _standardized(finite(numbers, f"values of '{rating}'"), rows, len(users))
    scores = np.zeros((len(users), len(listed)))
    scores[rows, columns] = values if limit is None else values.clip(-limit, limit)
    return RatingScores(users, listed, scores)


def _standardized(values: FloatArray, rows: np.ndarray[Any, Any], n_users: int) -> FloatArray:
    """Return how far each value is above the mean of its row, in standard deviations of the row."""
    counts = np.bincount(rows, minlength=n_users)
    away = values - (np.bincount(rows, values, n_users) / counts)[rows]
    spreads = np.sqrt(np.bincount(rows, away**2, n_users) / counts)
    # Rounding leaves a spread above 0 where all ratings are alike; their extremes are exactly alike.
    lowest, highest = np.full(n_users, np.inf), np.full(n_users, -np.inf)
    np.minimum.at(lowest, rows, values)
    np.maximum.at(highest, rows, values)
    alike = lowest == highest
    return np.where(alike[rows], 0.0, away / np.where(alike, 1.0, spreads)[rows])


def _codes(labels: list[Any]) -> tuple[tuple[Any, ...], np.ndarray[Any, Any]]:
    numbers: dict[Any, int] = {}
    codes = np.array([numbers.setdefault(label, len(numbers)) for label in labels], np.int64)
    return tuple(numbers), codes


def _item_codes(
    labels: list[Any], items: Sequence[Any] | None
) -> tuple[np.ndarray[Any, Any], tuple[Any, ...]]:
    listed = tuple(sorted(set(labels))) if items is None else tuple(items)
    numbers = {label: number for number, label in enumerate(listed)}
    if len(numbers) < len(listed):
        raise InputError("Each of the 'items' must be named once.")
    unknown = sum(label not in numbers for label in labels)
    if unknown:
        raise InputError(f"{unknown} ratings are of items that are none of the 'items'; drop them first.")
    return np.array([numbers[label] for label in labels], np.int64), listed
