"""The slow definition of dynamic condensation: groups as plain dictionaries, one record at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

Group = dict[str, Any]


def groups_of(statistics: Any) -> list[Group]:
    """Return the groups of some statistics as dictionaries with the paper's sums."""
    return [
        {
            "n": int(statistics.n[i]),
            "mean": statistics.mean[i].copy(),
            "covariance": statistics.scatter[i] / statistics.n[i],
            "levels": int(statistics.levels[i]),
            "largest": int(statistics.largest[i]),
        }
        for i in range(statistics.n.size)
    ]


def total(groups: list[Group]) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the number, the mean and the covariance of all records together, by the law of total covariance."""
    n = sum(group["n"] for group in groups)
    shares = [group["n"] / n for group in groups]
    mean = sum(share * group["mean"] for share, group in zip(shares, groups, strict=True))
    covariance = sum(
        share * (group["covariance"] + np.outer(group["mean"] - mean, group["mean"] - mean))
        for share, group in zip(shares, groups, strict=True)
    )
    return n, np.asarray(mean), np.asarray(covariance)


def merged(groups: list[Group]) -> Group:
    """Make several groups one."""
    n, mean, covariance = total(groups)
    return {
        "n": n,
        "mean": mean,
        "covariance": covariance,
        "levels": sum(group["levels"] for group in groups),
        "largest": max(group["largest"] for group in groups),
    }


def halves(group: Group, scale: np.ndarray) -> list[Group]:
    """Cut a group along its leading eigenvector, in standardized columns, where its records lie evenly.

    The interval of length ``a`` about the mean is cut so that the parts hold n // 2 records and the rest; with an even
    number these are the paper's halves, at ± a/4 with a quarter of the variance.
    """
    values, vectors = np.linalg.eigh(group["covariance"] / np.outer(scale, scale))
    along = vectors[:, -1] * np.sign(vectors[np.abs(vectors[:, -1]).argmax(), -1]) * scale
    a = np.sqrt(12 * values[-1])
    n, few = group["n"], group["n"] // 2
    cut = -a / 2 + a * few / n
    parts = []
    for size, start, stop in ((few, -a / 2, cut), (n - few, cut, a / 2)):
        variance = (stop - start) ** 2 / 12
        part = dict(group, n=size, mean=group["mean"] + (start + stop) / 2 * along)
        part["covariance"] = group["covariance"] + (variance - values[-1]) * np.outer(along, along)
        part["levels"] = group["levels"] * size / n
        parts.append(part)
    return parts


def splits(group: Group, rule: str) -> bool:
    """Return whether a group is divided: by the largest level in it, or by the paper's (3.2)."""
    if rule == "paper":
        return group["n"] >= 2 * group["levels"] / group["n"]
    return group["n"] // 2 >= group["largest"]


def joined(
    groups: list[Group], record: np.ndarray, level: int, scale: np.ndarray, rule: str = "safe"
) -> list[Group]:
    """Let one record join the nearest viable group; those nearest to it are merged where none is viable."""
    apart = [float((((group["mean"] - record) / scale) ** 2).sum()) for group in groups]
    order = [int(i) for i in np.argsort(apart, kind="stable")]
    viable = [i for i in order if groups[i]["n"] >= level - 1]
    if viable:
        chosen = [viable[0]]
    else:
        sizes = np.cumsum([groups[i]["n"] for i in order])
        chosen = order[: int(np.searchsorted(sizes, level - 1)) + 1]
    alone = {
        "n": 1,
        "mean": record,
        "covariance": np.zeros((record.size, record.size)),
        "levels": level,
        "largest": level,
    }
    group = merged([*(groups[i] for i in chosen), alone])
    rest = [groups[i] for i in range(len(groups)) if i not in chosen]
    if splits(group, rule) and np.trace(group["covariance"]) > 0:
        return [*rest, *halves(group, scale)]
    return [*rest, group]


def in_order(groups: list[Group]) -> np.ndarray:
    """Return groups as rows of numbers in an order of their own, for comparing."""
    rows = [(group["n"], group["largest"], *group["mean"], *group["covariance"].ravel()) for group in groups]
    return np.array(sorted(rows, key=lambda row: tuple(np.round(row, 6))))
