"""Run protocols among parties in one process and note what each party sends and computes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.baskets.baskets import Baskets
from discreet.datasets import quest
from discreet.parties import Protocol, SecureSum, simulate
from discreet.parties.mining import AssociationRules, VerticalRules


@dataclass(frozen=True)
class Cost:
    """What a run costs: bytes sent and CPU seconds of the busiest and the mean party, rounds, seconds by the clock."""

    bytes_busiest: int
    bytes_mean: float
    cpu_busiest: float
    cpu_mean: float
    rounds: int
    seconds: float


def cost(protocol: Protocol, inputs: Mapping[str, Any]) -> tuple[Cost, Any]:
    """Run a protocol; return its cost and the output of the first party."""
    began = time.perf_counter()
    run = simulate(protocol, inputs, timeout=600.0)
    seconds = time.perf_counter() - began
    sent = [meter.bytes_sent for meter in run.meters.values()]
    cpu = [sum(step.cpu_seconds for step in meter.steps) for meter in run.meters.values()]
    rounds = max(meter.rounds for meter in run.meters.values())
    found = Cost(max(sent), float(np.mean(sent)), max(cpu), float(np.mean(cpu)), rounds, seconds)
    return found, next(iter(run.outputs.values()))


def dealt(baskets: Baskets, n_parties: int) -> dict[str, Baskets]:
    """Deal baskets out to parties, one after the other."""
    return {
        f"party{place}": baskets.take(np.arange(place, len(baskets), n_parties)) for place in range(n_parties)
    }


def horizontal(
    n_baskets: int, n_items: int, n_parties: int, *, seed: int, support: float = 0.02, **more: Any
) -> tuple[Cost, Any]:
    """Mine generated baskets over parties; the list of items is public unless stated otherwise."""
    baskets = quest(f"T8.I3.D{n_baskets}.N{n_items}", random_state=seed)
    public = tuple(str(name) for name in baskets.names.to_pylist())
    # The data is generated, so that two parties may see each other's.
    agreed = n_parties == 2
    protocol = AssociationRules(support, two_parties_see_each_other=agreed, **({"items": public} | more))
    return cost(protocol, dealt(baskets, n_parties))


def vertical(n_people: int, n_items: int, n_parties: int, *, seed: int) -> tuple[Cost, Any]:
    """Mine generated columns of the same people over parties; every party has as many items."""
    rng = np.random.default_rng(seed)
    habits = rng.random((n_people, 4)) < 0.35
    tables, columns = {}, {}
    for place in range(n_parties):
        name = f"party{place}"
        columns[name] = [f"{name}-{number}" for number in range(n_items)]
        tables[name] = {"id": rng.permutation(n_people)}
        for number, item in enumerate(columns[name]):
            bits = (habits[:, number % 4] & (rng.random(n_people) < 0.8)) | (rng.random(n_people) < 0.05)
            tables[name][item] = bits[tables[name]["id"]].astype(np.int64)
    protocol = VerticalRules(columns, key="id", max_people=n_people, min_support=0.15, max_length=3)
    return cost(protocol, tables)


def secure_sum(length: int, n_parties: int, method: str) -> tuple[Cost, Any]:
    """Sum vectors by masks or by the ring."""
    vectors = {f"party{place}": np.arange(length) for place in range(n_parties)}
    protocol = SecureSum(length=length, method=method, two_parties_see_each_other=len(vectors) == 2)
    return cost(protocol, vectors)
