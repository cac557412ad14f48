"""Lines of the experiments' pictures, and the times they show."""

from __future__ import annotations

import json

import pytest

from discreet.report.theme import altair_chart
from experiments.charts import at_points, band, colored, level, ranged
from experiments.timing import fastest


def test_a_range_holds_the_mean_and_both_ends() -> None:
    assert ranged([0.12345, 0.3, 0.2], 3) == {"mean": 0.208, "low": 0.123, "high": 0.3}


def test_an_axis_is_marked_where_there_are_points() -> None:
    rows = [{"x": at} for at in (20, 4, 20, 8)]
    axis = at_points(rows, "x", "p", scale={"padding": 10, "type": "log"}, format="d").to_dict()
    assert axis["axis"] == {"values": [4, 8, 20], "grid": False, "format": "d"}
    assert axis["scale"] == {"nice": False, "padding": 10, "type": "log"}
    assert at_points(rows, "x", "p").to_dict()["scale"] == {"nice": False, "padding": 8}


def test_every_series_has_its_color() -> None:
    color = colored("what", {"b": "#111111", "a": "#222222"}, columns=2).to_dict()
    assert color["scale"] == {"domain": ["b", "a"], "range": ["#111111", "#222222"]}
    assert color["legend"] == {"orient": "bottom", "columns": 2, "labelLimit": 0}


def test_a_band_lies_between_the_ends() -> None:
    drawn = band(altair_chart([{"low": 1, "high": 2}]), {"title": "%"}, opacity=0.2).to_dict()
    assert drawn["encoding"] == {
        "y": {"field": "low", "type": "quantitative", "title": "%"},
        "y2": {"field": "high"},
    }
    assert drawn["mark"] == {"type": "area", "opacity": 0.2}


@pytest.mark.parametrize("below", [False, True])
def test_the_word_of_a_level_stands_above_or_below_it(below: bool) -> None:
    line, word = level(0.123456, "chance", width=300, below=below)
    assert json.loads(line.data.values) == [{"value": 0.1235, "word": "chance"}]
    assert (word.to_dict()["mark"]["dy"] > 0) is below
    assert word.to_dict()["encoding"]["x"] == {"value": 300}


def test_the_fastest_of_several_times_counts() -> None:
    steps = iter([2_000_000, 10, 500_000])
    result, took = fastest(lambda: sum(range(next(steps))), times=3)
    assert result == sum(range(500_000))
    assert 0 <= took < 0.005
    with pytest.raises(StopIteration):
        next(steps)
