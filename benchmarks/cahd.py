"""CAHD on click streams and generated baskets, beside scipy's product and its Reverse Cuthill–McKee."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from measuring import DataMissingError, cpu, fresh, peak, shared_data
from rows import Row, faster, skipped, within

M, P, ALPHA = 10, 10, 3
STREAMS = {
    "BMS-WebView-1": ("bms-webview-1", 0.15),
    "BMS-WebView-2": ("bms-webview-2", 0.3),
}
FASTER, MEMORY = 15.0, 300e6
LARGE, GROWTH = 10.0, 13.0
"""The seconds a million baskets may take, and how many times those of a tenth of them."""


def run() -> list[Row]:
    """Compare ordering and grouping, memory, the other methods, and the growth with the number of baskets."""
    rows = []
    for name, (folder, limit) in STREAMS.items():
        try:
            source = shared_data(folder) / f"{name}.dat.gz"
        except DataMissingError as error:
            rows.append(skipped(name, str(error)))
            continue
        rows += _stream(name, source, limit)
    return rows + _generated()


def _stream(name: str, source: Path, limit: float) -> list[Row]:
    ours = fresh("cahd", "streamed", str(source))
    theirs = fresh("cahd", "by_product", str(source))
    note = f"m = {M}, p = {P}, α = {ALPHA}"
    return [
        within(f"{name}: order and groups, CPU", ours["seconds"], limit, "s", note=note),
        faster(f"{name}: beside scipy's A·Aᵀ and RCM, the same grouping", ours["seconds"], theirs["seconds"], FASTER),
        within(
            f"{name}: memory of a process that reads, orders and groups", ours["memory"], MEMORY, "B",
            peer=f"{theirs['memory'] / 1e6:,.0f} MB",
        ),
        Row(f"{name}: PermMondrian", ours["perm_mondrian"], "s", note=f"{ours['perm_groups']:,} groups"),
        Row(f"{name}: Anatomy", ours["anatomy"], "s", note=f"{ours['anatomy_groups']:,} groups"),
        Row(f"{name}: KL, r = 4: rcm", ours["kl"]["rcm"], "nats", note=_others(ours["kl"])),
    ]  # fmt: skip


def _others(found: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in found.items() if name != "rcm")


def _generated() -> list[Row]:
    tenth, whole = (fresh("cahd", "generated", name) for name in ("T10.I4.D100K.N1K", "T10.I4.D1M.N1K"))
    return [
        within("1M baskets of 10 items (Quest): order and groups, CPU", whole, LARGE, "s"),
        within("from 100K to 1M, times as long", whole / tenth, GROWTH, "×", ours=f"{tenth:.2f} → {whole:.2f} s"),
    ]  # fmt: skip


def streamed(source: str) -> dict[str, Any]:
    """Time the ordering and grouping of a stream in this process, then its memory, the others and the KL."""
    from discreet.measure import mean_kl_cells
    from discreet.publish import Anatomy, Cahd, PermMondrian
    from discreet.publish.baskets.grouping import split_baskets

    found: dict[str, Any] = {}

    def made() -> Any:
        baskets = _read(source)
        publisher = Cahd(P, sensitive=_sensitive(baskets), alpha=ALPHA)
        publisher.groups(split_baskets(publisher, baskets), np.random.default_rng(0))
        return baskets

    made()
    found["memory"] = peak(made).highest
    baskets = _read(source)
    sensitive = _sensitive(baskets)
    publisher = Cahd(P, sensitive=sensitive, alpha=ALPHA)
    parts = split_baskets(publisher, baskets)
    found["seconds"] = cpu(lambda: publisher.groups(parts, np.random.default_rng(0)), times=9, warm=2)
    methods = {
        "rcm": publisher,
        "lexicographic": Cahd(P, sensitive=sensitive, alpha=ALPHA, order="lexicographic"),
        "PermMondrian": PermMondrian(P, sensitive=sensitive),
        "Anatomy": Anatomy(P, sensitive=sensitive, random_state=0),
    }
    releases = {name: method.release(baskets) for name, method in methods.items()}
    found["kl"] = {name: mean_kl_cells(one, r=4, random_state=0).mean for name, one in releases.items()}
    perm = methods["PermMondrian"]
    found["perm_mondrian"] = cpu(lambda: perm.groups(parts), times=5, warm=1)
    found["perm_groups"] = releases["PermMondrian"].data.n_groups
    anatomy = methods["Anatomy"]
    found["anatomy"] = cpu(lambda: anatomy.groups(parts, np.random.default_rng(0)), times=5, warm=1)
    found["anatomy_groups"] = releases["Anatomy"].data.n_groups
    return found


def by_product(source: str) -> dict[str, float]:
    """Time scipy's product and its Reverse Cuthill–McKee, then the same grouping."""
    import scipy.sparse as sparse
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    from discreet.kernels.baskets.cahd_groups import cahd_groups
    from discreet.publish import Cahd
    from discreet.publish.baskets.grouping import split_baskets

    baskets = _read(source)
    parts = split_baskets(Cahd(P, sensitive=_sensitive(baskets)), baskets)
    ordinary, held = parts.ordinary, parts.held
    matrix = sparse.csr_matrix(
        (np.ones(ordinary.items.size, np.int32), ordinary.items, ordinary.indptr),
        shape=(len(ordinary), ordinary.n_items),
    )
    groups = (ordinary.indptr, ordinary.items, ordinary.n_items), (held.indptr, held.items, held.n_items)
    cahd_groups(np.arange(len(ordinary), dtype=np.int32), *groups, p=P, alpha=ALPHA)

    def work() -> None:
        order = reverse_cuthill_mckee(matrix @ matrix.T, symmetric_mode=True)
        cahd_groups(order, *groups, p=P, alpha=ALPHA)

    found = peak(work)
    return {"seconds": found.seconds, "memory": found.highest}


def generated(name: str) -> float:
    """Time the ordering and grouping of generated baskets; the first run warms up on few."""
    from discreet.datasets import quest
    from discreet.publish import Cahd
    from discreet.publish.baskets.grouping import split_baskets

    taken = []
    for one in ("T10.I4.D1K.N1K", name, name):
        baskets = quest(one, random_state=1)
        publisher = Cahd(P, sensitive=_sensitive(baskets), alpha=ALPHA)
        parts = split_baskets(publisher, baskets)
        began = time.process_time()
        publisher.groups(parts, np.random.default_rng(0))
        taken.append(time.process_time() - began)
    return min(taken[1:])


def _read(source: str) -> Any:
    from discreet.engines.baskets.files import read_baskets

    return read_baskets(source)


def _sensitive(baskets: Any) -> list[Any]:
    """Choose sensitive items at random, as the paper does, among those that twice the degree allows."""
    allowed = np.flatnonzero((baskets.counts > 0) & (baskets.counts * 2 * P <= len(baskets)))
    chosen = np.random.default_rng(0).choice(allowed, M, replace=False)
    return [baskets.names[int(code)].as_py() for code in chosen]
