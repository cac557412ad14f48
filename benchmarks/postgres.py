"""A table of a million rows and eight columns into PostgreSQL and out, beside pandas' to_sql and read_sql."""

from __future__ import annotations

import os
import sys
from typing import Any

from measuring import HERE, PeerSlowError, fresh, peer
from rows import Row, faster

ROWS = int(os.environ.get("DISCREET_BENCH_ROWS", 1_000_000))
FLOOR = 4.0


def run() -> list[Row]:
    """Write and read the rows, CPU seconds of the client alone, ours and the peer each in a process of its own."""
    sys.path.insert(0, str(HERE.parent))
    from tests.servers import postgres_url, run_sql

    url = postgres_url()
    run_sql(*(f"DROP TABLE IF EXISTS {name}" for name in ("warm", "ours", "theirs")))
    written = fresh("postgres", "write", url.replace("table=", "table=ours"), ROWS)
    read = fresh("postgres", "read", url.replace("table=", "table=ours"), ROWS)
    counted = fresh("postgres", "count", url.replace("table=", "table=ours"))
    server = url.partition("?")[0].replace("postgresql://", "postgresql+psycopg://")
    peers = {}
    for step in ("write", "read"):
        try:
            peers[step] = (float(peer(f"pandas_sql_{step}", server, ROWS)["seconds"]), "")
        except PeerSlowError as error:
            # Time by the clock bounds CPU seconds of a process that computes alone only from above: not a ratio.
            peers[step] = (0.0, f"pandas was stopped after {error.seconds:g} s")
    rows = []
    for step, seconds in (("write", written), ("read", read)):
        theirs, note = peers[step]
        what = f"{ROWS / 1e6:g}M × 8 {'into' if step == 'write' else 'out of'} PostgreSQL"
        rows.append(faster(what, seconds, theirs or seconds, FLOOR if theirs else None, note=note))
    rows.append(faster(f"{ROWS / 1e6:g}M × 8 judged in PostgreSQL, beside reading", counted, read))
    return rows


def table(n_rows: int) -> Any:
    """Return the rows: whole numbers, floats, texts and dates."""
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(0)
    days = pa.array(rng.integers(0, 20_000, n_rows).astype("int32")).cast(pa.date32())
    texts = {
        name: pa.array([f"{name} {number:02d}" for number in range(size)]).take(
            pa.array(rng.integers(0, size, n_rows))
        )
        for name, size in (("zip", 900), ("job", 30), ("sex", 2), ("disease", 40))
    }
    return pa.table(
        {
            "patient": np.arange(n_rows),
            "age": rng.integers(0, 100, n_rows),
            "weight": rng.normal(70, 9, n_rows),
        }
        | {"day": days}
        | texts
    )


def write(url: str, n_rows: int) -> float:
    """Write the rows as a release goes into a new table; gives CPU seconds."""
    import time

    from discreet.engines.destinations import new_destination

    seconds = 0.0
    # A few rows first, since libraries are loaded when they are used.
    for name, rows in (("warm", table(10)), ("ours", table(n_rows))):
        began = time.process_time()
        with new_destination(url.replace("table=ours", f"table={name}"), rows) as destination:
            destination.commit()
        seconds = time.process_time() - began
    return seconds


def read(url: str, n_rows: int) -> float:
    """Fetch all rows; gives CPU seconds."""
    import time

    from discreet import read as read_frame
    from discreet.core.engine import arrow_table

    arrow_table(read_frame(url.replace("table=ours", "table=warm")))
    began = time.process_time()
    assert arrow_table(read_frame(url)).num_rows == n_rows
    return time.process_time() - began


def count(url: str) -> float:
    """Judge the table where it is; gives CPU seconds."""
    import time

    from discreet import Table, identifier, other, quasi, sensitive
    from discreet import read as read_frame
    from discreet.guarantees import KAnonymity

    roles = {"patient": identifier(), **dict.fromkeys(("weight", "day", "zip", "job"), other())}
    roles |= {"age": quasi(), "sex": quasi(), "disease": sensitive()}
    seconds = 0.0
    for name in ("warm", "ours"):
        began = time.process_time()
        KAnonymity(5).check(Table(read_frame(url.replace("table=ours", f"table={name}")), roles))
        seconds = time.process_time() - began
    return seconds
