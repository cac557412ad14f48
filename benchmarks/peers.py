"""The peers, run by the interpreter that has them installed; this file imports nothing of ours.

pycanon pins old versions of NumPy, pandas and SciPy, so the peers may live in an environment of their own.
"""

from __future__ import annotations

import time
from typing import Any


def anonypy_adult(source: str, target: str, separator: str, k: int) -> dict[str, Any]:
    """Time anonypy from file to file by its documented call, and its partitioning inside it."""
    import pandas as pd
    from anonypy import Preserver, mondrian

    spent: dict[str, Any] = {}
    partition = mondrian.Mondrian.partition

    def timed(*arguments: Any, **options: Any) -> Any:
        began = time.process_time()
        found = partition(*arguments, **options)
        spent["partition"] = time.process_time() - began
        spent["groups"] = len(found)
        return found

    mondrian.Mondrian.partition = timed
    began = time.process_time()
    frame = pd.read_csv(source, sep=separator)
    for name in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].astype("category")
    rows = Preserver(frame, list(frame.columns), frame.columns[-1]).anonymize_k_anonymity(k)
    pd.DataFrame(rows).to_csv(target, index=False)
    return {"file": time.process_time() - began, **spent}


def pycanon_t_closeness(source: str, separator: str, sensitive: str) -> dict[str, float]:
    """Time pycanon's t-closeness of one sensitive column, all others being quasi-identifiers."""
    import pandas as pd
    from pycanon import anonymity

    frame = pd.read_csv(source, sep=separator)
    quasi = [name for name in frame.columns if name != sensitive]
    began = time.process_time()
    t = anonymity.t_closeness(frame, quasi, [sensitive])
    return {"seconds": time.process_time() - began, "t": float(t)}
