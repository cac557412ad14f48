"""Condensation: what its pseudo-data keeps of the original, what it never shows, and what it refuses."""

from __future__ import annotations

import datetime as dt
import decimal
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import check_estimator

from discreet import Recipe, Table, identifier, other, quasi, sensitive
from discreet.core.errors import InfeasibleError, InputError, ParameterError, SchemaError
from discreet.core.records.group_statistics import GroupStatistics
from discreet.guarantees import Indistinguishability
from discreet.measure import covariance_compatibility
from discreet.publish import Condensation
from discreet.publish.pseudo.pseudo_data import SPREADS, Condensed, bounded, draw, followed

RNG = np.random.default_rng(0)


def people(n: int = 400, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    return pa.table(
        {
            "ssn": [f"SECRET-{i}" for i in range(n)],
            "level": rng.integers(2, 9, n),
            "age": age,
            "income": age * 500.0 + rng.normal(0, 3000, n),
            "born": [dt.date(2020, 1, 1) - dt.timedelta(days=int(one) * 365) for one in age],
            "size": rng.choice(["S", "M", "L"], n),
            "town": rng.choice(["north", "south"], n),
            "ill": age > 60,
        }
    )


def roles() -> dict[str, Any]:
    return {
        "ssn": identifier(),
        "level": other(),
        "age": quasi(),
        "income": sensitive(),
        "born": quasi(),
        "size": quasi(ordered=["S", "M", "L", "XL"]),
        "town": quasi(),
        "ill": sensitive(),
    }


def numbers(values: np.ndarray) -> Table:
    names = [f"x{number}" for number in range(values.shape[1])]
    return Table(pa.table(dict(zip(names, values.T, strict=True))), {name: quasi() for name in names})


def matrix(frame: pa.Table) -> np.ndarray:
    return np.stack([frame[name].to_numpy() for name in frame.column_names], axis=1)


def test_the_release_looks_like_the_original_and_shows_nobody() -> None:
    frame = people()
    release = Condensation("level", random_state=0).release(Table(frame, roles()))
    assert release.frame.column_names == ["age", "income", "born", "size", "town", "ill"]
    assert release.frame.schema.types == [
        frame.schema.field(name).type for name in release.frame.column_names
    ]
    assert release.frame.num_rows == 400
    assert release.verdict.ok
    assert release.verdict.basis.value == "by construction"
    assert release.guarantee == Indistinguishability("level")
    for name in ("age", "income", "born"):
        before, after = (pc.min_max(one[name]).as_py() for one in (frame, release.frame))
        assert before["min"] <= after["min"]
        assert after["max"] <= before["max"]
    assert set(release.frame["size"].to_pylist()) <= {"S", "M", "L"}
    assert set(release.frame["town"].to_pylist()) == {"north", "south"}
    shared = set(zip(*(frame[name].to_pylist() for name in ("age", "income", "born")), strict=True)) & set(
        zip(*(release.frame[name].to_pylist() for name in ("age", "income", "born")), strict=True)
    )
    assert not shared


def test_every_group_is_as_large_as_its_largest_level_and_the_evidence_shows_how() -> None:
    release = Condensation("level", random_state=0).release(Table(people(), roles()))
    evidence = release.evidence
    largest: Any = evidence.details["largest_levels"]
    assert (evidence.sizes >= largest).all()
    assert evidence.sizes.sum() == evidence.n_rows == 400
    assert release.kind == "pseudo-data"
    steps: Any = evidence.details["steps"]
    assert {"segment", "cannibalize", "attrition"} <= {step["step"] for step in steps}
    assert "SECRET" not in str(release) + repr(evidence) + str(release.recipe) + str(evidence.details)


def test_a_broken_promise_is_seen() -> None:
    release = Condensation("level", random_state=0).release(Table(people(), roles()))
    release.evidence.sizes[0] = 1
    assert not release.verdict.ok


def test_mean_and_covariance_are_kept_in_every_group() -> None:
    values = RNG.normal(size=(40, 3)) @ RNG.normal(size=(3, 3)) + 7
    labels = np.repeat([0, 1], 20)
    statistics = GroupStatistics.of(values, labels, np.full(40, 20), 2)
    condensed = Condensed(statistics, values.std(axis=0), np.full((2, 3), 20))
    for spread in ("uniform", "gaussian"):
        drawn = draw(condensed, 200_000, spread=spread, noise=np.zeros(3), rng=np.random.default_rng(1))  # type: ignore[arg-type]
        for group in (0, 1):
            made = drawn.places[drawn.groups == group]
            assert len(made) == 100_000
            np.testing.assert_allclose(made.mean(axis=0), statistics.mean[group], atol=0.03)
            np.testing.assert_allclose(np.cov(made.T), statistics.covariance[group], atol=0.05)


@pytest.mark.parametrize("leading", [0, 1, 3, 4])
def test_columns_that_follow_keep_mean_and_covariance_of_the_group(leading: int) -> None:
    """Also where the leading columns are constant, or one follows from the others."""
    rng = np.random.default_rng(4)
    first = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 2)) + 7
    rest = rng.normal(size=(40, 2)) + first @ rng.normal(size=(2, 2))
    values = np.column_stack([first, first.sum(axis=1), np.full(40, 5.0), rest])
    labels = np.repeat([0, 1], 20)
    statistics = GroupStatistics.of(values, labels, np.full(40, 20), 2)
    condensed = Condensed(statistics, np.array([2.0, 1, 1, 1, 0.5, 1]), np.full((2, 6), 20))
    part = condensed.part(slice(leading), slice(0))
    for spread in SPREADS:
        before = draw(part, 200_000, spread=spread, noise=np.zeros(leading), rng=rng)
        after = followed(condensed, before, spread=spread, noise=np.zeros(6), rng=rng)
        assert (after.places[:, :leading] == before.places).all()
        for group in (0, 1):
            places = after.places[after.groups == group]
            spreads = np.sqrt(np.diag(statistics.covariance[group]))
            errors = np.cov(places.T) - statistics.covariance[group]
            assert (np.abs(places.mean(axis=0) - statistics.mean[group]) <= 0.02 * spreads + 1e-9).all()
            assert (np.abs(errors) <= 0.02 * np.outer(spreads, spreads) + 1e-9).all()


def test_uniform_draws_stay_within_their_range_and_noise_widens_them() -> None:
    values = np.column_stack([np.arange(20.0), np.zeros(20)])
    statistics = GroupStatistics.of(values, np.zeros(20, np.int64), np.full(20, 20), 1)
    condensed = Condensed(statistics, np.ones(2), np.full((1, 2), 20))
    reach = np.sqrt(12 * statistics.covariance[0, 0, 0]) / 2
    made = draw(condensed, 5000, spread="uniform", noise=np.zeros(2), rng=np.random.default_rng(0)).places
    assert np.abs(made[:, 0] - 9.5).max() <= reach
    assert np.abs(made[:, 0] - 9.5).max() > 0.99 * reach
    assert (made[:, 1] == 0).all()
    noisy = draw(
        condensed, 5000, spread="uniform", noise=np.full(2, 0.5), rng=np.random.default_rng(0)
    ).places
    assert noisy[:, 1].std() == pytest.approx(0.5, rel=0.05)


def test_values_beyond_the_range_are_mirrored_and_not_piled_up() -> None:
    low, high = np.array([0.0]), np.array([10.0])
    assert bounded(np.array([[-1.0], [11.0], [5.0], [-30.0]]), low, high).ravel().tolist() == [1, 9, 5, 10]
    assert np.isnan(bounded(np.array([[np.nan]]), low, high)).all()
    skewed = numbers(np.random.default_rng(3).exponential(size=(1000, 2)))
    made = matrix(Condensation(30, random_state=0).release(skewed).frame)
    assert made.min() >= 0
    free = matrix(Condensation(30, bounded=False, random_state=0).release(skewed).frame)
    assert free.min() < 0


@pytest.mark.parametrize("segment", ["nearest", "mdav", "blocked", "auto"])
def test_covariance_and_correlation_survive(segment: Any) -> None:
    values = RNG.normal(size=(1500, 5)) @ RNG.normal(size=(5, 5)) * [1, 10, 100, 0.1, 1]
    made = matrix(Condensation(15, segment=segment, random_state=0).release(numbers(values)).frame)
    assert covariance_compatibility(values, made) > 0.99
    assert np.abs(np.corrcoef(values.T) - np.corrcoef(made.T)).max() < 0.08


def test_mu_on_abalone_is_as_the_paper_claims(shared_data: Path) -> None:
    lines = (shared_data / "abalone" / "abalone.csv").read_text().splitlines()
    values = np.array([[float(cell) for cell in line.split(",")[1:]] for line in lines])
    levels = np.random.default_rng(0).integers(16, 21, len(values))
    made = matrix(Condensation(levels, random_state=0).release(numbers(values)).frame)
    assert covariance_compatibility(values, made) > 0.99


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.5])
def test_alpha_says_how_many(alpha: float) -> None:
    release = Condensation(5, alpha=alpha, random_state=0).release(numbers(RNG.normal(size=(101, 2))))
    assert release.frame.num_rows == round(alpha * 101)
    assert release.verdict.ok
    assert release.verdict.n_rows == 101


def test_level_1_returns_the_input() -> None:
    frame = people(60)
    release = Condensation(1, random_state=0).release(Table(frame, roles()))
    names = release.frame.column_names
    before = sorted(map(str, frame.select(names).to_pylist()))
    assert sorted(map(str, release.frame.to_pylist())) == before


@given(
    st.lists(
        st.tuples(
            st.none() | st.integers(-(2**61), 2**61),
            st.none() | st.floats(-1e100, 1e100),
            st.none() | st.sampled_from("abc"),
            st.none() | st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)),
        ),
        min_size=1,
        max_size=25,
    ),
    st.integers(1, 4),
    st.booleans(),
)
@settings(max_examples=60)
def test_any_rows_with_nulls_come_back_typed_and_within_range(
    rows: list[tuple[Any, ...]], level: int, limited: bool
) -> None:
    types = [pa.int64(), pa.float64(), pa.string(), pa.timestamp("ns")]
    names = ["whole", "real", "text", "time"]
    frame = pa.table(
        {
            name: pa.array(list(column), type_)
            for name, type_, column in zip(names, types, zip(*rows, strict=True), strict=True)
        }
    )
    table = Table(frame, {name: quasi() for name in names})
    method = Condensation(min(level, len(rows)), bounded=limited, avoid_copies=False, random_state=0)
    release = method.release(table)
    assert release.frame.schema == frame.schema
    assert release.frame.num_rows == len(rows)
    assert set(release.frame["text"].to_pylist()) <= set(frame["text"].to_pylist())
    for name in names:
        if frame[name].null_count in (0, len(rows)):
            assert release.frame[name].null_count == frame[name].null_count
        seen, made = pc.min_max(frame[name]), pc.min_max(release.frame[name])
        if limited and made["min"].is_valid:
            slack = 1e-9 * max(abs(seen["min"].as_py()), abs(seen["max"].as_py())) if name == "real" else None
            if slack is None:
                assert made["min"].as_py() >= seen["min"].as_py()
                assert made["max"].as_py() <= seen["max"].as_py()
            else:
                assert made["min"].as_py() >= seen["min"].as_py() - slack


def test_nulls_keep_their_share_and_the_others_their_moments() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(50, 10, 3000)
    missing = rng.random(3000) < 0.3
    table = Table(
        pa.table({"a": pa.array(values, mask=missing), "b": values + rng.normal(size=3000)}),
        {"a": quasi(), "b": quasi()},
    )
    made = Condensation(12, random_state=0).release(table).frame["a"]
    assert made.null_count / 3000 == pytest.approx(0.3, abs=0.03)
    kept = made.drop_null().to_numpy()
    assert kept.mean() == pytest.approx(values[~missing].mean(), abs=1)
    assert kept.std() == pytest.approx(values[~missing].std(), rel=0.08)


def test_types_are_kept() -> None:
    n = 50
    columns = {
        "tiny": pa.array(RNG.integers(0, 3, n), pa.uint8()),
        "huge": pa.array(2**63 + np.arange(n).astype(np.uint64), pa.uint64()),
        "single": pa.array(RNG.normal(size=n), pa.float32()),
        "money": pa.array(
            [decimal.Decimal(int(one)) / 100 for one in RNG.integers(0, 9999, n)], pa.decimal128(9, 2)
        ),
        "time": pa.array([dt.time(int(one) % 24, 5) for one in range(n)], pa.time64("us")),
        "wait": pa.array(RNG.integers(0, 10**9, n), pa.duration("us")),
        "whole": pa.array(RNG.integers(0, 9, n).astype(float)),
        "day": pa.array(RNG.integers(0, 9000, n).astype(np.int32), pa.date32()),
        "flag": pa.array(RNG.random(n) < 0.5),
        "nothing": pa.nulls(n, pa.int32()),
    }
    frame = pa.table(columns)
    for limited in (True, False):
        release = Condensation(5, bounded=limited, noise=1.0, random_state=0).release(
            Table(frame, {name: quasi() for name in columns})
        )
        assert release.frame.schema == frame.schema
        assert release.frame["nothing"].null_count == n
        whole = release.frame["whole"].to_numpy()
        assert (whole == np.rint(whole)).all()
    assert pc.min(release.frame["huge"]).as_py() > 2**62


def test_categories_are_drawn_by_their_frequencies_in_the_group() -> None:
    place = np.repeat([0.0, 100.0], 500)
    town = np.where(np.arange(1000) % 10 < 3, "near", "far")
    town[place == 0] = "only"
    frame = pa.table({"place": place + RNG.normal(size=1000), "town": town})
    made = Condensation(20, random_state=0).release(Table(frame, {"place": quasi(), "town": quasi()})).frame
    towns, places = np.array(made["town"].to_pylist()), made["place"].to_numpy()
    assert set(towns[places < 50]) == {"only"}
    assert (towns[places > 50] == "near").mean() == pytest.approx(0.3, abs=0.06)


@pytest.mark.parametrize("column", ["ill", "town", "age"])
def test_classes_are_condensed_apart(column: str) -> None:
    frame = people().set_column(2, "age", [pa.array(RNG.integers(0, 2, 400) * 7)])
    release = Condensation(5, label=column, noise=0.2, random_state=0).release(Table(frame, roles()))
    assert pc.value_counts(release.frame[column]).to_pylist() != []
    before, after = (
        {one["values"]: one["counts"] for one in pc.value_counts(table[column]).to_pylist()}
        for table in (frame, release.frame)
    )
    assert set(before) == set(after)
    assert all(abs(before[value] - after[value]) <= 1 for value in before)


def test_a_class_smaller_than_its_level_is_refused_without_its_name() -> None:
    frame = pa.table({"x": np.arange(20.0), "y": ["HIDDEN"] * 3 + ["b"] * 17})
    with pytest.raises(InfeasibleError, match="3 of the 3 records in a class of the label") as caught:
        Condensation(5, label="y").release(Table(frame, {"x": quasi(), "y": sensitive()}))
    assert "HIDDEN" not in str(caught.value)


def test_the_folder_holds_no_record_and_the_recipe_cannot_be_applied(tmp_path: Path) -> None:
    release = Condensation("level", random_state=0).release(Table(people(), roles()))
    release.write(tmp_path / "out", format="parquet")
    written = json.loads((tmp_path / "out" / "release.json").read_text())
    assert written["rows"] == {"in": 400, "out": 400, "suppressed": 0}
    assert not {"fidelity", "closeness"} & set(written)
    kept = json.loads((tmp_path / "out.private" / "recipe.private.json").read_text())["measures"]
    assert kept["fidelity"]["covariance_compatibility"] > 0.9
    assert kept["closeness"]["copies"] == 0
    assert written["parameters"]["k"] == "level"
    assert "risk" not in written
    assert "north" not in json.dumps(written)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "SECRET" not in page
    internal = (tmp_path / "out.private" / "report-internal.html").read_text()
    assert "How the groups were made" in internal
    assert "Condensation(&#39;level&#39;" in internal
    assert "discreet apply" not in page
    with pytest.raises(InputError, match="drawn anew"):
        Recipe.read(tmp_path / "out" / "release.json")


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "arrow"])
def test_it_is_written_in_every_format(tmp_path: Path, kind: Any) -> None:
    release = Condensation(np.full(400, 6), alpha=0.7, random_state=0).release(Table(people(), roles()))
    release.write(tmp_path / "out", format=kind, report=kind == "arrow")
    written = json.loads((tmp_path / "out" / "release.json").read_text())
    assert written["rows"]["out"] == 280
    assert written["parameters"]["k"] == "given apart"


def test_bad_levels_are_named_and_never_shown() -> None:
    frame = people(30)

    def given(levels: Any) -> Table:
        return Table(frame.set_column(1, "level", [pa.array(levels)]), roles())

    with pytest.raises(SchemaError, match="no level in 2 rows"):
        Condensation("level").release(given([None] * 2 + [3] * 28))
    with pytest.raises(SchemaError, match="at least 1; 3 rows do not"):
        Condensation("level").release(given([0, -4, 0] + [3] * 27))
    with pytest.raises(SchemaError, match="at least 1; 1 rows do not"):
        Condensation("level").release(given([2.5] + [3] * 29))
    with pytest.raises(SchemaError, match="has the type string"):
        Condensation("level").release(given(["SECRET"] * 30))
    with pytest.raises(SchemaError, match="'none', which the table does not have"):
        Condensation("none").release(given([3] * 30))
    with pytest.raises(InfeasibleError, match=r"1 of the 30 records .* at most 30 would do"):
        Condensation("level").release(given([31] + [3] * 29))
    with pytest.raises(InfeasibleError, match="at most 30"):
        Condensation(31).release(given([3] * 30))
    for levels in (0, -1, True, 2.5, [3] * 29, [0] * 30, [np.nan] * 30, ["a"] * 30, None, {}):
        with pytest.raises(ParameterError, match="'k' parameter of Condensation"):
            Condensation(levels).release(given([3] * 30))  # type: ignore[arg-type]


def test_bad_columns_are_named() -> None:
    table = Table(people(30), roles())
    with pytest.raises(SchemaError, match="'none', which the table does not have"):
        Condensation(3, label="none").release(table)
    with pytest.raises(SchemaError, match="'ssn' cannot be the label"):
        Condensation(3, label="ssn").release(table)
    lone = Table(pa.table({"level": [2, 2], "s": [1, 2]}), {"level": quasi(), "s": sensitive()})
    with pytest.raises(SchemaError, match="no quasi-identifier to be condensed"):
        Condensation("level").release(lone)
    for value in (np.inf, -np.inf):
        with pytest.raises(SchemaError, match=r"'x' holds infinite values \(1 rows\)"):
            Condensation(2).release(Table(pa.table({"x": [1.0, value, 2.0]}), {"x": quasi()}))
    with pytest.raises(SchemaError, match="'x' holds numbers too large"):
        Condensation(2).release(Table(pa.table({"x": [1.0, 1e200]}), {"x": quasi()}))
    with pytest.raises(InputError, match="no rows"):
        Condensation(1).release(Table(pa.table({"x": pa.array([], pa.int64())}), {"x": quasi()}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("segment", "other"),
        ("spread", "normal"),
        ("alpha", 0),
        ("noise", -1),
        ("label", 3),
        ("target", "both"),
        ("bounded", 1),
        ("random_state", -1),
    ],
)
def test_each_parameter_is_checked(name: str, value: object) -> None:
    with pytest.raises(ParameterError, match=f"'{name}' parameter of Condensation"):
        Condensation(2, **{name: value}).release(Table(people(30), roles()))  # type: ignore[arg-type]


def test_degenerate_tables_work() -> None:
    one = Condensation(1, random_state=0).release(numbers(np.array([[3.0, 4.0]])))
    assert matrix(one.frame).tolist() == [[3.0, 4.0]]
    same = Condensation(4, random_state=0).release(numbers(np.full((9, 2), 5.5)))
    assert (matrix(same.frame) == 5.5).all()
    constant = np.column_stack([RNG.normal(size=30), np.full(30, 2.0)])
    assert (matrix(Condensation(5, random_state=0).release(numbers(constant)).frame)[:, 1] == 2).all()
    wide = Condensation(3, random_state=0).release(numbers(RNG.normal(size=(7, 20))))
    assert wide.verdict.ok
    assert np.isfinite(matrix(wide.frame)).all()
    words = Table(pa.table({"a": list("xxyyxy"), "b": [True, None] * 3}), {"a": quasi(), "b": quasi()})
    assert Condensation(2, random_state=0).release(words).verdict.ok


def test_scikit_learn_takes_it_for_one_of_its_own() -> None:
    for estimator in (
        Condensation(2),
        Condensation(1),
        Condensation(2, segment="nearest", spread="gaussian"),
    ):
        for checked in check_estimator(estimator, on_skip=None, on_fail=None):
            assert checked["status"] in ("passed", "skipped"), checked["check_name"]


def test_fit_keeps_statistics_and_sample_draws_from_them() -> None:
    X = RNG.normal(size=(300, 3)) @ RNG.normal(size=(3, 3))
    made = Condensation(10, random_state=0).fit(X)
    assert made.statistics_.n_rows == 300
    assert Indistinguishability(10).check(made.statistics_).ok
    assert made.sample().shape == (300, 3)
    assert made.sample(0).shape == (0, 3)
    assert (made.sample(50) == made.sample(50)).all()
    kept = {name: value for name, value in vars(made).items() if isinstance(value, np.ndarray)}
    assert all(len(value) < 300 for value in kept.values())
    assert covariance_compatibility(X, made.sample(5000)) > 0.99
    with pytest.raises(ParameterError, match="'n' parameter"):
        made.sample(-1)


def test_fit_resample_keeps_classes_and_numbers() -> None:
    X = RNG.normal(size=(300, 2))
    classes = np.where(X[:, 0] > 0, "right", "left")
    Xs, ys = Condensation(8, random_state=0).fit_resample(X, classes)
    assert Xs.shape == (300, 2)
    assert abs((ys == "left").sum() - (classes == "left").sum()) <= 1
    assert ((Xs[:, 0] > 0) == (ys == "right")).mean() > 0.95
    target = X[:, 0] * 3 + X[:, 1]
    Xs, ys = Condensation(8, random_state=0).fit_resample(X, target)
    assert np.corrcoef(Xs[:, 0] * 3 + Xs[:, 1], ys)[0, 1] > 0.99
    years = np.rint(target * 5)
    _, ys = Condensation(8, target="number", random_state=0).fit_resample(X, years)
    assert np.corrcoef(np.sort(ys), np.sort(years))[0, 1] > 0.99
    with pytest.raises(InfeasibleError, match="in a class"):
        Condensation(8, target="class").fit(X, years)
    assert isinstance(Condensation(8, random_state=0).fit_resample(X), np.ndarray)


def test_fit_takes_a_level_for_each_row_and_refuses_what_cannot_be() -> None:
    X = RNG.normal(size=(40, 2))
    levels = RNG.integers(1, 9, 40)
    made = Condensation(levels.tolist()).fit(X)
    assert (made.statistics_.n >= made.statistics_.largest).all()
    assert made.statistics_.levels.sum() == levels.sum()
    with pytest.raises(InfeasibleError, match="at most 40"):
        Condensation(41).fit(X)
    with pytest.raises(ParameterError, match="40 whole numbers"):
        Condensation("level").fit(X)
    with pytest.raises(ValueError, match="infinity"):
        Condensation(2).fit(np.array([[1.0], [np.inf], [2.0]]))
    with pytest.raises(SchemaError, match="too large"):
        Condensation(2).fit(X * 1e200)


@pytest.mark.parametrize("unit", [1e-153, 1e-158, 1e-161])
def test_a_tiny_unit_leaves_the_other_columns_alone(unit: float) -> None:
    rng = np.random.default_rng(1)
    frame = pa.table({"tiny": rng.normal(size=80) * unit, "plain": rng.normal(size=80)})
    released = (
        Condensation(8, random_state=0).release(Table(frame, {"tiny": quasi(), "plain": quasi()})).frame
    )
    for name, spread in (("tiny", unit), ("plain", 1.0)):
        assert released[name].null_count == 0
        assert np.std(released[name].to_numpy() / spread) == pytest.approx(1, abs=0.4)


def test_names_that_nobody_marked_are_refused_in_python_too() -> None:
    frame = pa.table(
        {"name": [f"person {one % 180}" for one in range(200)], "age": [one // 2 for one in range(200)]}
    )
    with pytest.raises(
        SchemaError, match="'name' would be published as it is, and 160 of 200 rows have a value of their own"
    ) as raised:
        Condensation(10).release(Table(frame, {"name": quasi(), "age": quasi()}))
    assert "person 1" not in str(raised.value)
    for role in (sensitive(), identifier()):
        assert Condensation(10).release(Table(frame, {"name": role, "age": quasi()})).verdict.ok
    assert Condensation(1, label="name").release(Table(frame, {"name": quasi(), "age": quasi()})).verdict.ok
