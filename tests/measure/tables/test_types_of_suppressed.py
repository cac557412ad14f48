"""Types that are found in a file's values may tell of rows that were left out; a caution names such columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from discreet import Release, Table, identifier, intervals, other, quasi, read, sensitive
from discreet.core.errors import StrictError
from discreet.guarantees import KAnonymity
from discreet.publish import GlobalRecoding, LocalRecoding, Mondrian, OptimalLattice

NAMES = ["who", "age", "load", "day", "seen", "rate", "note"]
ROLES = {
    "who": identifier(),
    "age": quasi(intervals(10, 20)),
    "load": sensitive(),
    "day": other(allow_unique=True),
    "seen": other(),
    "rate": other(),
    "note": other(allow_unique=True),
}
USUAL: dict[str, Any] = {
    "who": "p99",
    "age": 95,
    "load": 20,
    "day": "2020-01-01",
    "seen": True,
    "rate": 0.5,
    "note": "",
}
ROWS = [
    [f"p{at}", 20 + at % 20, at % 5 * 10, f"2020-01-{10 + at % 5}", at % 2 == 0, at % 4 / 4, ""]
    for at in range(80)
]
TELLING = {
    "a fraction": ("load", 20.5),
    "a large number": ("load", 1e300),
    "text among numbers": ("load", "<5"),
    "a number of many digits": ("load", 10**30),
    "a time among days": ("day", "2020-01-01 13:00:00"),
    "text among days": ("day", "never"),
    "text among truths": ("seen", "maybe"),
    "text among fractions": ("rate", "high"),
    "the only value": ("note", 5),
    "a generalized fraction": ("age", 95.5),
}
PUBLISHERS = {
    "optimal": lambda: OptimalLattice(KAnonymity(3), max_suppressed=0.05),
    "global": lambda: GlobalRecoding(KAnonymity(3), max_suppressed=0.05),
    "local": lambda: LocalRecoding(KAnonymity(3), max_suppressed=0.05),
}


def written(path: Path, **changed: Any) -> Path:
    """Write the rows, and one that nobody is like."""
    rows = [*ROWS, [(USUAL | changed)[name] for name in NAMES]]
    if path.suffix == ".csv":
        path.write_text("\n".join([",".join(NAMES), *(",".join(map(str, row)) for row in rows)]) + "\n")
    else:
        objects = (
            {name: None if cell == "" else cell for name, cell in zip(NAMES, row, strict=True)}
            for row in rows
        )
        path.write_text("\n".join(map(json.dumps, objects)) + "\n")
    return path


def released(path: Path, method: str = "optimal", **reading: Any) -> Release:
    release = PUBLISHERS[method]().release(Table(read(path, **reading), ROLES))
    assert release.evidence.suppressed == 1
    return release


def named(release: Release) -> list[str]:
    found = [one for one in release.cautions if one.code == "type-of-suppressed"]
    assert not any(one.public for one in found)
    return [name for name in NAMES if any(f"'{name}'" in one.text for one in found)]


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("method", PUBLISHERS)
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize("case", TELLING)
def test_a_type_that_rests_on_a_suppressed_row_is_named(
    case: str, suffix: str, method: str, held: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not held:
        monkeypatch.setattr("discreet.engines.duckdb.engine.HELD_ROWS", 0)
    name, value = TELLING[case]
    release = released(written(tmp_path / f"in.{suffix}", **{name: value}), method)
    assert named(release) == [name]
    assert str(value) not in "".join(one.text for one in release.cautions)
    with pytest.raises(StrictError, match="suppressed"):
        release.write(tmp_path / "out", strict=True)
    assert (
        "type-of-suppressed"
        not in (release.write(tmp_path / "out", report=False) / "release.json").read_text()
    )


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize(
    "changed",
    [{}, {"load": 1000}, {"age": 99}, {"day": "1990-12-31"}, {"rate": 0.123}, {"rate": 7}, {"load": ""}],
)
def test_a_type_that_the_kept_rows_have_by_themselves_is_not(
    suffix: str, changed: dict[str, Any], tmp_path: Path
) -> None:
    assert named(released(written(tmp_path / f"in.{suffix}", **changed))) == []


def test_columns_read_as_text_and_stated_types_rest_on_no_row(tmp_path: Path) -> None:
    path = written(tmp_path / "in.csv", load="<5")
    assert named(released(path, text=["load"])) == []
    pq.write_table(read(written(path, load=20.5)).to_arrow_table(), tmp_path / "in.parquet")
    assert named(released(tmp_path / "in.parquet")) == []


def test_a_column_of_stars_shows_no_type(tmp_path: Path) -> None:
    table = Table(read(written(tmp_path / "in.csv", age="?x")), ROLES | {"age": quasi(), "seen": quasi()})
    release = OptimalLattice(KAnonymity(3), max_suppressed=0.05, lowest={"age": 1}).release(table)
    assert "age" not in named(release)


def test_nothing_is_asked_where_no_row_was_suppressed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*given: Any) -> list[str]:
        raise AssertionError

    monkeypatch.setattr("discreet.engines.duckdb.writing.typed_by_others", refused)
    release = Mondrian(KAnonymity(3)).release(Table(read(written(tmp_path / "in.csv", load=20.5)), ROLES))
    assert named(release) == []
