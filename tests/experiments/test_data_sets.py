"""Data sets that several experiments read: found where they lie, and None where they do not."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from experiments.cahd.runs import samples
from experiments.data_sets import CLICK_STREAMS, click_stream, present


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / CLICK_STREAMS["BMS-WebView-1"]
    path.parent.mkdir()
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        stream.write("3 5\n5\n")
    return tmp_path


def test_a_file_is_present_or_none(data: Path) -> None:
    place = CLICK_STREAMS["BMS-WebView-1"]
    assert present(data, place) == data / place
    assert present(data, place.parent) is None
    assert present(data, Path("absent.csv")) is None
    assert present(None, place) is None


def test_a_click_stream_is_read_where_it_is(data: Path) -> None:
    found = click_stream(data, "BMS-WebView-1")
    assert found is not None
    assert found.lengths.tolist() == [2, 1]
    assert click_stream(data, "BMS-WebView-2") is None
    assert click_stream(None, "BMS-WebView-1") is None


def test_a_generated_set_stands_in_for_an_absent_stream(data: Path) -> None:
    real, generated = samples(data, quick=False)
    assert (len(real.baskets), real.stands_in, real.title) == (2, None, "BMS-WebView-1")
    assert generated.stands_in is not None
    assert generated.title == "generated, like BMS-WebView-2"
