"""Loss of every table publisher side by side, over guarantees and data sets; local recoding beside Mondrian."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adult_tables import adult_frame, adult_hierarchy, coded
from measuring import DataMissingError, cpu
from rows import Row, skipped, within

LITTLE = 1.02
"""How many times Mondrian's loss local recoding may have."""
N_PATIENTS = 5_000
PUBLISHERS = (
    "LocalRecoding", "Mondrian", "OptimalLattice", "GlobalRecoding", "Samarati", "Incognito", "Microaggregation",
)  # fmt: skip


def run() -> list[Row]:
    """Measure the loss of what each publisher releases; the note of a row holds those of all."""
    rows = []
    for name, make in DATA.items():
        try:
            table = make()
        except DataMissingError as error:
            rows.append(skipped(name, str(error)))
            continue
        rows += [_compared(name, table, guarantee) for guarantee in _guarantees(table)]
    return rows


def _compared(name: str, table: Any, guarantee: Any) -> Row:
    from discreet import publish
    from discreet.core.errors import InfeasibleError
    from discreet.measure import loss

    losses: dict[str, float] = {}
    seconds: dict[str, float] = {}
    broken: list[str] = []
    for publisher in PUBLISHERS:
        released: list[Any] = []
        method = getattr(publish, publisher)(guarantee)
        try:
            seconds[publisher] = cpu(
                lambda method=method, released=released: released.append(method.release(table)),
                times=1,
                warm=0,
            )
        except InfeasibleError:
            continue
        if not released[-1].verdict.ok:
            broken.append(publisher)
            continue
        losses[publisher] = loss(released[-1]).total
    local, best = losses["LocalRecoding"], min(losses.get("Mondrian", 1.0), losses["OptimalLattice"])
    every = [f"{publisher} {lost:.4f}" for publisher, lost in losses.items()]
    note = ", ".join([*every, *(f"{publisher} broke the promise" for publisher in broken)])
    return within(
        f"{name}: {guarantee}",
        local / best if best else 1.0 + local,
        LITTLE,
        "×",
        ours=f"{local:.4f}",
        peer=f"{best:.4f}",
        note=f"{note}; local recoding {seconds['LocalRecoding']:.1f} s",
    )


def _guarantees(table: Any) -> Iterator[Any]:
    """Return the guarantees to keep; those that the whole table breaks are left out."""
    from discreet import guarantees as promises
    from discreet.core.tables.groups import Groups

    k = promises.KAnonymity(5)
    counts = table.tuples.counts
    whole = Groups.of(np.zeros(counts.size, np.int32), counts, 1, table.sensitive_codes())
    for guarantee in (
        k,
        k & promises.DistinctDiversity(2),
        k & promises.EntropyDiversity(1.5),
        k & promises.EntropyDiversity(3),
        k & promises.RecursiveDiversity(3, 2),
        k & promises.AlphaKAnonymity(0.8, 5),
        k & promises.TCloseness(0.2),
        k & promises.BasicBetaLikeness(2.0),
        k & promises.DeltaDisclosure(1.0),
    ):
        if guarantee.holds(whole).all():
            yield guarantee


def _adult(secret: str) -> Any:
    from discreet import Table, quasi, sensitive

    frame = adult_frame()
    roles = {
        name: (sensitive if name == secret else quasi)(adult_hierarchy(name)) for name in frame.column_names
    }
    return coded(Table(frame, roles))


def _patients() -> Any:
    """Draw patients whose illness depends on age and town, so that like rows are often ill alike."""
    import pyarrow as pa

    from discreet import Table, intervals, masked, quasi, sensitive

    rng = np.random.default_rng(5)
    age = np.clip(rng.normal(45, 18, N_PATIENTS), 0, 99).astype(int)
    town = rng.geometric(0.05, N_PATIENTS) + 10_000
    ill = rng.random(N_PATIENTS) < 0.05 + 0.5 * (age > 60) * (town % 2)
    frame = pa.table(
        {
            "age": age,
            "zip": [str(one) for one in town],
            "sex": rng.choice(["f", "m"], N_PATIENTS),
            "visits": rng.poisson(3, N_PATIENTS),
            "ill": np.where(ill, "yes", "no"),
        }
    )
    roles = {
        "age": quasi(intervals(5, 10, 20)),
        "zip": quasi(masked()),
        "sex": quasi(),
        "visits": quasi(intervals(2, 4, 8)),
        "ill": sensitive(),
    }
    return coded(Table(frame, roles))


DATA: dict[str, Callable[[], Any]] = {
    "generated patients": _patients,
    "Adult, income sensitive": lambda: _adult("salary-class"),
    "Adult, occupation sensitive": lambda: _adult("occupation"),
}
