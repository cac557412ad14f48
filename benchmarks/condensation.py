"""Condensation: groups and pseudo-data of up to 1M × 8, beside exact MDAV and a plain NumPy one."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from measuring import cpu, fresh
from rows import Row, faster, within

K, COLUMNS = 10, 8
SMALL, LARGE = 100_000, 1_000_000
GROUPS, DRAWING = 3.0, 3.0
GROWTH, ERROR, RATIO = 12.0, 1.12, 20.0


def run() -> list[Row]:
    """Condense generated points, each size in a process of its own; the peer runs once."""
    small, large = fresh("condensation", "measure", SMALL), fresh("condensation", "measure", LARGE)
    peer = fresh("condensation", "plain", SMALL)
    groups = f"{large['groups']:,} groups of at least {K}"
    growth = large["grouping"] / small["grouping"]
    error = small["ssq"] / small["exact_ssq"]
    seconds = {"ours": f"{large['grouping']:.2f} s", "peer": f"{small['grouping']:.3f} s"}
    ssq = {"ours": f"{small['ssq']:,.0f}", "peer": f"{small['exact_ssq']:,.0f}"}
    return [
        within("groups of 1M × 8, k = 10", large["grouping"], GROUPS, "s", note=groups),
        within("pseudo-data of 1M × 8", large["drawing"], DRAWING, "s", note="eigen-decompositions included"),
        within("growth of grouping from 100K to 1M", growth, GROWTH, "×", **seconds),
        within("SSQ at 100K beside exact MDAV", error, ERROR, "×", **ssq),
        faster("groups of 100K beside a plain NumPy MDAV", small["grouping"], peer["seconds"], RATIO,
               note=f"its SSQ: {peer['ssq']:,.0f}"),
        faster("exact MDAV of 100K beside a plain NumPy MDAV", small["exact"], peer["seconds"]),
        within("1M × 8 from a table to a table", large["release"], 2 * (GROUPS + DRAWING), "s",
               note="reading, scaling, groups, draws, and a frame again"),
    ]  # fmt: skip


def measure(n: int) -> dict[str, Any]:
    """Condense n points, the kernels being warm; gives CPU seconds and the squared error."""
    from discreet.kernels.points.condensing import mdav
    from discreet.publish import Condensation
    from discreet.publish.pseudo.construct_groups import construct_groups

    warm = Condensation(K, segment="blocked", random_state=0).fit(points(5_000))
    warm.sample()
    Condensation(K, segment="blocked", random_state=0).release(_table(points(5_000)))
    values = points(n)
    levels = np.full(n, K)
    rng = np.random.default_rng(0)
    found = construct_groups(values, levels, method="blocked", rng=rng)
    times = 3 if n > SMALL else 5
    blocked = Condensation(K, segment="blocked", random_state=0)
    fitted = blocked.fit(values)
    answer = {
        "groups": found.n_groups,
        "ssq": found.ssq,
        "grouping": cpu(lambda: blocked.fit(values), times=times, warm=0),
        "drawing": cpu(fitted.sample, times=times, warm=0),
        "release": cpu(lambda: blocked.release(_table(values)), times=1, warm=0),
    }
    if n <= SMALL:
        began = time.process_time()
        labels = mdav(values, K)
        answer |= {"exact": time.process_time() - began, "exact_ssq": _squared_error(values, labels)}
    return answer


def plain(n: int) -> dict[str, Any]:
    """Run a straightforward NumPy MDAV; gives CPU seconds and the squared error."""
    values = points(n)
    began = time.process_time()
    labels = numpy_mdav(values, K)
    seconds = time.process_time() - began
    return {"seconds": seconds, "ssq": _squared_error(values, labels)}


def numpy_mdav(values: Any, k: int) -> Any:
    """Group by MDAV as one writes it in NumPy: distances to all that are left, the k nearest out."""
    labels = np.empty(len(values), np.int64)
    left = np.arange(len(values))
    group = 0

    def distances(point: Any) -> Any:
        return ((values[left] - point) ** 2).sum(axis=1)

    def take(point: Any) -> None:
        nonlocal left, group
        nearest = np.argpartition(distances(point), k - 1)[:k]
        labels[left[nearest]] = group
        left = np.delete(left, nearest)
        group += 1

    while left.size >= 3 * k:
        outer = values[left[distances(values[left].mean(axis=0)).argmax()]]
        take(outer)
        take(values[left[distances(outer).argmax()]])
    if left.size >= 2 * k:
        take(values[left[distances(values[left].mean(axis=0)).argmax()]])
    labels[left] = group
    return labels


def points(n: int) -> Any:
    """Draw points of twenty clusters with shapes of their own, standardized."""
    rng = np.random.default_rng(5)
    centers = rng.normal(size=(20, COLUMNS)) * 3
    shapes = rng.normal(size=(20, COLUMNS, COLUMNS)) * 0.6
    cluster = rng.integers(0, 20, n)
    values = np.empty((n, COLUMNS))
    for number in range(20):
        mine = cluster == number
        values[mine] = centers[number] + rng.normal(size=(int(mine.sum()), COLUMNS)) @ shapes[number].T
    return (values - values.mean(axis=0)) / values.std(axis=0)


def _table(values: Any) -> Any:
    import pyarrow as pa

    from discreet import Table, quasi

    columns = {f"column{number}": column for number, column in enumerate(values.T)}
    return Table(pa.table(columns), {name: quasi() for name in columns})


def _squared_error(values: Any, labels: Any) -> float:
    sizes = np.bincount(labels)
    means = np.stack([np.bincount(labels, column) / sizes for column in values.T], axis=1)
    return float(((values - means[labels]) ** 2).sum())
