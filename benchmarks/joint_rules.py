"""Rules between parties: three shops, and columns of two parties, each a process over TLS; growth with the parties."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from measuring import fresh, shared_data
from rows import Row, within

SHOPS, SUPPORT = ("north", "south", "west"), 0.003
PEOPLE, ITEMS, VERTICAL_SUPPORT = 100_000, 20, 0.1
FEWEST, MOST = 2, 10


def run() -> list[Row]:
    """Mine BMS1 over three processes and generated columns over two; compare bytes and CPU of a party by parties."""
    baskets = shared_data("bms-webview-1") / "BMS-WebView-1.dat.gz"
    rows = []
    for what, more in (
        ("secret items, all candidates", {}),
        ("secret items, united candidates", {"candidates": "union"}),
        ("public items", {"items": fresh("joint_rules", "names", str(baskets))}),
    ):
        seconds, note = _horizontal(baskets, more)
        rows.append(within(f"BMS1 at 0.3 %, 3 parties, {what}", seconds, 30.0, "s", note=note, clock=True))
    seconds, note = _vertical()
    what = f"{PEOPLE:,} people, 2 × {ITEMS} items at {VERTICAL_SUPPORT:.0%}, 2 parties"
    rows.append(within(what, seconds, 60.0, "s", note=note, clock=True))
    return rows + _growth()


def _horizontal(baskets: Path, more: dict[str, Any]) -> tuple[float, str]:
    """Return the seconds by the clock from the start of the processes to the last result, and what was found."""
    from discreet.parties.network.local_run import run_locally, write_session

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        fresh("joint_rules", "split", str(baskets), place)
        session = write_session(
            folder, "rules", {"min_support": SUPPORT, "format": "fimi", **more}, SHOPS, timeout=120
        )
        found = run_locally(session, {name: folder / f"{name}.dat" for name in SHOPS})
        return found.seconds, _told(found.transcript(SHOPS[1]), found.folders[SHOPS[1]])


def _vertical() -> tuple[float, str]:
    from discreet.parties.network.local_run import run_locally, write_session

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        columns = fresh("joint_rules", "columns", place)
        parameters = {"key": "id", "max_people": PEOPLE, "min_support": VERTICAL_SUPPORT, "columns": columns}
        session = write_session(folder, "vertical-rules", parameters, tuple(columns), timeout=120)
        found = run_locally(session, {name: folder / f"{name}.parquet" for name in columns})
        return found.seconds, _told(found.transcript("clinic"), found.folders["clinic"])


def _told(record: dict[str, Any], folder: Path) -> str:
    n_sets = len((folder / "itemsets.csv").read_text().splitlines()) - 1
    megabytes = (record["meter"]["bytes_sent"] + record["meter"]["bytes_received"]) / 1e6
    return f"{n_sets} itemsets, {megabytes:.1f} MB, {record['meter']['rounds']} rounds"


def _growth() -> list[Row]:
    """Compare what a party sends and computes among few and among many parties: no worse than in proportion."""
    few, many = (fresh("joint_rules", "among", n) for n in (FEWEST, MOST))
    limit = MOST / FEWEST
    rows = []
    for key, what in (("bytes", "bytes sent by the busiest party"), ("cpu", "CPU of the busiest party")):
        ratio = many[key] / few[key]
        shown = {"ours": f"{many[key]:.4g}", "peer": f"{few[key]:.4g}"}
        rows.append(within(f"{what}, {MOST} parties against {FEWEST}", ratio, limit, "×", **shown))
    return rows


def names(path: str) -> list[str]:
    """Return the names of all items, as a public list."""
    from discreet.engines.baskets.files import read_baskets

    return [str(name) for name in read_baskets(path).names.to_pylist()]


def split(path: str, folder: str) -> None:
    """Deal the baskets out to three shops."""
    import numpy as np

    from discreet.engines.baskets.files import read_baskets, write_baskets

    baskets = read_baskets(path)
    for place, name in enumerate(SHOPS):
        own = baskets.take(np.arange(place, len(baskets), 3))
        write_baskets(own, Path(folder, f"{name}.dat"), lossy=True)


def columns(folder: str) -> dict[str, list[str]]:
    """Generate the columns of two parties, which hold the same people in another order."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    habits = rng.random((PEOPLE, 5)) < 0.3
    listed = {name: [f"{name}-{number}" for number in range(ITEMS)] for name in ("clinic", "insurer")}
    for name, items in listed.items():
        bits = {
            item: ((habits[:, number % 5] & (rng.random(PEOPLE) < 0.7)) | (rng.random(PEOPLE) < 0.1)).astype(
                int
            )
            for number, item in enumerate(items)
        }
        frame = pl.DataFrame({"id": np.arange(PEOPLE)} | bits)
        frame.sample(fraction=1.0, shuffle=True, seed=1).write_parquet(Path(folder, f"{name}.parquet"))
    return listed


def among(n_parties: int) -> dict[str, float]:
    """Mine generated baskets among parties in one process; give what the busiest party sends and computes."""
    from discreet.datasets import shops
    from discreet.datasets.shops import PRODUCTS
    from discreet.parties import simulate
    from discreet.parties.mining import AssociationRules

    held = shops(2000, names=tuple(f"shop{number}" for number in range(n_parties)))
    protocol = AssociationRules(0.03, items=PRODUCTS)
    simulate(protocol, held)
    meters = list(simulate(protocol, held).meters.values())
    return {
        "bytes": max(meter.bytes_sent for meter in meters),
        "cpu": max(sum(step.cpu_seconds for step in meter.steps) for meter in meters),
    }
