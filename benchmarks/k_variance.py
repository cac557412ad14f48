"""k-variance: exact neighbors of baskets beside pynndescent and scikit-learn, the lengths, and a million records."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from measuring import PeerMissingError, fresh, highest_memory, peer
from rows import Row, failed, faster, within

K = 10
WIDE = 15
"""pynndescent finds about 7 in 10 with a graph of 10 neighbors, and more than 8 in 10 with one of 15."""
NAME, MILLION = "T20.I4.D200K.N1K", "T20.I4.D1M.N1K"
NEIGHBORS, MILLION_NEIGHBORS, MEMORY = 5.0, 100.0, 1e9
"""The seconds by the clock of exact neighbors on two threads, and the bytes at a million."""
LENGTHS, WHOLE, GROWTH = 2.0, 60.0, 6.5
BY_DISTANCE = 1.3
"""Caps by distance may take this many times as long as those by the whole gap."""
FASTER = 10.0
QUERIES = 2000


def run() -> list[Row]:
    """Measure neighbors, lengths and the whole method, and lay the peers beside."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "baskets.npz")
        ours = fresh("k_variance", "neighbors", NAME, path)
        rows = [
            within(
                "200K baskets, 1,000 items: exact 10 nearest",
                ours["wall"],
                NEIGHBORS,
                "s",
                note=_cpu(ours),
                clock=True,
            ),
            *_pynndescent(path, ours),
            *_brute(path, ours),
        ]  # fmt: skip
    large = fresh("k_variance", "neighbors", MILLION, "")
    rows += [
        within(
            "1M baskets: exact 10 nearest",
            large["wall"],
            MILLION_NEIGHBORS,
            "s",
            note=_cpu(large),
            clock=True,
        ),
        within("memory of a process that generates 1M and finds them", large["memory"], MEMORY, "B"),
    ]
    fifth, whole = (fresh("k_variance", "method", name) for name in (NAME, MILLION))
    rows += [
        within("200K: lengths after the neighbors, CPU", fifth["lengths"], LENGTHS, "s"),
        within("200K: caps by distance over those by the whole gap, CPU", fifth["distance"], BY_DISTANCE, "×"),
        within("1M: the whole method, partitions of 200K", whole["wall"], WHOLE, "s", note=_cpu(whole), clock=True),
        within("from 200K to 1M, times as long (CPU)", whole["cpu"] / fifth["cpu"], GROWTH, "×"),
    ]  # fmt: skip
    return rows


def _cpu(found: dict[str, Any]) -> str:
    return f"{found['cpu']:.1f} s of CPU on two threads; by the clock, so it wants two free processors"


def _pynndescent(path: str, ours: dict[str, Any]) -> list[Row]:
    what = "beside pynndescent, CPU"
    try:
        theirs = peer("pynndescent_neighbors", path, K, WIDE)
    except PeerMissingError as error:
        return [failed(what, str(error))]
    recall = _recall(path, theirs, ours["farthest"])
    note = f"theirs finds {recall:.0%} as near as ours, which are exact"
    return [faster(what, ours["cpu"], theirs["cpu"], FASTER, note=note)]


def _recall(path: str, theirs: dict[str, Any], farthest: list[float]) -> float:
    """Return the share of the peer's neighbors that are as near as the k-th true one; ties count as found."""
    from scipy.sparse import load_npz

    matrix = load_npz(path).tocsr().astype(np.float64)
    lengths = np.sqrt(matrix.sum(axis=1))
    hits = 0
    for row, near, bound in zip(theirs["sample"], theirs["near"], farthest, strict=True):
        dots = (matrix[near] @ matrix[[row]].T).toarray().ravel()
        hits += int((dots / (lengths[near] * lengths[row]) >= bound - 1e-9).sum())
    return hits / (K * len(farthest))


def _brute(path: str, ours: dict[str, Any]) -> list[Row]:
    theirs = peer("sklearn_neighbors", path, K, QUERIES)
    note = f"scaled up from {QUERIES:,} of the rows"
    return [faster("beside scikit-learn's brute force, CPU", ours["cpu"], theirs["cpu"], FASTER, note=note)]


def neighbors(name: str, path: str) -> dict[str, Any]:
    """Time exact neighbors; the baskets are written for the peers where a path is given."""
    from discreet.datasets import quest
    from discreet.kernels.sketches.exact_neighbors import Compressed, nearest_exactly

    def laid(baskets: Any) -> Compressed:
        return Compressed(baskets.indptr, baskets.items, None, baskets.n_items)

    nearest_exactly(laid(quest("T20.I4.D1K.N1K", random_state=1)), K)
    baskets = quest(name, random_state=17)
    rows = laid(baskets)
    taken = []
    for _ in range(3 if path else 1):
        wall, cpu = time.perf_counter(), time.process_time()
        found = nearest_exactly(rows, K)
        taken.append((time.perf_counter() - wall, time.process_time() - cpu))
    memory = highest_memory()
    sample = np.linspace(0, rows.n - 1, 500).astype(int)
    if path:
        from scipy.sparse import save_npz

        save_npz(path, baskets.to_sparse())
    return {
        "wall": min(wall for wall, _ in taken),
        "cpu": min(cpu for _, cpu in taken),
        "memory": memory,
        "farthest": found.cosines[sample, -1].tolist(),
    }


def method(name: str) -> dict[str, Any]:
    """Time the whole method, and the lengths alone once the neighbors are known."""
    from discreet.datasets import quest
    from discreet.guarantees import TOLERANCE
    from discreet.kernels.sketches.k_variance import caps_by_distance, caps_of, longest_lengths
    from discreet.publish import KVarianceSketch, SketchFamily

    publisher = KVarianceSketch(K, family=SketchFamily("benchmark", components=100))
    publisher.release(quest("T20.I4.D1K.N1K", random_state=1))
    baskets = quest(name, random_state=17)
    wall, cpu = time.perf_counter(), time.process_time()
    release = publisher.release(baskets)
    found: dict[str, Any] = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    if not release.verdict.ok:
        raise RuntimeError("the promise is broken")
    near = release.evidence.arrays["neighbors"]
    signed = np.zeros(len(baskets), np.bool_)
    order = np.random.default_rng(0).permutation(len(baskets))
    began = time.process_time()
    caps = caps_of(
        baskets.indptr, baskets.items, np.ones(baskets.items.size), baskets.n_items, near, signed=signed
    )
    limits = np.floor(np.minimum(caps * (1 + TOLERANCE), 100)).astype(np.int32)
    _, passes = longest_lengths(near, limits, order, 100)
    found["lengths"] = time.process_time() - began
    csr = (baskets.indptr, baskets.items, np.ones(baskets.items.size), baskets.n_items, near)
    exponents = np.zeros(len(baskets), np.int64)
    by_gap = _fastest(lambda: caps_of(*csr, signed=signed))
    by_distance = _fastest(lambda: caps_by_distance(*csr, exponents=exponents))
    return {**found, "passes": passes, "distance": by_distance / by_gap}


def _fastest(work: Callable[[], Any]) -> float:
    """Return the processor seconds of the fastest of three runs, after one that compiles."""
    work()
    taken = []
    for _ in range(3):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return min(taken)
