"""Every column type of Arrow, pandas, Polars and DuckDB is judged and published right, or refused by name."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.column_types import COUNTS, frames
from tests.written import cells_of

from discreet import Baskets, SparseRows, Table, identifier, other, quasi, sensitive, text_rows
from discreet.collect import Channels, Uniform
from discreet.core.errors import DiscreetError, OutputError, SchemaError
from discreet.engines.duckdb import engine as small
from discreet.engines.writing import write_frame
from discreet.guarantees import KAnonymity
from discreet.publish import Anatomy, Condensation, Generalization, Mondrian

FRAMES = frames()
REFUSED = {
    *(
        f"arrow {one}"
        for one in ("binary", "fixed binary", "list", "large list", "fixed list", "struct", "map")
    ),
    *(f"arrow {one}" for one in ("interval", "union")),
    *(f"pandas object {one}" for one in ("bytes", "lists", "mixed", "wide", "surrogates", "objects")),
    *(f"pandas {one}" for one in ("category of periods", "period", "interval", "sparse", "complex")),
    *(
        f"polars {one}"
        for one in ("Int128", "Binary", "List", "Array", "Struct", "List of Categorical", "Object")
    ),
    *(
        f"duckdb {one}"
        for one in ("widest HUGEINT", "UHUGEINT", "INTERVAL", "LIST", "LIST of TIMETZ", "ARRAY")
    ),
    *(f"duckdb {one}" for one in ("STRUCT", "MAP", "UNION", "VARIANT", "BLOB")),
    *(f"duckdb {one}" for one in ("infinite DATE", "infinite TIMESTAMP", "late DATE", "early DATE")),
}
"""Types whose values have no order and no categories, or that no engine here keeps exactly."""


@pytest.fixture(params=["in memory", "in the engine"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "in the engine":
        monkeypatch.setattr(small, "HELD_ROWS", 0)
    return str(request.param)


def made(name: str, place: str) -> Any:
    if place == "in the engine" and not name.startswith("duckdb"):
        pytest.skip("only relations stay in the engine")
    return FRAMES[name]()


@pytest.mark.parametrize("name", FRAMES)
def test_a_type_is_judged_right_or_refused_by_name(name: str, place: str) -> None:
    frame = made(name, place)
    roles = {"x": quasi(), "d": sensitive(), "n": identifier()}
    if name in REFUSED:
        for publisher in (Mondrian(KAnonymity(2)), Condensation(2)):
            with pytest.raises(SchemaError, match="Column 'x'"):
                publisher.release(Table(frame, roles))
        return
    counts = [3, 3] if name == "arrow null in dictionary" else COUNTS
    table = Table(frame, roles)
    assert sorted(table.groups().sizes) == counts
    assert sorted(Generalization(KAnonymity(1), levels={}).release(table).groups().sizes) == counts
    kept = Generalization(KAnonymity(2), levels={}, max_suppressed=0.5).release(table)
    assert sorted(kept.groups().sizes) == [count for count in counts if count > 1]
    assert Mondrian(KAnonymity(3)).release(table).verdict.ok
    assert Condensation(2).release(table).verdict.ok
    assert (
        Anatomy(2)
        .release(Table(frame, {"x": quasi(), "d": sensitive(), "n": other(allow_unique=True)}))
        .verdict.ok
    )


@pytest.mark.parametrize("name", sorted(set(FRAMES) - REFUSED))
def test_a_type_is_written_as_it_was_judged(name: str, place: str, tmp_path: Any) -> None:
    table = Table(made(name, place), {"x": quasi(), "d": sensitive(), "n": identifier()})
    release = Generalization(KAnonymity(1), levels={}).release(table)
    for kind in ("csv", "parquet", "arrow"):
        path = write_frame(release.frame, tmp_path / f"data.{kind}", kind)
        written = Counter(cells_of(path, kind, "x"))
        assert sorted(written.values()) == sorted(table.groups().sizes), kind


@pytest.mark.parametrize("name", FRAMES)
def test_a_column_that_is_not_judged_goes_out_or_is_refused(name: str, place: str, tmp_path: Any) -> None:
    frame = made(name, place)
    refused = re.compile("Column 'x'" if name in REFUSED else "nothing is refused")
    with _allowed(SchemaError, refused):
        table = Table(frame, {"x": other(allow_unique=True), "d": sensitive(), "n": quasi()})
        release = Mondrian(KAnonymity(6)).release(table)
        for kind in ("csv", "parquet", "arrow"):
            with _allowed(OutputError, re.compile("" if name in REFUSED else "nothing is refused")):
                write_frame(release.frame, tmp_path / f"data.{kind}", kind)


@contextlib.contextmanager
def _allowed(kind: type[Exception], words: re.Pattern[str]) -> Iterator[None]:
    """Let an error pass whose message has the words."""
    try:
        yield
    except kind as error:
        if not words.search(str(error)):
            raise


@pytest.mark.parametrize(
    "name", ["arrow list", "arrow binary", "duckdb TIMETZ", "pandas category of dates", "polars Enum"]
)
def test_a_type_has_pseudonyms_or_is_refused(name: str, place: str) -> None:
    roles = {"x": identifier(pseudonym=b"sixteen bytes of key"), "d": sensitive(), "n": quasi()}
    table = Table(made(name, place), roles)
    if name.startswith("arrow"):
        with pytest.raises(SchemaError, match="Column 'x' holds nested values or bytes"):
            Mondrian(KAnonymity(6)).release(table)
    else:
        assert Mondrian(KAnonymity(6)).release(table).verdict.ok


PLANTED = "PLANTED-2291"
TELLING: dict[str, Callable[[], Any]] = {
    "ordered mixed": lambda: pd.Series(pd.Categorical([1, PLANTED] * 3, [1, PLANTED], ordered=True)),
    "ordered pairs": lambda: pd.Series(pd.Categorical([(PLANTED, 1), ("b", 2)] * 3, ordered=True)),
    "mappings": lambda: pd.Series([{PLANTED: 1}, {"b": 2}] * 3),
    "polars enum": lambda: pl.Series([PLANTED, "b"] * 3, dtype=pl.Enum([PLANTED, "b"])),
    "polars struct": lambda: pl.Series([{PLANTED: 1}] * 6),
    "struct": lambda: pa.array([{PLANTED: 1}] * 6),
    "structured": lambda: np.array([(1,)] * 6, dtype=[(PLANTED, "i8")]),
}
"""Columns whose very type has data in it: categories, and names of fields."""


@pytest.mark.parametrize("name", TELLING)
def test_no_error_shows_what_a_type_is_made_of(name: str) -> None:
    column = TELLING[name]()
    others = {"d": ["a", "b"] * 3}
    tries: list[Callable[[], Any]] = [
        lambda: Baskets.from_lists(column),
        lambda: Baskets.from_sparse(column),
        lambda: SparseRows.of(column),
        lambda: Channels({"x": Uniform(1.0)}).perturb(pd.DataFrame({"x": column})),
    ]
    if not isinstance(column, np.ndarray):
        makers: dict[Any, Any] = {pl.Series: pl.DataFrame, pd.Series: pd.DataFrame}
        frame = makers.get(type(column), pa.table)({"x": column, **others})
        key = b"sixteen bytes of key"
        tries += [
            *(
                partial(_released, frame, role)
                for role in (quasi(), sensitive(), other(), identifier(pseudonym=key))
            ),
            partial(_released, frame, quasi(ordered=[1, 2])),
            lambda: Condensation("x").release(Table(frame, {"x": quasi(), "d": sensitive()})),
            lambda: text_rows(frame, column="x"),
            lambda: Baskets.from_long(frame, basket="x", item="d"),
            lambda: Baskets.from_long(frame, basket="d", item="x"),
            lambda: Baskets.from_onehot(frame),
        ]
    for attempt in tries:
        assert PLANTED not in _refusal(attempt)


def _released(frame: Any, role: Any) -> Any:
    return Mondrian(KAnonymity(2)).release(Table(frame, {"x": role, "d": quasi()}))


def _refusal(attempt: Callable[[], Any]) -> str:
    """Return all that an error says, if there is one."""
    try:
        attempt()
    except DiscreetError as error:
        return f"{error} {error.args} {error.__cause__} {error.__context__}"
    return ""
