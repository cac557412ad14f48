"""The attack on ratings by its definition: a score for every person and record, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Record = Mapping[str, tuple[float, float]]
"""What a person rated: the rating of each item, and its day."""


def score(known: Record, candidate: Record, raters: Mapping[str, int], *, dated: bool) -> float:
    total = 0.0
    for item, (rating, day) in known.items():
        if item in candidate:
            near = math.exp(-abs(candidate[item][0] - rating) / 1.5)
            near += math.exp(-abs(candidate[item][1] - day) / 30) if dated else 0.0
            total += near / math.log(max(2, raters[item]))
    return total


def looked_for(target: int, records: Sequence[Record], *, dated: bool) -> tuple[float, bool, bool]:
    """Return the chance of a right guess, whether it is sure, and whether one record alone fits, all ratings known."""
    known = records[target]
    raters = {item: sum(item in record for record in records) for item in known}
    scores = [score(known, record, raters, dated=dated) for record in records]
    best = [number for number, value in enumerate(scores) if math.isclose(value, max(scores), abs_tol=1e-9)]
    first, second = sorted(scores, reverse=True)[:2]
    mean = sum(scores) / len(scores)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in scores) / len(scores))
    fitting = [
        record
        for record in records
        if all(
            item in record and record[item][: 1 + dated] == pair[: 1 + dated] for item, pair in known.items()
        )
    ]
    return (target in best) / len(best), first - second > 1.5 * deviation + 1e-9, len(fitting) == 1
