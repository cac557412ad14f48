"""Uncertain records: spreads of up to 100K × 8 beside all records compared with all, and how the time grows."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from measuring import fresh
from rows import Row, faster, within

K, COLUMNS = 10, 8
SMALL, LARGE, COMPARED = 25_000, 100_000, 8_000
SECONDS, EXPONENT, RATIO = 20.0, 1.3, 5.0


def run() -> list[Row]:
    """Calibrate generated points, each size in a process of its own."""
    small, large = fresh("uncertain", "measure", SMALL), fresh("uncertain", "measure", LARGE)
    beside = fresh("uncertain", "compare", COMPARED)
    exponent = math.log(large["seconds"] / small["seconds"]) / math.log(LARGE / SMALL)
    note = f"{large['spreads']} spreads; the least anonymity is {large['least']:.4f}"
    seconds = {"ours": f"{large['seconds']:.1f} s", "peer": f"{small['seconds']:.1f} s"}
    return [
        within(f"spreads of 100K × {COLUMNS}, k = {K}", large["seconds"], SECONDS, "s", note=note),
        within("exponent of the time from 25K to 100K", exponent, EXPONENT, "", **seconds),
        faster("spreads of 8K beside one block of all", beside["blocks"], beside["all"], RATIO,
               note=f"median spread {beside['median']:.2f} instead of {beside['median_of_all']:.2f}"),
    ]  # fmt: skip


def measure(n: int) -> dict[str, Any]:
    """Calibrate n points; gives CPU seconds, how many spreads there are and the least anonymity."""
    from discreet.publish.uncertain.calibration import shared_spreads

    shared_spreads(points(2_000), np.full(2_000, K), "gaussian")
    values, levels = points(n), np.full(n, K)
    began = time.process_time()
    calibrated = shared_spreads(values, levels, "gaussian")
    seconds = time.process_time() - began
    spreads = int(np.unique(calibrated.spreads).size)
    return {"seconds": seconds, "spreads": spreads, "least": float(calibrated.anonymity.min())}


def compare(n: int) -> dict[str, Any]:
    """Calibrate n points in blocks, and all in one; gives CPU seconds and the median spread of both."""
    from discreet.publish.uncertain import calibration

    answer: dict[str, Any] = {}
    values, levels = points(n), np.full(n, K)
    for suffix, most in (("", calibration._ONE_BLOCK), ("_of_all", n)):
        calibration._ONE_BLOCK = most
        began = time.process_time()
        calibrated = calibration.shared_spreads(values, levels, "gaussian")
        answer["all" if suffix else "blocks"] = time.process_time() - began
        answer[f"median{suffix}"] = float(np.median(calibrated.spreads))
    return answer


def points(n: int) -> Any:
    """Return correlated points, standardized."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(n, COLUMNS)) @ rng.normal(size=(COLUMNS, COLUMNS))
    return values / values.std(axis=0)
