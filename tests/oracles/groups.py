"""The slow definition of learning from condensed groups: every group looked at, one record at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def nearest(statistics: Any, record: np.ndarray, k: int) -> list[int]:
    """Return the k groups whose means are nearest in standardized columns; the first of equals first."""
    n_rows = sum(statistics.n)
    center = sum(n * mean for n, mean in zip(statistics.n, statistics.mean, strict=True)) / n_rows
    variance = np.zeros(len(center))
    for n, mean, scatter in zip(statistics.n, statistics.mean, statistics.scatter, strict=True):
        variance += (np.diag(scatter) + n * (mean - center) ** 2) / n_rows
    scale = np.where(variance > 0, np.sqrt(variance), 1.0)[: record.size]
    apart = [float(np.linalg.norm((mean[: record.size] - record) / scale)) for mean in statistics.mean]
    return sorted(range(len(apart)), key=lambda at: (round(apart[at], 9), at))[:k]


def voted(statistics: Any, classes: Sequence[int], near: list[int], weights: str) -> dict[int, float]:
    """Return the share of the votes for each class."""
    votes: dict[int, float] = {}
    for at in near:
        votes[classes[at]] = votes.get(classes[at], 0.0) + (statistics.n[at] if weights == "n" else 1)
    return {label: vote / sum(votes.values()) for label, vote in votes.items()}


def averaged(statistics: Any, near: list[int], weights: str) -> float:
    """Return the mean target of groups, which is their last column."""
    votes = [float(statistics.n[at]) if weights == "n" else 1.0 for at in near]
    return sum(vote * statistics.mean[at, -1] for vote, at in zip(votes, near, strict=True)) / sum(votes)
