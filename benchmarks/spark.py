"""Spark on this machine: judging and releasing rows where they lie, beside hand-written Spark SQL of the same."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from measuring import PeerMissingError, fresh
from rows import Row, within

N_ROWS = int(os.environ.get("DISCREET_SPARK_ROWS", "5000000"))
MOST = 1.3
"""The most CPU that we may take, as a multiple of hand-written SQL."""
_ROUNDS = 2
_TICKS = os.sysconf("SC_CLK_TCK")


def run() -> list[Row]:
    """Compare the CPU of both, Java's included, in one session."""
    found = fresh("spark", "both", N_ROWS)
    return [
        within(
            f"{what}, {N_ROWS:,} rows × 8, local[2]",
            found[what][0] / found[what][1],
            MOST,
            "×",
            ours=f"{found[what][0]:.1f} s",
            peer=f"{found[what][1]:.1f} s",
            note="CPU of Java and Python; hand-written Spark SQL",
        )
        for what in SIDES
    ]


def both(n_rows: int) -> dict[str, list[float]]:
    """Return the CPU seconds of ours and of hand-written SQL, the least of a few rounds after one that warms up."""
    session, java = _session()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size, rounds in ((100_000, 1), (n_rows, _ROUNDS)):
            _rows(session, size).write.mode("overwrite").parquet(str(folder / "rows"))
            rows = session.read.parquet(str(folder / "rows"))
            taken = {
                what: [min(_cpu(java, side, rows, folder) for _ in range(rounds)) for side in sides]
                for what, sides in SIDES.items()
            }
        session.stop()
    return taken


def _session() -> tuple[Any, int]:
    try:
        from discreet.engines.spark.session import require_java, spark_session

        require_java()
        session = spark_session("local[2]")
    except Exception as error:  # noqa: BLE001  # whatever is missing
        raise PeerMissingError(str(error)) from None
    session.conf.set("spark.sql.shuffle.partitions", "4")
    java = int(session._jvm.java.lang.ProcessHandle.current().pid())
    return session, java


def _cpu(java: int, side: Any, rows: Any, folder: Path) -> float:
    shutil.rmtree(folder / "out", ignore_errors=True)
    shutil.rmtree(folder / "out.private", ignore_errors=True)
    before = _used(java)
    side(rows, folder / "out")
    return _used(java) - before


def _used(java: int) -> float:
    """Return the CPU seconds of this process and of Java."""
    cells = Path(f"/proc/{java}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + (int(cells[11]) + int(cells[12])) / _TICKS


def _rows(session: Any, n: int) -> Any:
    """Return rows of eight columns: an identifier, three quasi-identifiers, a sensitive column and three others."""
    return session.range(n, numPartitions=2).selectExpr(
        "concat('p', id) AS ssn",
        "cast(18 + pmod(xxhash64(id, 1), 70) AS int) AS age",
        "lpad(cast(pmod(xxhash64(id, 2), 400) AS string), 5, '0') AS zip",
        "element_at(array('f', 'm'), cast(1 + pmod(xxhash64(id, 3), 2) AS int)) AS sex",
        "element_at(array('flu', 'cold', 'asthma', 'ulcer'), cast(1 + pmod(xxhash64(id, 4), 4) AS int)) AS disease",
        "cast(pmod(xxhash64(id, 5), 100) AS double) / 4 AS dose",
        "cast(pmod(xxhash64(id, 6), 50) AS int) AS visits",
        "date_add(date'2024-01-01', cast(pmod(xxhash64(id, 7), 300) AS int)) AS seen",
    )


def _table(rows: Any) -> Any:
    from discreet import Table, identifier, intervals, masked, other, quasi, sensitive

    roles = {
        "ssn": identifier(),
        "age": quasi(intervals(10)),
        "zip": quasi(masked()),
        "sex": quasi(),
        "disease": sensitive(),
        **dict.fromkeys(("dose", "visits", "seen"), other(allow_unique=True)),
    }
    return Table(rows, roles)


def _our_judging(rows: Any, out: Path) -> None:
    from discreet.guarantees import KAnonymity

    del out
    assert KAnonymity(2).check(_table(rows)).n_groups > 0


def _their_judging(rows: Any, out: Path) -> None:
    del out
    counted = rows.groupBy("age", "zip", "sex", "disease").count().toArrow()
    assert counted.num_rows


def _our_release(rows: Any, out: Path) -> None:
    from discreet.guarantees import KAnonymity
    from discreet.publish import Generalization

    release = Generalization(KAnonymity(5), levels={"age": 1, "zip": 2, "sex": 0}).release(_table(rows))
    release.write(out, report=False)


def _their_release(rows: Any, out: Path) -> None:
    """Count the tuples, to see what may be released; write the labels in random order; count what was written."""
    from pyspark.sql import functions

    _their_judging(rows, out)
    labels = rows.selectExpr(
        "concat('[', floor(age / 10) * 10, ', ', floor(age / 10) * 10 + 9, ']') AS age",
        "concat(left(zip, 3), '**') AS zip",
        *("sex", "disease", "dose", "visits", "seen"),
    ).withColumn("place", functions.rand())
    labels.repartition("place").sortWithinPartitions("place").drop("place").write.parquet(str(out))
    written = rows.sparkSession.read.parquet(str(out))
    counted = written.groupBy("age", "zip", "sex").count().agg(functions.min("count")).collect()
    assert counted[0][0] >= 5


def _their_counts(rows: Any, out: Path) -> None:
    """Do the same, and count what our cautions say: rows that columns single out, and repeated identifiers."""
    _their_release(rows, out)
    written, others = rows.sparkSession.read.parquet(str(out)), ["dose", "visits", "seen"]
    sets = [
        (written, names) for names in ([others[0]], [others[1]], [others[2]], others, ["disease", *others])
    ]
    for frame, names in [*sets, (rows, ["ssn"])]:
        counted = frame.groupBy(*names).count().selectExpr("count_if(count = 1)", "sum(count)", "count(*)")
        assert counted.collect()[0][1] > 0


SIDES = {
    "judge": (_our_judging, _their_judging),
    "generalize and write": (_our_release, _their_release),
    "the same, with the counts of the cautions": (_our_release, _their_counts),
}
