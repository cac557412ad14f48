"""Tables whose distinct tuples exceed memory: judged and generalized as if they did not, or refused in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Table, intervals, masked, person, quasi, sensitive
from discreet.core.engine import arrow_table
from discreet.core.errors import InputError
from discreet.engines.duckdb import connection, engine, large
from discreet.guarantees import (
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
)
from discreet.kinds.judging import judge_table
from discreet.measure import risk
from discreet.publish import Generalization, Mondrian

Limit = Callable[[int], None]
ROLES = {
    "age": quasi(intervals(5, 10, 20)),
    "zip": quasi(masked()),
    "sex": quasi(),
    "disease": sensitive(),
    "stage": sensitive(),
}
GUARANTEES = [
    KAnonymity(2),
    DistinctDiversity(2, of="disease"),
    EntropyDiversity(1.5, of="stage"),
    RecursiveDiversity(2, 2, of="disease"),
    TCloseness(0.3, of="stage"),
    KAnonymity(2) & DistinctDiversity(2, of="stage"),
]


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> Limit:
    """Leave every relation in the engine, with room for some tuples."""
    monkeypatch.setattr(engine, "HELD_ROWS", 0)

    def set_limit(n_tuples: int) -> None:
        monkeypatch.setattr(large, "most_tuples", lambda: n_tuples)

    return set_limit


def rows(n: int, n_ages: int, n_zips: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": pa.array(rng.integers(0, n_ages, n), mask=rng.random(n) < 0.1),
            "zip": [f"{code:04d}" for code in rng.integers(0, n_zips, n)],
            "sex": pa.array(["f", "m", None]).take(pa.array(rng.integers(0, 3, n))),
            "disease": pa.array(["flu", "cold", None]).take(pa.array(rng.integers(0, 3, n))),
            "stage": rng.integers(0, 3, n),
        }
    )


def table(frame: pa.Table, **roles: Any) -> Table:
    return Table(connection.connect().from_arrow(frame), {**ROLES, **roles})


@given(st.integers(60, 150), st.integers(1, 30), st.integers(1, 40), st.integers(0, 99))
@settings(max_examples=12, deadline=None)
def test_verdicts_and_risks_are_those_of_tuples_in_memory(
    n: int, n_ages: int, n_zips: int, seed: int
) -> None:
    frame = rows(n, n_ages, n_zips, seed)
    there = table(frame)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "HELD_ROWS", 0)
        patch.setattr(large, "most_tuples", lambda: 50)
        try:
            there.groups()
        except InputError:
            # What is neither a class of one or two rows nor fits: most are large, and have too many tuples.
            assert Table(frame, ROLES).tuples.counts.size > 50
            return
        for guarantee in GUARANTEES:
            assert guarantee.check(there) == guarantee.check(Table(frame, ROLES))
        assert risk(there) == risk(Table(frame, ROLES))
        assert judge_table(there) == judge_table(Table(frame, ROLES))


def test_classes_are_counted_and_not_fetched(limit: Limit) -> None:
    frame = rows(2000, 90, 2000, 1)
    limit(600)
    there = table(frame)
    assert there.exceeds_memory
    assert there.groups().n_groups < 200 < 1900 < there.groups().counted()[0]
    assert there.n_rows == 2000
    assert there.overall("age").tolist() == Table(frame, ROLES).overall("age").tolist()
    with pytest.raises(InputError, match="set DISCREET_MEMORY to 1GB, generalize to given levels"):
        Mondrian(KAnonymity(5)).release(table(frame))
    with pytest.raises(InputError, match="distinct tuples"):
        table(frame, stage=person()).groups()


@pytest.mark.parametrize("max_suppressed", [0.0, 0.6])
def test_a_release_at_levels_has_the_bytes_of_tuples_in_memory(
    limit: Limit, tmp_path: Path, max_suppressed: float
) -> None:
    frame = rows(2000, 90, 2000, 1)
    levels = {"age": 2, "zip": 3 if max_suppressed else "top"}
    files = []
    for n_tuples in (1500, 10**6):
        limit(n_tuples)
        original = table(frame)
        assert original.exceeds_memory == (n_tuples == 1500)
        method = Generalization(
            KAnonymity(33 if max_suppressed else 5) & DistinctDiversity(2, of="disease"),
            levels=levels,
            max_suppressed=max_suppressed,
            random_state=1,
        )
        release = method.release(original)
        assert bool(release.evidence.suppressed) == bool(max_suppressed)
        folder = release.write(tmp_path / "out", overwrite=True, report=False)
        written = [*folder.iterdir(), *folder.with_name("out.private").iterdir()]
        files.append({path.name: path.read_bytes() for path in written})
        release.write(tmp_path / "reported", overwrite=True)
        # Digests of rows have a key of their own each time, and are not there without the tuples.
        assert (files[-1].pop("rows.private.bin", None) is None) == original.exceeds_memory
        del files[-1]["digests.json"]
    assert files[0] == files[1]
    assert sorted(map(repr, arrow_table(release.frame).to_pylist()))


def test_the_room_for_tuples_follows_the_memory_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, n_bytes in {"64kB": 64_000, "2 GB": 2 * 10**9, "1.5MiB": 1_500_000}.items():
        monkeypatch.setenv("DISCREET_MEMORY", text)
        assert connection.most_tuples() == n_bytes // connection.TUPLE_BYTES
    monkeypatch.delenv("DISCREET_MEMORY")
    assert connection.most_tuples() > 0
