"""Every public entry refuses lazy frames of engines that are not supported, in one line and unread."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.collect import AdditiveNoise, Channels, Laplace
from discreet.core.boundary import in_memory, refuse_lazy
from discreet.core.errors import InputError
from discreet.core.tables.source import source_of
from discreet.engines.writing import write_frame
from discreet.output.audit import Vault
from discreet.publish import Condensation
from tests.lazy_frames import CLUSTERS, DASK, KINDS, SPARK
from tests.planted_values import called, entries, methods

ALONE = {
    *("add_noise", "flip", "report_category", "report_ratings", "report_unary"),
    *("sketch_by_delta", "sketch_record"),
}
"""Clients, which stand alone in one file and take one record."""
TAKES_CLUSTERS = ("Table", "Job", "Release", "Recipe.apply", "AdditiveNoise.perturb", "Channels.perturb")
REFUSED = r"^A .*\bis not fetched\b.*\bParquet\b[^\n]*$"
READERS: dict[str, Callable[[Any], Any]] = {
    "table": lambda frame: discreet.Table(frame, {"age": discreet.sensitive()}),
    "lists": discreet.Baskets.from_lists,
    "long": lambda frame: discreet.Baskets.from_long(frame, basket="basket", item="item"),
    "one-hot": discreet.Baskets.from_onehot,
    "vault": lambda frame: Vault.in_memory(frame, sensitive=["pay"], public=[]),
    "array": AdditiveNoise(Laplace(1.0)).perturb,
    "columns": Channels({"age": AdditiveNoise(Laplace(1.0))}).perturb,
    "estimator": Condensation(3).fit,
    "list of frames": lambda frame: Condensation(3).fit([frame]),
    "mapping of columns": lambda frame: Condensation(3).fit({"a": frame}),
    "list of mappings": lambda frame: Condensation(3).fit([{"a": frame}]),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_lazy_frame_is_refused_unread(kind: str, reader: str) -> None:
    with pytest.raises(InputError, match=REFUSED):
        READERS[reader](KINDS[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_the_readers_behind_the_entries_refuse_it_too(kind: str, tmp_path: Path) -> None:
    for reader in (in_memory, source_of, lambda frame: write_frame(frame, tmp_path / "frame.parquet")):
        with pytest.raises(InputError, match=REFUSED):
            reader(KINDS[kind])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "reader", [reader for reader in READERS if reader not in ("table", "array", "columns")]
)
@pytest.mark.parametrize("kind", CLUSTERS)
def test_a_frame_on_a_cluster_is_refused_unread_where_no_table_is_made(kind: str, reader: str) -> None:
    for read in (READERS[reader], in_memory):
        with pytest.raises(InputError, match=REFUSED):
            read(CLUSTERS[kind])


def _arguments(entry: Any) -> list[str]:
    return [name for name in inspect.signature(entry).parameters if name != "self"]


@pytest.mark.parametrize("name", sorted(entries()))
def test_no_function_or_constructor_reads_a_lazy_frame(name: str, tmp_path: Path) -> None:
    entry = entries()[name]
    if name in ALONE or (isinstance(entry, type) and issubclass(entry, BaseException | Enum)):
        pytest.skip("not called with frames")
    if inspect.isabstract(entry):
        pytest.skip("abstract: the classes that derive from it are called")
    _require_refusals(name, entry, tmp_path)


@pytest.mark.parametrize("name", sorted(methods()))
def test_no_method_reads_a_lazy_frame(name: str, tmp_path: Path) -> None:
    _require_refusals(name, methods()[name], tmp_path)


def _require_refusals(name: str, entry: Any, folder: Path) -> None:
    for argument in _arguments(entry):
        for frame in (SPARK(), DASK()):
            if isinstance(frame, SPARK) and name in TAKES_CLUSTERS:
                continue
            errors = [error for error, _ in called(name, entry, argument, frame, folder)]
            assert len(errors) == 1, (name, argument)
            assert type(errors[0]) is InputError, (name, argument)
            assert "is not fetched" in str(errors[0])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1, 2]}),
        pl.DataFrame({"a": [1, 2]}),
        pl.LazyFrame({"a": [1, 2]}),
        pa.table({"a": [1, 2]}),
        nw.from_native(pl.LazyFrame({"a": [1, 2]})),
        nw.from_native(pd.DataFrame({"a": [1, 2]})),
        type("GeoDataFrame", (pd.DataFrame,), {"compute": None})({"a": [1, 2]}),
    ],
    ids=["pandas", "polars", "polars lazy", "arrow", "narwhals lazy", "narwhals", "subclass of pandas'"],
)
def test_frames_of_this_machine_are_admitted(frame: Any) -> None:
    refuse_lazy(frame)
    assert in_memory(frame).to_arrow().to_pydict() == {"a": [1, 2]}


def test_a_relation_is_admitted() -> None:
    import duckdb

    relation = duckdb.sql("SELECT 1 AS a")
    refuse_lazy(relation)
    assert in_memory(relation).to_arrow().to_pydict() == {"a": [1]}


@pytest.mark.parametrize(
    "value", [None, 1, "x", b"x", [], {}, np.ones(3), [[1, 2]] * 1000, range(3), object()]
)
def test_what_is_no_frame_passes(value: Any) -> None:
    refuse_lazy(value)


@pytest.mark.parametrize("value", [None, 1, "x", [], object()])
def test_what_is_no_frame_is_no_table(value: Any) -> None:
    with pytest.raises(InputError, match="is no table"):
        in_memory(value)
