"""Ask random range queries of every auditor, for the experiment on query auditing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.output.audit import (
    BooleanAuditor,
    Denied,
    ExtremaAuditor,
    IntervalAuditor,
    PrivateAnswers,
    SumAuditor,
    Vault,
)

QUERIES = {
    "sum": ("sum", "salary"),
    "extrema": ("max", "salary"),
    "boolean": ("sum", "ill"),
    "interval": ("sum", "salary"),
    "private": ("sum", "salary"),
}
"""The aggregate and the column that each auditor is asked for."""
_BUDGET = 1.0


@dataclass(frozen=True)
class Denials:
    """The share of the last queries that an auditor denied, after some number of queries, for every seed."""

    auditor: str
    n_queries: int
    shares: tuple[float, ...]


def auditor_named(name: str, n_queries: int) -> Any:
    """Return an auditor; the private one has a budget for half of the queries."""
    makers: dict[str, Callable[[], Any]] = {
        "sum": lambda: SumAuditor(low=0),
        "extrema": lambda: ExtremaAuditor(low=0),
        "boolean": lambda: BooleanAuditor("age"),
        "interval": lambda: IntervalAuditor(low=0, high=100, width=20),
        "private": lambda: PrivateAnswers(_BUDGET, 0, 100, per_question=2 * _BUDGET / n_queries),
    }
    return makers[name]()


def records(n: int, seed: int) -> pa.Table:
    """Return generated people, each of another age in days: a salary of 0 to 100, and whether they are ill."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.permutation(n),
            "salary": rng.integers(0, 101, n),
            "ill": rng.integers(0, 2, n),
        }
    )


def denied(name: str, n: int, n_queries: int, seed: int) -> list[bool]:
    """Return for each of some random ranges of ages whether the auditor denied it."""
    aggregate, column = QUERIES[name]
    vault = Vault.in_memory(
        records(n, seed), sensitive=[column], public=["age"], auditor=auditor_named(name, n_queries)
    )
    rng, answers = np.random.default_rng(1000 + seed), []
    for _ in range(n_queries):
        low, high = np.sort(rng.choice(n + 1, 2, replace=False)).tolist()
        sql = f"SELECT {aggregate}({column}) FROM data WHERE age >= {low} AND age < {high}"  # noqa: S608  # numbers
        answers.append(isinstance(vault.ask(sql), Denied))
    return answers


def denials(n: int, n_queries: int, step: int, seeds: Sequence[int]) -> list[Denials]:
    """Return the share of denied queries of every auditor, in steps of queries."""
    rows = []
    for name in QUERIES:
        runs = [denied(name, n, n_queries, seed) for seed in seeds]
        rows += [
            Denials(name, end, tuple(float(np.mean(run[end - step : end])) for run in runs))
            for end in range(step, n_queries + 1, step)
        ]
    return rows
