"""Growth of CPU seconds with the rows: anonymize, check, CAHD, condense, mine and secure sum at 1×, 10× and 100×."""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path
from typing import Any

from large_file import CHECK, ROLES
from measuring import cpu, fresh, process
from rows import Row, failed, within
from start import command
from whole_runs import write_csv

FIRST = 10_000
STEPS = (1, 10, 100)
MOST = 1.1
"""The largest exponent of the step from 10× to 100×, where what every process costs weighs little."""


def run() -> list[Row]:
    """Measure each piece of work at each size, in processes of their own."""
    works = {
        "anonymize": ("commands", "anonymize"), "check": ("commands", "check"), "CAHD": ("cahd", ""),
        "condense": ("condense", ""), "mine": ("mine", ""), "secure sum": ("secure_sum", ""),
    }  # fmt: skip
    return [_grown(name, *work) for name, work in works.items()]


def _grown(name: str, function: str, argument: str) -> Row:
    what = f"{name}, exponent from {FIRST * STEPS[1]:,} to {FIRST * STEPS[2]:,}"
    seconds = []
    for step in STEPS:
        taken = fresh("growth", function, *([argument] if argument else []), FIRST * step)
        if taken is None:
            return failed(what, "a command failed")
        seconds.append(taken)
    exponent = math.log10(seconds[2] / seconds[1])
    note = f"{', '.join(f'{taken:.2f}' for taken in seconds)} s of CPU"
    return within(what, exponent, MOST, "", ours=f"{exponent:.2f}", note=note)


def commands(name: str, n_rows: int) -> float | None:
    """Time `discreet anonymize` by Mondrian, or `discreet check`, on a generated CSV file, imports counted."""
    with tempfile.TemporaryDirectory() as folder:
        source = write_csv(Path(folder) / "visits.csv", n_rows)
        words: dict[str, list[Any]] = {
            "anonymize": [
                *ROLES,
                "--other",
                "visits",
                "-k",
                "5",
                "--no-report",
                "--out",
                Path(folder) / "release",
            ],
            "check": [*ROLES, *CHECK],
        }
        for number in range(2):
            out = ["--overwrite"] if number and name == "anonymize" else []
            seconds, _, code = process([*command(), name, source, *words[name], *out])
            if code not in ((0,) if name == "anonymize" else (0, 1)):
                return None
    return seconds


def cahd(n_baskets: int) -> float:
    """Time the order and groups of CAHD."""
    from cahd import generated

    generated(_quest(FIRST))
    return float(generated(_quest(n_baskets)))


def condense(n_rows: int) -> float:
    """Time the groups of condensation."""
    from condensation import K, points
    from discreet.publish import Condensation

    blocked = Condensation(K, segment="blocked", random_state=0)
    values = points(n_rows)
    return cpu(lambda: blocked.fit(values), times=3)


def mine(n_baskets: int) -> float:
    """Time the frequent itemsets at 0.3 %."""
    from discreet.datasets import quest
    from discreet.mine import Itemsets
    from itemsets import afresh

    baskets = quest(_quest(n_baskets), random_state=17)
    return cpu(lambda data: Itemsets(0.003).mine(data), times=3, prepare=lambda: afresh(baskets))


def secure_sum(length: int) -> float:
    """Time a secure sum of three parties in one process."""
    from discreet.parties import SecureSum, simulate

    inputs = {name: list(range(length)) for name in ("ann", "bob", "cem")}
    return cpu(lambda: simulate(SecureSum(length=length), inputs), times=3)


def _quest(n_baskets: int) -> str:
    thousands = n_baskets // 1000
    return f"T10.I4.D{'1M' if thousands == 1000 else f'{thousands}K'}.N1K"


if __name__ == "__main__":
    for row in run():
        print(row.what, row.ours, row.note, row.state, file=sys.stdout)
