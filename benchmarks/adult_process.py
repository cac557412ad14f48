"""The whole way from a CSV file to a released one with the best lattice node, as a process of its own."""

from __future__ import annotations

import sys
import time
from pathlib import Path

K = 5
SUPPRESSED = 0.05


def main(source: Path, hierarchies: Path, out: Path, told: Path) -> None:
    """Read, search, judge, write; tells the CPU seconds of each stage."""
    marks = {"start of Python": time.process_time()}
    import discreet
    from discreet import Table, quasi, read_hierarchy
    from discreet.guarantees import KAnonymity
    from discreet.publish import OptimalLattice

    marks["imports"] = time.process_time()
    frame = discreet.read(source)
    columns = {
        name: quasi(read_hierarchy(hierarchies / f"adult_hierarchy_{name}.csv")) for name in frame.columns
    }
    table = Table(frame, columns)
    marks["reading"] = time.process_time()
    assert table.tuples.counts.sum() == table.n_rows
    marks["coding"] = time.process_time()
    release = OptimalLattice(KAnonymity(K), max_suppressed=SUPPRESSED).release(table)
    marks["search"] = time.process_time()
    assert release.verdict.ok
    marks["judging"] = time.process_time()
    release.write(out, report=False)
    marks["writing"] = time.process_time()
    spent, before = [], 0.0
    for stage, at in marks.items():
        spent.append(f"{stage} {(at - before) * 1e3:.0f} ms")
        before = at
    told.write_text(", ".join(spent))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
