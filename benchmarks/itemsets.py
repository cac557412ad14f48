"""Itemsets of T10.I4.D1M.N1K, true and distorted, beside pyfim's eclat, mlxtend and efficient-apriori."""

from __future__ import annotations

import gc
import hashlib
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measuring import PeerMissingError, PeerSlowError, fresh, peak, peer
from rows import Row, amount, failed, faster, skipped, within

NAME, SEED = "T10.I4.D1M.N1K", 205
SHARE = 0.003
FLOORS = {0.003: 4.0, 0.001: 4.0, 0.0005: 4.0, 0.0002: 4.0}
SLOW_PEERS = {"mlxtend's fpgrowth": "mlxtend_fpgrowth", "efficient-apriori": "efficient_apriori"}
SLOW_FLOOR = 200.0
CHANNELS = ((0.6, 0.96), (0.5, 0.97), (0.4, 0.98), (0.3, 0.99))
ON_BITS, ON_ROWS, ON_PEER = 1.1, 2.0, 4.0
TO_DISTORT, MEMORY = 1.0, 0.25


@dataclass(frozen=True)
class Took:
    """Wall and CPU seconds, each the least of several runs."""

    wall: float
    cpu: float

    @property
    def note(self) -> str:
        """The CPU seconds as text."""
        return f"CPU {amount(self.cpu, 's')}"


def run() -> list[Row]:
    """Mine the true baskets at four supports and the distorted ones at the first, each beside the peers."""
    from discreet.datasets import quest
    from discreet.engines.baskets.files import write_baskets

    baskets = quest(NAME, random_state=SEED)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "baskets.dat"
        write_baskets(baskets, path, lossy=True)
        try:
            eclat = {share: peer("pyfim_eclat", str(path), share) for share in FLOORS}
        except PeerMissingError as error:
            return [failed("itemsets", f"the peer cannot be run: {error}")]
        rows = plain(baskets, eclat)
        rows += [slow(name, function, str(path), baskets) for name, function in SLOW_PEERS.items()]
        rows.append(memory(str(path)))
    return rows + distorted(baskets, eclat[SHARE])


def plain(baskets: Any, eclat: dict[float, Any]) -> list[Row]:
    """Compare plain mining from the rows with eclat at each support; the itemsets must be the same."""
    from discreet.mine import Itemsets

    rows = []
    for share, floor in FLOORS.items():
        theirs = eclat[share]
        what = f"itemsets at {share:.2%}, pyfim's eclat"
        if digest(Itemsets(share).mine(baskets)) != theirs["digest"]:
            rows.append(failed(what, "the itemsets differ from pyfim's"))
            continue
        ours = took(lambda share=share: Itemsets(share).mine(afresh(baskets)))
        clock = f"by the clock {amount(ours.wall, 's')}, pyfim {amount(theirs['wall'], 's')}"
        note = f"{theirs['sets']:,} itemsets, the same; {clock}"
        rows.append(faster(what, ours.cpu, theirs["cpu"], floor, note=note))
    return rows


def slow(name: str, function: str, path: str, baskets: Any) -> Row:
    """Compare with a peer that takes a minute; it runs once. One that is stopped took at least its limit."""
    from discreet.mine import Itemsets

    what = f"itemsets at {SHARE:.2%}, {name}"
    try:
        theirs = peer(function, path, SHARE)
    except PeerSlowError as error:
        ours = took(lambda: Itemsets(SHARE).mine(afresh(baskets)))
        at_least = faster(what, ours.wall, error.seconds, SLOW_FLOOR, note=f"at least: {error}")
        return at_least if at_least.state == "pass" else skipped(what, str(error))
    except (PeerMissingError, RuntimeError) as error:
        return failed(what, f"the peer cannot be run: {error}")
    ours = took(lambda: Itemsets(SHARE).mine(afresh(baskets)))
    note = f"{ours.note}, peer {amount(theirs['cpu'], 's')}; {theirs['sets']:,} itemsets"
    return faster(what, ours.wall, theirs["wall"], SLOW_FLOOR, note=note)


def memory(path: str) -> Row:
    """Compare the memory that reading the file and mining it add to a fresh process that has its libraries loaded."""
    ours = fresh("itemsets", "own_memory", path, SHARE)
    theirs = peer("pyfim_memory", path, SHARE)
    note = f"whole processes: {amount(ours['highest'], 'B')}, pyfim {amount(theirs['highest'], 'B')}"
    shown = {"ours": amount(ours["added"], "B"), "peer": amount(theirs["added"], "B"), "note": note}
    return within(
        "memory to read and mine, over pyfim's", ours["added"] / theirs["added"], MEMORY, "×", **shown
    )


def own_memory(path: str, share: float) -> dict[str, int]:
    """Measure the memory of reading and mining; called in a process of its own."""
    from discreet.datasets import quest
    from discreet.engines.baskets.files import read_baskets, write_baskets
    from discreet.mine import Itemsets

    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.dat"
        write_baskets(quest("T10.I4.D10K.N1K", random_state=SEED), small, lossy=True)
        Itemsets(share).mine(read_baskets(small))
    spent = peak(lambda: Itemsets(share).mine(read_baskets(path)))
    return {"added": spent.added, "highest": spent.highest}


def distorted(baskets: Any, eclat: dict[str, Any]) -> list[Row]:
    """Compare mining the distorted baskets with mining the true ones, from bit columns and from rows."""
    from discreet.collect import EMask
    from discreet.mine import Itemsets, MaskedItemsets

    bits = baskets.bits()
    true_bits, true_rows = together(
        lambda: Itemsets(SHARE).mine(afresh(bits)), lambda: Itemsets(SHARE).mine(afresh(baskets))
    )
    rows = []
    for p, q in CHANNELS:
        channel = EMask(p, q)
        flipped = channel.perturb(baskets, random_state=SEED)
        packed = flipped.bits()
        miner = MaskedItemsets(channel, SHARE)
        on_bits, again = together(
            lambda miner=miner, packed=packed: miner.mine(afresh(packed)),
            lambda: Itemsets(SHARE).mine(afresh(bits)),
        )
        on_rows = took(lambda miner=miner, flipped=flipped: miner.mine(afresh(flipped)))
        least = Took(min(true_bits.wall, again.wall), min(true_bits.cpu, again.cpu))
        where = f"({p:g}, {q:g})"
        rows += [
            slowdown(f"distorted {where} over true, from bits", on_bits, least, ON_BITS),
            slowdown(f"distorted {where} over true, from rows", on_rows, true_rows, ON_ROWS),
            faster(
                f"distorted {where}, pyfim on the true",
                on_bits.wall,
                eclat["wall"],
                ON_PEER,
                note=on_bits.note,
            ),
        ]
        spent = took(lambda channel=channel: channel.perturb(baskets, random_state=SEED), times=3)
        rows.append(
            within(f"distorting 1M baskets {where}", spent.wall, TO_DISTORT, "s", note=spent.note, clock=True)
        )
    return rows


def slowdown(what: str, ours: Took, true: Took, limit: float) -> Row:
    """Compare the wall time of two runs of ours."""
    note = f"CPU {amount(ours.cpu / true.cpu, '×')}"
    shown = {"ours": amount(ours.wall, "s"), "peer": amount(true.wall, "s"), "note": note}
    return within(what, ours.wall / true.wall, limit, "×", **shown)


def took(work: Callable[[], object], *, times: int = 7) -> Took:
    """Return the least wall and CPU seconds of several runs, after one to warm up."""
    return together(work, times=times)[0]


def together(*works: Callable[[], object], times: int = 7) -> list[Took]:
    """Measure several things in turn, so that what else the machine does falls on all of them alike."""
    spent: list[list[tuple[float, float]]] = [[] for _ in works]
    for _ in range(times + 1):
        for work, taken in zip(works, spent, strict=True):
            gc.collect()
            wall, cpu = time.perf_counter(), time.process_time()
            work()
            taken.append((time.perf_counter() - wall, time.process_time() - cpu))
    return [Took(min(wall for wall, _ in taken[1:]), min(cpu for _, cpu in taken[1:])) for taken in spent]


def afresh(data: Any) -> Any:
    """Return the data without what was counted before."""
    return type(data)(*(getattr(data, field) for field in data.__dataclass_fields__))


def digest(found: Any) -> str:
    """Sum the itemsets and their counts up in a short text."""
    plain = sorted((sorted(items), count) for items, count in found)
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()
