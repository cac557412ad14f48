"""δ-anonymous sketches: never too long, as long as can be, suppressed exactly where the paper says."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import sketches as oracles

from discreet import Baskets, read_sketches
from discreet.core.errors import InfeasibleError, InputError, ParameterError, PromiseBrokenError
from discreet.core.release import Evidence
from discreet.core.verdict import Basis
from discreet.guarantees import DeltaAnonymity, KAnonymity, guarantee_from_dict
from discreet.publish import DeltaSketch, SketchFamily, sketch_by_delta

VALUES = st.one_of(
    st.integers(-4, 4),
    st.sampled_from([0.1, 0.5, 20**-0.5, 3**-0.5]),
    st.floats(-3, 3, allow_subnormal=False),
)
RECORDS = st.lists(
    st.dictionaries(
        st.sampled_from("abcdefghijkl"), VALUES.filter(lambda v: not 0 < abs(v) < 1e-9), max_size=9
    ),
    min_size=1,
    max_size=6,
)
DELTAS = st.one_of(
    st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.3, 0.5, 1.0, 1 / 3]), st.floats(0.03, 5), st.integers(1, 4)
)
COMPONENTS = 60


@given(records=RECORDS, delta=DELTAS)
@settings(max_examples=200)
def test_each_sketch_is_the_longest_admissible_one(records: list[dict[str, float]], delta: float) -> None:
    family = SketchFamily("key", components=COMPONENTS)
    exact = Fraction(str(float(delta)))
    expected = [oracles.longest_admissible(record, exact, COMPONENTS) for record in records]
    method = DeltaSketch(delta, family=family)
    assert method.lengths(records).tolist() == expected
    assert [len(sketch_by_delta(record, "key", delta, COMPONENTS)) for record in records] == expected
    if not any(expected):
        with pytest.raises(InfeasibleError, match=f"Each of the {len(records)} records"):
            method.release(records)
        return
    release = method.release(records)
    assert sorted(release.order.tolist()) == [row for row, length in enumerate(expected) if length]
    assert release.data.lengths.tolist() == [expected[row] for row in release.order]
    assert release.evidence.suppressed == expected.count(0)
    assert release.verdict.ok
    assert release.verdict.basis is Basis.CONSTRUCTION
    for row, sketch in zip(
        release.order, np.split(release.data.values, release.data.indptr[1:-1]), strict=True
    ):
        assert oracles.is_delta_anonymous(records[row], len(sketch), exact)
        assert sketch.tolist() == sketch_by_delta(records[row], "key", delta, COMPONENTS)


def test_bounds_that_rounding_would_miss() -> None:
    """19 entries of variance to share and δ = 0.2 allow 95 components; normalized, 0.95 and δ = 0.05 only 18 or 19."""
    family = SketchFamily("key", components=500)
    assert DeltaSketch(0.2, family=family).lengths(np.ones((3, 20))).tolist() == [95] * 3
    assert DeltaSketch(0.2, family=family).lengths(Baskets.from_lists([list(range(20))])).tolist() == [95]
    assert DeltaSketch(0.1, family=family).lengths(np.full((1, 4), 0.1)).tolist() == [0]
    unit = np.full((2, 20), 20**-0.5)
    expected = oracles.longest_admissible(dict(enumerate(unit[0].tolist())), Fraction("0.05"), 500)
    assert DeltaSketch(0.05, family=family).lengths(unit).tolist() == [expected] * 2
    assert DeltaSketch(1e-300, family=family).lengths(unit).tolist() == [500] * 2
    uneven = [{"a": 1e8, "b": 1e-3}, {"a": 0.3, "b": 0.3}]
    exact = [oracles.longest_admissible(record, Fraction("1e-8"), 500) for record in uneven]
    assert DeltaSketch(1e-8, family=family).lengths(uneven).tolist() == exact


def test_what_sketches_round_off_hides_nothing() -> None:
    """Beside 1e8 a value of 1e-9 is rounded off: the sketch would be ±1e8, and the largest value plain to see."""
    family = SketchFamily("key", components=500)
    for small in (1e-9, 1e-8, 1e-7, 0.3):
        record = {"a": 1e8, "b": small, "c": small}
        delta = small**2 / 4
        expected = oracles.longest_admissible(record, Fraction(str(delta)), 500)
        assert DeltaSketch(delta, family=family).lengths([record]).tolist() == [expected]
        assert len(sketch_by_delta(record, "key", delta, 500)) == expected
    with pytest.raises(InfeasibleError):
        DeltaSketch(1e-20, family=family).release([{"a": 1e8, "b": 1e-9, "c": 1e-9}])


def test_the_verdict_on_a_record_of_many_values_does_not_drift() -> None:
    """Added up one by one, the squares of these values are off by more than the verdict overlooks."""
    values = np.full(300_000, 0.9)
    family = SketchFamily("key", components=30)
    delta = float(Fraction(0.9) ** 2 * (values.size - 1) / 20)
    release = DeltaSketch(delta, family=family).release(values[None])
    assert release.data.lengths.tolist() in ([19], [20])
    assert release.verdict.ok
    naive = float(np.cumsum(values[1:] ** 2)[-1])
    assert naive / 20 < delta * (1 - 1e-12)


def test_a_larger_delta_gives_no_longer_sketch() -> None:
    rows = np.random.default_rng(0).poisson(0.5, (100, 30))
    family = SketchFamily("key", components=100)
    before = np.full(100, 100)
    for delta in (0.01, 0.1, 0.2, 0.5, 1, 2, 5):
        lengths = DeltaSketch(delta, family=family).lengths(rows)
        assert (lengths <= before).all()
        before = lengths
    assert (DeltaSketch(1000, family=family).lengths(rows) == 0).all()


def test_records_that_must_be_suppressed() -> None:
    records: list[dict[str, float]] = [{}, {"a": 0}, {"a": 5}, {"a": 100, "b": 0.1}, {"a": 1, "b": -1}]
    release = DeltaSketch(0.5, family=SketchFamily("key")).release(records)
    assert release.order.tolist() == [4]
    assert release.evidence.suppressed == 4
    assert "4 suppressed" in repr(release)
    nothing = DeltaSketch(0.5, family=SketchFamily("key")).release([])
    assert nothing.verdict.ok
    assert len(nothing.data) == 0


def test_the_guarantee_judges_lengths_by_the_evidence() -> None:
    rows = np.ones((5, 4))
    release = DeltaSketch(0.25, family=SketchFamily("key")).release(rows)
    assert release.verdict.worst == 0.25
    assert DeltaAnonymity(0.2).check(release).ok
    broken = DeltaAnonymity(0.3).check(release)
    assert not broken.ok
    assert (broken.failing_rows, broken.n_rows) == (5, 5)
    longer = SketchFamily("key").sketch(rows)
    forged = replace(release, data=longer)
    assert not forged.verdict.ok
    with pytest.raises(PromiseBrokenError):
        forged.write("nowhere")
    assert not Path("nowhere").exists()
    assert DeltaAnonymity(1).measure_rows(rows, longer).tolist() == [3 / 128] * 5
    with pytest.raises(InputError, match="5 sketches, but 4 records"):
        DeltaAnonymity(1).measure_rows(rows[:4], longer)
    without = replace(release, data=longer, evidence=Evidence(5))
    with pytest.raises(InputError, match="evidence"):
        without.verdict  # noqa: B018


def test_what_cannot_show_it_is_refused() -> None:
    sketches = SketchFamily("key").sketch(np.ones((2, 3)))
    for subject in (sketches, "table", None):
        with pytest.raises(ParameterError, match="guarantee about a release of sketches"):
            DeltaAnonymity(1).check(subject)
    assert guarantee_from_dict(DeltaAnonymity(0.2).to_dict()) == DeltaAnonymity(0.2)
    assert "0.2" in DeltaAnonymity(0.2).describe()
    assert repr(DeltaAnonymity(0.2) & KAnonymity(2)).startswith("DeltaAnonymity")


def test_a_folder_holds_the_sketches_and_no_evidence(tmp_path: Path) -> None:
    release = DeltaSketch(0.3, family=SketchFamily("my secret key")).release(
        [{"planted": 1, "b": 1.1, "c": 1}, {"b": 2}]
    )
    folder = release.write(tmp_path / "out")
    assert sorted(path.name for path in folder.iterdir()) == [
        "release.json",
        "report.html",
        "sketches.arrow",
    ]
    assert read_sketches(folder / "sketches.arrow").equals(release.data)
    told: dict[str, Any] = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    assert told["records"] == {"in": 2, "out": 1, "suppressed": 1}
    assert told["verdict"]["basis"] == "by construction"
    assert told["verdict"]["ok"]
    assert release.verdict.worst == pytest.approx(2 / 6)
    assert "worst" not in told["verdict"]
    written = b"".join(path.read_bytes() for path in folder.iterdir())
    assert b"planted" not in written
    assert b"my secret key" not in written
    assert guarantee_from_dict(told["guarantee"]) == DeltaAnonymity(0.3)


@pytest.mark.parametrize("delta", [0, -1, float("nan"), float("inf"), "0.2", True, None])
def test_a_delta_that_is_not_positive_is_refused(delta: Any) -> None:
    with pytest.raises(ParameterError, match="'delta' parameter of DeltaSketch"):
        DeltaSketch(delta, family=SketchFamily("key"))
    with pytest.raises(ParameterError, match="'delta' parameter of DeltaAnonymity"):
        DeltaAnonymity(delta)
    if isinstance(delta, float | int):
        with pytest.raises(ValueError, match="delta"):
            sketch_by_delta({"a": 1}, "key", -abs(delta), 5)


def test_what_is_written_is_json_whatever_numbers_came_in(tmp_path: Path) -> None:
    def constant(name: str) -> None:
        raise AssertionError(name)

    rows = [{"a": 1, "b": 1}]
    for number, (delta, records) in enumerate([(np.float64(0.5), rows), (np.float32(0.5), rows), (1, [])]):
        method = DeltaSketch(delta, family=SketchFamily("key", components=np.int64(9)))  # type: ignore[arg-type]
        folder = method.release(records).write(tmp_path / str(number))
        told = json.loads((folder / "release.json").read_text(encoding="utf-8"), parse_constant=constant)
        assert told["method"] == "DeltaSketch"
        assert told["parameters"] == {"delta": float(delta), "components": 9}


def test_the_family_must_be_one() -> None:
    with pytest.raises(ParameterError, match="'family'"):
        DeltaSketch(0.2, family="key")  # type: ignore[arg-type]
