"""Uncertain records: anonymity by the slow definition, the paper's figures, bad input, and what is published."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import uncertain as oracles

from discreet import Release, Table, UncertainPoints, identifier, quasi, sensitive
from discreet.core.errors import InfeasibleError, ParameterError, SchemaError
from discreet.guarantees import ExpectedAnonymity
from discreet.publish import UncertainRecords
from discreet.publish.uncertain.calibration import GRID, own_spreads, shared_spreads

SHAPES = ("gaussian", "uniform")


def table_of(values: Any, **more: Any) -> Table:
    columns = {f"x{column}": values[:, column] for column in range(values.shape[1])} | more
    return Table(pa.table(columns), {name: quasi() for name in columns})


def cloud(n: int = 80, d: int = 3, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_t(3, size=(n, d))


def in_order(release: Release) -> UncertainPoints:
    """Return what was published, in the order of the original."""
    published = UncertainPoints.of(release)
    back = np.argsort(release.order)
    return UncertainPoints(
        published.names, published.centers[back], published.spreads[back], published.spread
    )


points = st.lists(
    st.lists(st.sampled_from([0.0, 1.0, 1.5, 2.0, 9.0, -4.0]), min_size=2, max_size=2),
    min_size=2,
    max_size=14,
).filter(lambda rows: all(len({row[column] for row in rows}) > 1 for column in (0, 1)))


@pytest.mark.parametrize("shape", SHAPES)
@given(rows=points, k=st.integers(1, 6), data=st.data())
@settings(max_examples=40, deadline=None)
def test_the_promise_is_kept_by_the_slow_definition(
    shape: Any, rows: list[list[float]], k: int, data: st.DataObject
) -> None:
    levels = data.draw(st.lists(st.integers(1, k), min_size=len(rows), max_size=len(rows)))
    values = np.array(rows)
    try:
        release = UncertainRecords(levels, spread=shape, random_state=1).release(table_of(values))
    except InfeasibleError:
        most = (len(rows) + 1) / 2 if shape == "gaussian" else len(rows)
        assert max(levels) >= most
        return
    assert release.verdict.ok
    unit = np.array([float(f"{column.std():.1e}") for column in values.T])
    spreads = (in_order(release).spreads[:, 0] / unit[0]).round(6)
    assert oracles.keeps_levels((values / unit).tolist(), spreads.tolist(), [0] * len(rows), levels, shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_own_spreads_are_the_least(shape: Any) -> None:
    values = cloud(40, 2)
    calibrated = own_spreads(values, np.full(40, 4), shape)
    everyone = range(40)
    for at in everyone:
        spread = float(calibrated.spreads[at])
        assert oracles.anonymity(values, at, spread, shape, everyone) == pytest.approx(4, abs=1e-4)
        assert oracles.anonymity(values, at, spread * 0.99, shape, everyone) < 4


def test_shared_spreads_are_of_the_grid_and_hide_among_their_class_alone() -> None:
    values = cloud(120, 2)
    calibrated = shared_spreads(values, np.full(120, 5), "gaussian")
    assert set(calibrated.spreads) <= set(GRID)
    assert oracles.keeps_levels(values, calibrated.spreads.tolist(), [0] * 120, [5] * 120, "gaussian")
    for at in range(120):
        among = np.flatnonzero(calibrated.spreads == calibrated.spreads[at])
        exact = oracles.anonymity(values, at, float(calibrated.spreads[at]), "gaussian", among)
        assert exact == pytest.approx(calibrated.anonymity[at])


def test_blocks_of_many_records_never_state_more_anonymity_than_there_is() -> None:
    values = np.random.default_rng(2).normal(size=(5_400, 2))
    calibrated = shared_spreads(values, np.full(5_400, 6), "gaussian")
    assert calibrated.anonymity.min() >= 6 - 1e-6
    for at in range(0, 5_400, 600):
        among = np.flatnonzero(calibrated.spreads == calibrated.spreads[at])
        exact = oracles.anonymity(values, at, float(calibrated.spreads[at]), "gaussian", among)
        assert exact >= calibrated.anonymity[at] - 1e-6


def test_a_label_is_published_exactly_and_records_hide_among_their_label_alone() -> None:
    values = cloud(90, 2)
    label = pa.array(["a", "b", None] * 30)
    release = UncertainRecords(4, label="class", random_state=0).release(table_of(values, **{"class": label}))
    back = np.argsort(release.order)
    labels = [release.frame["class"].to_pylist()[at] for at in back]
    assert labels == label.to_pylist()
    unit = np.array([float(f"{column.std():.1e}") for column in values.T])
    spreads = (in_order(release).spreads[:, 0] / unit[0]).round(6).tolist()
    assert oracles.keeps_levels((values / unit).tolist(), spreads, labels, [4] * 90, "gaussian")
    with pytest.raises(InfeasibleError, match="among 30 records"):
        UncertainRecords(20, label="class").release(table_of(values, **{"class": label}))


def test_levels_come_from_a_column_which_is_not_published() -> None:
    levels = np.array([2] * 60 + [8] * 20)
    release = UncertainRecords("level", random_state=0).release(table_of(cloud(), level=levels))
    assert release.frame.column_names == ["x0", "x0_spread", "x1", "x1_spread", "x2", "x2_spread"]
    assert release.verdict.ok
    assert (release.evidence.arrays["anonymity"] >= levels - 1e-6).all()
    assert release.verdict.measure == "expected anonymity less level"


def test_noise_has_the_published_spread_and_order_is_shuffled() -> None:
    values = cloud(400, 3)
    for shape, expected in (("gaussian", 1.0), ("uniform", 1 / np.sqrt(12))):
        release = UncertainRecords(5, spread=shape, random_state=3).release(table_of(values))
        published = in_order(release)
        noise = (published.centers - values) / published.spreads
        assert noise.std() == pytest.approx(expected, rel=0.05)
        assert (release.order != np.arange(400)).any()
        steps = published.centers / 10.0 ** np.floor(np.log10(published.spreads)) * 1000
        assert np.abs(steps - np.rint(steps)).max() < 1e-3


def test_only_a_seed_repeats_the_noise() -> None:
    table = table_of(cloud())
    first, second = (UncertainRecords(3, random_state=1).release(table).frame for _ in range(2))
    assert first.equals(second)
    assert not first.equals(UncertainRecords(3).release(table).frame)


def test_units_are_published_in_two_digits() -> None:
    release = UncertainRecords(3, random_state=1).release(table_of(cloud()))
    published = UncertainPoints.of(release)
    ratio = published.spreads[:, 1] / published.spreads[:, 0]
    units = [float(f"{column.std():.1e}") for column in cloud().T]
    assert np.allclose(ratio, units[1] / units[0], rtol=1e-5)


def test_duplicates_need_the_least_spread_only() -> None:
    values = np.repeat([[0.0, 1.0], [5.0, 2.0]], 12, axis=0)
    calibrated = shared_spreads(values, np.full(24, 5), "gaussian")
    assert set(calibrated.spreads) == {GRID[0]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": ["a"] * 40}, "Column 'x' does not hold numbers"),
        ({"x": [None, *range(39)]}, "Column 'x' lacks 1 numbers"),
        ({"x": [float("inf"), *map(float, range(39))]}, "Column 'x' holds infinite values"),
        ({"x": [7.5] * 40}, "Column 'x' has the same value in all rows"),
        ({"x": [1e18 + 1000 * at for at in range(40)]}, "Column 'x' varies too little beside its size"),
        ({"x": [1e300, -1e300] * 20}, "Column 'x' varies too little beside its size, or too much"),
        ({"x0_spread": [float(at) for at in range(40)]}, "Rename column 'x0_spread'"),
    ],
)
def test_columns_that_have_no_spread_are_refused_by_name(change: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        UncertainRecords(3).release(table_of(cloud(40), **change))
    assert "\n" not in str(caught.value)


def test_levels_out_of_reach_are_refused_in_one_line() -> None:
    message = r"No spread reaches the level 41 among 80 records: .* \(n \+ 1\)/2"
    for attacker in ("informed", "naive"):
        with pytest.raises(InfeasibleError, match=message) as caught:
            UncertainRecords(41, attacker=attacker).release(table_of(cloud()))
        assert "\n" not in str(caught.value)
    with pytest.raises(InfeasibleError, match="stay below n"):
        UncertainRecords(81, spread="uniform").release(table_of(cloud()))
    with pytest.raises(SchemaError, match="nobody to hide among"):
        UncertainRecords(1).release(table_of(cloud(1)))


def test_names_that_do_not_fit_are_refused() -> None:
    table = Table(pa.table({"name": ["a", "b"], "x": [1, 2]}), {"name": identifier(), "x": quasi()})
    with pytest.raises(SchemaError, match="'y', which the table does not have"):
        UncertainRecords(1, label="y").release(table)
    with pytest.raises(SchemaError, match="cannot be the label"):
        UncertainRecords(1, label="name").release(table)
    with pytest.raises(ParameterError, match="'attacker' parameter"):
        UncertainRecords(ExpectedAnonymity(1), attacker="naive").release(table)


def test_the_naive_form_is_never_more_than_assumed(tmp_path: Path) -> None:
    release = UncertainRecords(4, attacker="naive", random_state=0).release(table_of(cloud()))
    assert release.verdict.word == "assumed"
    assert not release.verdict.verified
    folder = release.write(tmp_path / "out")
    record = json.loads((folder / "release.json").read_text())
    assert record["verdict"]["basis"] == "assumed"
    assert record["cautions"][0]["code"] == "own-spreads"


def test_a_release_is_written_and_says_what_it_holds(tmp_path: Path) -> None:
    frame = pa.table({"name": [f"p{at}" for at in range(80)], "age": np.arange(80), "income": cloud()[:, 0]})
    table = Table(frame, {"name": identifier(), "age": quasi(), "income": sensitive()})
    release = UncertainRecords(5).release(table)
    folder = release.write(tmp_path / "out")
    record = json.loads((folder / "release.json").read_text())
    assert record["kind"] == "uncertain-records"
    assert record["verdict"] == {
        "ok": True,
        "guarantee": "ExpectedAnonymity(k=5)",
        "basis": "by construction",
    }
    assert "p17" not in (folder / "data.csv").read_text()
    assert release.cautions[0].code == "isolated-records"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "medians"), [("ionosphere", (1.10, 1.49, 1.94)), ("ecoli", (0.40, 0.54, 0.74))]
)
def test_the_spreads_of_public_sets_are_those_of_the_prototype(name: str, medians: tuple[float, ...]) -> None:
    from experiments.condensation.data import samples

    folder = Path(os.environ.get("DISCREET_DATA", ""))
    if not (folder / name).is_dir():
        pytest.skip(f"{name} is not in the folder that DISCREET_DATA names")
    values = next(sample for sample in samples(folder) if sample.name == name).values
    values = values[:, values.std(axis=0) > 0]
    for k, median in zip((5, 10, 20), medians, strict=True):
        spreads = own_spreads(values / values.std(axis=0), np.full(len(values), k), "gaussian").spreads
        assert np.median(spreads) == pytest.approx(median, abs=0.02)
