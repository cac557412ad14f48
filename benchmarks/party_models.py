"""Models between parties: k-means of a million rows, naive Bayes beside the pooled run, growth with the parties."""

from __future__ import annotations

import json
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from measuring import cpu, fresh
from rows import Row, within

ROWS, COLUMNS, K, ROUNDS, PARTIES = 1_000_000, 8, 10, 20, 3
NAMES = [f"x{number}" for number in range(COLUMNS)]
KMEANS_SECONDS, BAYES_TIMES = 20.0, 3.0


def run() -> list[Row]:
    """Three processes over loopback TLS share a million rows; what the pooled run costs is scikit-learn's."""
    clusters = _among_processes(
        "k-means", {"columns": NAMES, "k": K, "max_rounds": ROUNDS, "min_rows": 5}, classes=0
    )
    wall = max(one["wall"] for one in clusters)
    what = f"{ROWS:,} × {COLUMNS}, k = {K}, {ROUNDS} rounds, {PARTIES} processes"
    note = f"{clusters[1]['rounds']} rounds were run; {clusters[1]['sent'] / 1e6:.2f} MB sent by a party"
    bayes = _among_processes(
        "naive-bayes", {"columns": NAMES, "target": "c", "classes": [0, 1, 2]}, classes=3
    )
    total = sum(one["cpu"] for one in bayes)
    pooled = fresh("party_models", "pooled_bayes")
    few, many = (fresh("party_models", "growth", n) for n in (2, 10))
    return [
        within(f"k-means, {what}, by the clock", wall, KMEANS_SECONDS, "s", note=note, clock=True),
        within(
            f"naive Bayes, {ROWS:,} × {COLUMNS}, CPU of all parties over the pooled run", total / pooled, BAYES_TIMES,
            "×", ours=f"{total:.2f} s", peer=f"{pooled:.2f} s", note="GaussianNB of scikit-learn",
        ),
        within(
            "k-means, CPU of a party among 10 parties over that among 2, its rows the same", many / few, 5.0, "×",
            ours=f"{many * 1e3:.0f} ms", peer=f"{few * 1e3:.0f} ms", note="5× is linear",
        ),
    ]  # fmt: skip


def rows_of(index: int, n: int, classes: int) -> dict[str, Any]:
    """Return some rows of a mixture of Gaussian clusters that overlap, so that Lloyd takes many rounds."""
    import numpy as np

    rng = np.random.default_rng(index)
    middles = np.random.default_rng(99).uniform(-5, 5, (3 * K, COLUMNS))
    values = middles[rng.integers(0, 3 * K, n)] + rng.normal(size=(n, COLUMNS)) * 2
    rows = {name: values[:, at] for at, name in enumerate(NAMES)}
    return rows | ({"c": rng.integers(0, classes, n)} if classes else {})


def _among_processes(protocol: str, parameters: dict[str, Any], *, classes: int) -> list[dict[str, Any]]:
    from discreet.parties.network.keys import make_keys
    from discreet.parties.network.local_run import free_ports

    names = [f"party{number}" for number in range(PARTIES)]
    with tempfile.TemporaryDirectory() as folder:
        entries = []
        for name, port in zip(names, free_ports(len(names)), strict=True):
            _, public, _ = make_keys(name, folder, address=f"127.0.0.1:{port}")
            entries.append(public.read_text())
        values = "\n".join(f"{key} = {json.dumps(value)}" for key, value in parameters.items())
        text = f'timeout = 120\nconnect_timeout = 120\n{"".join(entries)}[protocol]\nname = "{protocol}"\n{values}\n'
        Path(folder, "session.toml").write_text(text)
        with ThreadPoolExecutor(PARTIES) as pool:
            calls = [
                pool.submit(fresh, "party_models", "half", folder, name, at, classes)
                for at, name in enumerate(names)
            ]
            return [call.result() for call in calls]


def half(folder: str, name: str, index: int, classes: int) -> dict[str, Any]:
    """Run one party twice; the first run compiles and loads."""
    from discreet.parties.network.session import PartySession
    from discreet.parties.network.transport import open_session

    session = PartySession.read(Path(folder, "session.toml"))
    n = ROWS // PARTIES + (index < ROWS % PARTIES)
    rows, few = rows_of(index, n, classes), rows_of(index, 500, classes)
    with open_session(session, name, Path(folder, f"{name}.pem")) as party:
        session.protocol.run(party.within("first"), few)
        party.revealed.clear()
        sent, wall, spent = party.meter.bytes_sent, time.perf_counter(), time.process_time()
        output = session.protocol.run(party.within("second"), rows)
        return {
            "wall": time.perf_counter() - wall,
            "cpu": time.process_time() - spent,
            "sent": party.meter.bytes_sent - sent,
            "rounds": int(getattr(output.model, "n_iter_", 0)),
        }


def pooled_bayes() -> float:
    """Fit the pooled rows with scikit-learn."""
    import numpy as np
    from sklearn.naive_bayes import GaussianNB

    parts = [rows_of(index, ROWS // PARTIES + (index < ROWS % PARTIES), 3) for index in range(PARTIES)]
    values = np.column_stack([np.concatenate([part[name] for part in parts]) for name in NAMES])
    labels = np.concatenate([part["c"] for part in parts])
    return cpu(lambda: GaussianNB().fit(values, labels), times=3)


def growth(n_parties: int) -> float:
    """Return the CPU seconds of one party among several, all in one process."""
    from discreet.parties import simulate
    from discreet.parties.mining import HorizontalKMeans

    centers = tuple((float(number),) * COLUMNS for number in range(K))
    protocol = HorizontalKMeans(columns=tuple(NAMES), k=K, init="given", centers=centers, max_rounds=5)
    inputs = {f"party{number}": rows_of(number, 1000, 0) for number in range(n_parties)}
    return cpu(lambda: simulate(protocol, inputs), times=3) / n_parties
