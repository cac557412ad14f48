"""anjana on ARX's Adult, run by the interpreter that has the peers installed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import measuring


def anjana_adult(folder: Path, k: int, suppressed: float) -> Any:
    """Return anjana's CPU seconds, the loss of its release, and the rows it suppressed."""
    words = ("adult_anjana", "anonymized", (str(folder), k, suppressed), {})
    try:
        return measuring._call(measuring._peers_python(), *words, limit=measuring.PEER_SECONDS)
    except RuntimeError as error:
        if "ModuleNotFoundError" not in str(error):
            raise
        missing = str(error).partition("ModuleNotFoundError: ")[2]
        raise measuring.PeerMissingError(
            f"{missing}; `make benchmarks` installs it, or set {measuring.PEERS}"
        ) from None


def anonymized(folder: str, k: int, suppressed: float) -> dict[str, Any]:
    """Time anjana's k-anonymity by its documented call, all columns being quasi-identifiers with ARX's hierarchies."""
    import pandas as pd
    from anjana.anonymity import k_anonymity

    frame = pd.read_csv(Path(folder) / "adult.csv.gz", sep=";", dtype=str)
    names = list(frame.columns)
    levels = {name: _levels(pd, folder, name) for name in names}
    began = time.process_time()
    released = k_anonymity(frame, [], names, k, suppressed * 100, levels)
    seconds = time.process_time() - began
    left = len(frame) - len(released)
    lost = sum(_lost(list(released[name]), levels[name]) for name in names) + left * len(names)
    return {"seconds": seconds, "loss": lost / (len(frame) * len(names)), "suppressed": left}


def _levels(pd: Any, folder: str, name: str) -> dict[int, Any]:
    read = pd.read_csv(Path(folder) / f"adult_hierarchy_{name}.csv", sep=";", header=None, dtype=str)
    return {level: read[level].to_numpy() for level in read.columns}


def _lost(cells: list[str], levels: dict[int, Any]) -> float:
    """Add up the loss of a column's cells: the leaves under a value less one, over all leaves less one."""
    level = next(level for level, labels in levels.items() if set(cells) <= set(labels))
    labels = list(levels[level])
    under = {label: (labels.count(label) - 1) / (len(labels) - 1) for label in set(labels)}
    return sum(under[cell] for cell in cells)
