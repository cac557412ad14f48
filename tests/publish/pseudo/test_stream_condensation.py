"""StreamCondensation: the promise after every record, splits that merge back, restarts, and no record anywhere."""

from __future__ import annotations

import itertools
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator
from tests.oracles import streams as oracle
from tests.written import METADATA

from discreet import publish
from discreet.core.errors import DiscreetError, InfeasibleError, InputError, OutputError, ParameterError
from discreet.core.verdict import Basis
from discreet.guarantees import Indistinguishability
from discreet.publish import StreamCondensation
from discreet.publish.pseudo.stream_state import StreamState


def cloud(n: int, d: int = 3, *, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.integers(0, 5, (n, 1))


def same(one: StreamCondensation, other: StreamCondensation) -> bool:
    mine, theirs = one._begun().to_arrays(), other._begun().to_arrays()
    return all(np.array_equal(mine[name], theirs[name]) for name in mine)


@st.composite
def streams(draw: Any) -> tuple[np.ndarray, np.ndarray, int]:
    """Records with ties, duplicates and constants among them, their levels, and how many come first."""
    n = draw(st.integers(2, 90))
    d = draw(st.integers(1, 3))
    seed = draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    values = rng.integers(0, draw(st.sampled_from([1, 2, 6, 1000])), (n, d)) * draw(
        st.sampled_from([1.0, 1e-3, 1e9])
    )
    first = draw(st.integers(1, n))
    top = draw(st.integers(1, 12))
    levels = np.minimum(rng.integers(1, top + 1, n), np.maximum(np.arange(1, n + 1), first))
    levels[:first] = np.minimum(levels[:first], first)
    return values.astype(np.float64), levels, first


@given(stream=streams(), most=st.sampled_from([1, 3, 1000]))
@settings(max_examples=100)
def test_no_group_ever_violates_a_level_and_sums_are_conserved(
    stream: tuple[np.ndarray, np.ndarray, int], most: int
) -> None:
    values, levels, first = stream
    made = StreamCondensation(init_number=first, max_groups=most, random_state=0)
    for i in range(len(values)):
        made.partial_fit(values[i : i + 1], k=levels[i : i + 1])
        if i + 1 < first:
            continue
        kept = made.statistics_
        assert (kept.n >= kept.largest).all()
        assert kept.n_groups <= most
        assert kept.n_rows == i + 1 == made.n_records_
        assert kept.levels.sum() == levels[: i + 1].sum()
        assert kept.largest.max() == levels[: i + 1].max()
        assert ((kept.levels >= kept.n) & (kept.levels <= kept.largest * kept.n)).all()
    n, mean, covariance = oracle.total(oracle.groups_of(made.statistics_))
    size = np.abs(values).max() + 1
    assert n == len(values)
    np.testing.assert_allclose(mean, values.mean(axis=0), rtol=0, atol=1e-12 * size)
    np.testing.assert_allclose(
        covariance, np.cov(values.T, ddof=0).reshape(covariance.shape), rtol=1e-9, atol=1e-11 * size**2
    )
    assert np.linalg.eigvalsh(made.statistics_.covariance).min() >= -1e-12 * size**2


@given(stream=streams(), cuts=st.lists(st.integers(0, 90), max_size=4))
@settings(max_examples=80)
def test_a_batch_is_its_records_one_after_the_other(
    stream: tuple[np.ndarray, np.ndarray, int], cuts: list[int]
) -> None:
    values, levels, first = stream
    one = StreamCondensation(init_number=first, random_state=0)
    for record, level in zip(values, levels, strict=True):
        one.update(record, k=int(level))
    many = StreamCondensation(init_number=first, random_state=0)
    places = sorted({0, len(values), *(min(cut, len(values)) for cut in cuts)})
    for start, stop in itertools.pairwise(places):
        many.partial_fit(values[start:stop], k=levels[start:stop])
    assert same(one, many)


@given(
    seed=st.integers(0, 10_000),
    d=st.integers(1, 4),
    top=st.integers(1, 9),
    rule=st.sampled_from(["safe", "paper"]),
)
@settings(max_examples=60)
def test_every_step_is_the_slow_definition_s(seed: int, d: int, top: int, rule: Any) -> None:
    rng = np.random.default_rng(seed)
    values, levels = cloud(70, d, seed=seed), rng.integers(1, top + 1, 70)
    levels[60] = 40
    made = StreamCondensation(init_number=30, split=rule, random_state=0)
    made.partial_fit(values[:30], k=levels[:30])
    for record, level in zip(values[30:], levels[30:], strict=True):
        before = made.statistics_
        scale = made._begun().scale
        expected = oracle.joined(oracle.groups_of(before), record, int(level), scale, rule)
        made.update(record, k=int(level))
        after = oracle.groups_of(made.statistics_)
        np.testing.assert_allclose(oracle.in_order(after), oracle.in_order(expected), atol=1e-6)


@given(
    n=st.integers(2, 60),
    d=st.integers(1, 6),
    seed=st.integers(0, 10_000),
    far=st.sampled_from([0.0, 1.0, 1e9]),
)
def test_the_halves_of_a_split_merge_back(n: int, d: int, seed: int, far: float) -> None:
    from discreet.core.records.group_statistics import GroupStatistics

    values = cloud(n, d, seed=seed) + far
    group = GroupStatistics.of(values, np.zeros(n, np.int64), np.ones(n, np.int64), 1)
    state = StreamState(group, np.zeros(d, bool), max_groups=9)
    record = values.mean(axis=0, keepdims=True)
    state.absorb(record, np.array([1]), max_groups=9)
    two = state.statistics()
    assert two.n.tolist() == [(n + 1) // 2, n + 1 - (n + 1) // 2]
    whole = two.merged(np.zeros(2, np.int64), 1)
    truth = np.vstack([values, record])
    spread = truth.std(axis=0).max()
    np.testing.assert_allclose(whole.mean[0], truth.mean(axis=0), rtol=0, atol=1e-12 * (spread + far))
    expected = np.cov(truth.T, ddof=0).reshape(d, d)
    tolerance = 1e-9 * spread**2 + 1e-12 * far * spread
    np.testing.assert_allclose(whole.covariance[0], expected, rtol=0, atol=tolerance)


def test_even_halves_are_the_paper_s() -> None:
    values = cloud(7, 2)
    made = StreamCondensation(4, init_number=7).fit(values)
    assert made.statistics_.n.tolist() == [7]
    record = values.mean(axis=0) + 0.1
    scale = made._begun().scale
    expected = oracle.joined(oracle.groups_of(made.statistics_), record, 4, scale)
    made.update(record)
    assert made.statistics_.n.tolist() == [4, 4]
    found = oracle.groups_of(made.statistics_)
    np.testing.assert_allclose(oracle.in_order(found), oracle.in_order(expected), atol=1e-9)


def test_the_mean_level_alone_does_not_split() -> None:
    values = cloud(5, 2)
    made = StreamCondensation(init_number=5).partial_fit(values, k=[2, 2, 2, 3, 5])
    made.update(values[0], k=3)
    assert made.statistics_.n.tolist() == [6]  # the paper's example: 6 ≥ 2·17/6, yet one of them asks for 5
    for _ in range(4):
        made.update(values[1], k=1)
    assert made.statistics_.n.tolist() == [5, 5]


def test_the_paper_s_rule_divides_by_the_mean_level() -> None:
    values = cloud(6, 2)
    made = StreamCondensation(init_number=5, split="paper").partial_fit(values[:5], k=[2, 2, 2, 3, 5])
    assert made.statistics_.n.tolist() == [5]  # 5 < 2·14/5
    made.update(values[5], k=3)
    halves = made.statistics_
    assert halves.n.tolist() == [3, 3]  # 6 ≥ 2·17/6
    assert halves.levels.sum() == 17
    assert halves.largest.tolist() == [5, 5]
    verdict = made.guarantee.check(halves)
    assert (verdict.ok, verdict.basis, verdict.word) == (True, Basis.ASSUMED, "assumed")
    assert "either half" in made.guarantee.describe()
    assert not Indistinguishability().check(halves).ok


@given(stream=streams(), most=st.sampled_from([3, 1000]))
@settings(max_examples=80)
def test_by_the_paper_s_rule_groups_are_as_large_as_their_mean_level_but_for_half_a_record(
    stream: tuple[np.ndarray, np.ndarray, int], most: int
) -> None:
    values, levels, first = stream
    made = StreamCondensation(init_number=first, max_groups=most, split="paper", random_state=0)
    for i in range(len(values)):
        made.partial_fit(values[i : i + 1], k=levels[i : i + 1])
        if i + 1 >= first:
            verdict = made.guarantee.check(made.statistics_)
            assert (verdict.ok, verdict.basis) == (True, Basis.ASSUMED)
    assert same(made, pickle.loads(pickle.dumps(made)))


def test_a_state_that_was_divided_by_the_mean_level_stays_assumed(tmp_path: Path) -> None:
    values, levels = cloud(400), np.random.default_rng(3).integers(2, 12, 400)
    made = StreamCondensation(init_number=100, split="paper", random_state=0).fit(values, k=levels)
    kept = made.statistics_
    assert (kept.n < kept.largest).any()
    loaded = StreamCondensation.load(made.save(tmp_path / "state.bin"))
    assert (loaded.split, loaded.guarantee.by) == ("paper", "mean")
    loaded.set_params(split="safe").partial_fit(values, k=levels)
    assert loaded.guarantee.by == "mean"
    safe = StreamCondensation(init_number=100, random_state=0).fit(values, k=levels)
    assert safe.guarantee.by == "largest"
    assert safe.merge(made).guarantee.by == "mean"
    release = made.release()
    assert release.verdict.word == "assumed"
    folder = release.write(tmp_path / "out")
    record = json.loads((folder / "release.json").read_text())
    assert record["verdict"]["basis"] == "assumed"
    page = (folder / "report.html").read_text(encoding="utf-8").partition("<body")[2]
    assert "either half" in page
    assert "By construction" not in page
    assert "erified" not in page


def test_states_from_before_the_rule_was_counted_are_read() -> None:
    made = StreamCondensation(3, init_number=20, random_state=0).fit(cloud(60))
    arrays = made._begun().to_arrays()
    old = StreamState.from_arrays(arrays | {"counts": arrays["counts"][:4]})
    assert not old.by_mean
    counts = arrays["counts"].copy()
    counts[4] = 1
    with pytest.raises(InputError, match="smaller than a level"):
        StreamState.from_arrays(arrays | {"counts": counts, "levels": arrays["levels"] * 100})


def test_where_no_group_is_viable_the_nearest_are_merged() -> None:
    places = np.repeat([0.0, 10.0, 100.0], 3)[:, None] + np.tile([0.0, 0.1, 0.2], 3)[:, None]
    made = StreamCondensation(3, init_number=9).fit(places)
    assert sorted(made.statistics_.n.tolist()) == [3, 3, 3]
    made.update([4.0], k=6)
    kept = made.statistics_
    assert sorted(kept.n.tolist()) == [3, 7]
    assert kept.largest[kept.n == 7].tolist() == [6]
    assert kept.mean[kept.n == 3].item() == pytest.approx(100.1)


def test_a_level_above_all_records_so_far_is_refused_with_its_batch() -> None:
    values = cloud(60)
    made = StreamCondensation(3, init_number=20, random_state=0).fit(values[:20])
    before = pickle.dumps(made)
    levels = np.full(20, 3)
    levels[5] = 27
    with pytest.raises(InfeasibleError, match=r"1 records have levels.*20 came before"):
        made.partial_fit(values[20:40], k=levels)
    assert pickle.dumps(made) == before
    levels[5] = 26
    made.partial_fit(values[20:40], k=levels)
    assert made.statistics_.largest.max() == 26
    with pytest.raises(InfeasibleError, match="init_number=9 would do"):
        StreamCondensation(init_number=8).partial_fit(values, k=9)
    with pytest.raises(InfeasibleError, match="above the number of records condensed"):
        StreamCondensation(70).fit(values)


def test_a_restarted_stream_goes_on_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    values, levels = cloud(3000), np.random.default_rng(1).integers(2, 9, 3000)
    steady = StreamCondensation(init_number=300, random_state=5, columns=["a", "b", "c"], bounds=(-90, 90))
    steady.partial_fit(values[:1500], k=levels[:1500])
    steady.sample(10)
    path = steady.save(tmp_path / "state.bin", position={"records": 1500})
    again = StreamCondensation.load(path)
    assert again.position_ == {"records": 1500}
    assert again.get_params()["columns"] == ["a", "b", "c"]
    for stream in (steady, again):
        stream.partial_fit(values[1500:], k=levels[1500:])
    assert same(steady, again)
    assert np.array_equal(steady.sample(50), again.sample(50))
    assert steady.save(tmp_path / "one").read_bytes() == again.save(tmp_path / "two").read_bytes()


@pytest.mark.parametrize("kind", [np.random.MT19937, np.random.Philox, np.random.PCG64DXSM, np.random.SFC64])
def test_any_of_numpy_s_generators_is_saved(tmp_path: Path, kind: Any) -> None:
    made = StreamCondensation(3, random_state=np.random.Generator(kind(1))).fit(cloud(30))
    again = StreamCondensation.load(made.save(tmp_path / "s"))
    assert np.array_equal(made.sample(5), again.sample(5))


def planted(values: np.ndarray) -> list[bytes]:
    texts = [repr(float(value)).encode() for value in values.ravel()]
    return [*texts, *(np.float64(value).tobytes() for value in values.ravel())]


def test_no_record_is_in_the_state_or_the_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(400, 3)) * [1.0, 1e3, 1e6]
    values[[0, 150, 250, 399]] *= 1000  # extremes too: a range would keep them
    made = StreamCondensation(2, init_number=100, random_state=0)
    for start in range(0, 400, 50):
        made.partial_fit(values[start : start + 50])
    made.sample(30)
    kept = made.save(tmp_path / "state.bin").read_bytes()
    pickled = pickle.dumps(made)
    live = b"".join(np.asarray(array).tobytes() for array in made._begun()._live)
    shown = (repr(made) + repr(made._begun()) + str(vars(made))).encode()
    for secret in planted(values):
        assert secret not in kept
        assert secret not in pickled
        assert secret not in live
        assert secret not in shown


def test_the_first_records_are_never_written_and_their_memory_is_wiped(tmp_path: Path) -> None:
    values = cloud(99)
    made = StreamCondensation(3, init_number=100).partial_fit(values)
    with pytest.raises(OutputError, match="first 99 records"):
        made.save(tmp_path / "state.bin")
    with pytest.raises(OutputError, match="never written"):
        pickle.dumps(made)
    with pytest.raises(NotFittedError, match="99 records have come"):
        made.sample()
    assert not list(tmp_path.iterdir())
    held = made._window
    assert held is not None
    assert "99" in repr(held)
    buffer = held._values
    made.update(values[0])
    assert made._window is None
    assert not buffer.any()
    assert made.save(tmp_path / "state.bin").exists()


def test_fewer_records_than_init_number_can_be_condensed_on_demand() -> None:
    made = StreamCondensation(3, init_number=100).partial_fit(cloud(20)).initialize()
    assert made.statistics_.n_rows == 20
    few = StreamCondensation(3, init_number=100).partial_fit(cloud(2))
    with pytest.raises(InfeasibleError):
        few.initialize()
    assert few.partial_fit(cloud(5)).initialize().n_records_ == 7


def test_a_file_cut_short_or_altered_is_refused_wherever(tmp_path: Path) -> None:
    made = StreamCondensation(3, random_state=0).fit(cloud(60))
    path = made.save(tmp_path / "state.bin")
    data = path.read_bytes()
    for length in [*range(0, 200, 7), *range(200, len(data), 97), len(data) - 1]:
        path.write_bytes(data[:length])
        with pytest.raises(InputError, match="state"):
            StreamCondensation.load(path)
    for place in range(0, len(data), 61):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(InputError, match=r"state|version"):
            StreamCondensation.load(path)
    path.write_bytes(data + b"x")
    with pytest.raises(InputError, match="checksum"):
        StreamCondensation.load(path)
    with pytest.raises(InputError, match="cannot be read"):
        StreamCondensation.load(tmp_path / "none")


def test_a_failing_save_leaves_the_old_file_and_the_state(tmp_path: Path) -> None:
    made = StreamCondensation(3, random_state=0).fit(cloud(60))
    path = made.save(tmp_path / "state.bin")
    old = path.read_bytes()
    with pytest.raises(InputError, match="wrong type"):
        made.save(path, position={"where": object()})
    with pytest.raises(OutputError):
        made.save(tmp_path)
    assert path.read_bytes() == old
    assert [one.name for one in tmp_path.iterdir()] == ["state.bin"]
    assert same(made, StreamCondensation.load(path))


def test_two_collectors_merge() -> None:
    values = cloud(900)
    one = StreamCondensation(5, init_number=100).fit(values[:400])
    two = StreamCondensation(8, init_number=100).fit(values[400:])
    kept = pickle.dumps(two)
    groups = one.statistics_.n_groups + two.statistics_.n_groups
    one.merge(two)
    assert pickle.dumps(two) == kept
    statistics = one.statistics_
    assert statistics.n_groups == groups
    assert (statistics.n >= statistics.largest).all()
    n, mean, covariance = oracle.total(oracle.groups_of(statistics))
    assert n == 900
    np.testing.assert_allclose(mean, values.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(covariance, np.cov(values.T, ddof=0), atol=1e-10)
    small = clone(one).set_params(max_groups=4).fit(values[:400]).merge(two)
    assert small.statistics_.n_groups == 4
    assert (small.statistics_.n >= small.statistics_.largest).all()
    assert small.n_records_ == 900
    with pytest.raises(DiscreetError, match="same columns"):
        one.merge(StreamCondensation(3).fit(cloud(50, 2)))
    with pytest.raises(DiscreetError, match="same columns"):
        one.merge(StreamCondensation(3, columns=["a", "b", "c"]).fit(cloud(50)))
    with pytest.raises(NotFittedError):
        one.merge(StreamCondensation(3))
    with pytest.raises(ParameterError, match="'other' parameter"):
        one.merge(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("begun", [True, False])
@pytest.mark.parametrize("named", [True, False])
def test_a_schema_that_changes_half_way_is_refused_and_the_state_is_intact(begun: bool, named: bool) -> None:
    frame = pd.DataFrame(cloud(60), columns=["a", "b", "c"])
    rows = frame.to_numpy()
    wrong: list[Any] = [frame[["a", "b"]], frame.rename(columns={"c": "d"})]
    if not named:
        wrong = [rows[:, :2], rows[:, [0, 1, 2, 2]], rows[0], np.empty((0, 3)), rows + 1j * 77001]
        wrong += [np.full((2, 3), value) for value in (np.nan, np.inf, 1e200, "SECRET")]
    made = StreamCondensation(3, init_number=20 if begun else 90, random_state=0)
    made.partial_fit(frame[:40] if named else rows[:40])
    for one in wrong:
        with pytest.raises(ValueError) as caught:
            made.partial_fit(one)
        assert not any(secret in str(caught.value) for secret in ("SECRET", "77001", "1e+200"))
        assert caught.value.__cause__ is None
        assert made.n_records_ == 40
    made.partial_fit(frame[40:] if named else rows[40:])
    assert made.n_records_ == 60


def test_levels_of_a_batch_are_checked() -> None:
    made = StreamCondensation(3, init_number=20).fit(cloud(40))
    for wrong in (0, -1, 2.5, [1, 2], [1, 0, 1], [1.0, np.nan, 1.0], "level", None):
        if wrong is None:
            continue
        with pytest.raises(ParameterError, match="'k' parameter of StreamCondensation"):
            made.partial_fit(cloud(3), k=wrong)
    assert made.n_records_ == 40


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"k": 0}, "k"),
        ({"init_number": 0}, "init_number"),
        ({"segment": "best"}, "segment"),
        ({"spread": "even"}, "spread"),
        ({"noise": -1.0}, "noise"),
        ({"max_groups": 0}, "max_groups"),
        ({"bounds": (1, 0)}, "bounds"),
        ({"columns": "abc"}, "columns"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_each_constraint_names_its_parameter(given: dict[str, Any], name: str) -> None:
    with pytest.raises(ParameterError, match=f"'{name}' parameter of StreamCondensation"):
        StreamCondensation(**given).partial_fit(cloud(30))


def test_memory_is_bounded_by_the_groups() -> None:
    made = StreamCondensation(2, init_number=50, max_groups=64, random_state=0)
    for seed in range(20):
        made.partial_fit(cloud(500, seed=seed))
    assert made.statistics_.n_groups == 64
    assert sum(np.asarray(array).nbytes for array in made._begun()._live) < 64 * 4 * 8 * 20


def test_duplicates_and_constants_do_not_multiply_groups() -> None:
    made = StreamCondensation(3, init_number=9).fit(np.full((200, 2), 7.0))
    assert made.statistics_.n_groups <= 3
    assert np.array_equal(made.sample(20), np.full((20, 2), 7.0))


def test_units_follow_the_stream() -> None:
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.normal(size=2000), np.zeros(2000)])
    values[100:, 1] = rng.normal(size=1900) * 1e6  # constant at first
    made = StreamCondensation(5, init_number=100, random_state=0).fit(values)
    ratio = np.log2(made._begun().scale / values[:1600].std(axis=0))
    assert np.abs(ratio).max() <= 0.25 + 1e-9  # half octaves


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("after", [1, 2, 41])
def test_the_newest_record_does_not_follow_from_a_state(seed: int, after: int) -> None:
    """Groups hold exact sums of all records; nothing else in a state may be an exact sum of all but the newest."""
    rng = np.random.default_rng(seed)
    values = rng.normal([50, 170], [20, 10], size=(40 + after, 2))
    made = StreamCondensation(5, init_number=40, random_state=seed).fit(values)
    arrays = made._begun().to_arrays()
    n, sums = arrays["n"].sum(), arrays["n"] @ arrays["mean"]
    for rest in (40, n - 1):
        newest = (sums - rest * arrays["origin"]) / (n - rest)
        assert (np.abs(newest - values[-1]) > 0.5).any()
    steps = 2 * np.log2(arrays["unit"])
    assert np.allclose(steps, np.round(steps), rtol=0, atol=1e-9)
    assert np.allclose(arrays["origin"] * arrays["unit"], np.round(arrays["origin"] * arrays["unit"]))


def test_a_state_with_an_exact_origin_is_rounded_when_it_is_read() -> None:
    values = np.random.default_rng(3).normal([50, 170], [20, 10], size=(40, 2))
    state = StreamCondensation(5, init_number=40, random_state=3).fit(values)._begun()
    again = StreamState.from_arrays(state.to_arrays()).to_arrays()
    assert all(np.array_equal(again[name], array) for name, array in state.to_arrays().items())
    exact = state.to_arrays() | {"origin": values.mean(axis=0), "unit": 1 / values.std(axis=0)}
    read = StreamState.from_arrays(exact).to_arrays()
    assert not np.allclose(read["origin"], values.mean(axis=0), rtol=0, atol=0.05)
    assert np.array_equal(read["mean"], exact["mean"])


def test_pseudo_rows_behave_like_the_records() -> None:
    values = cloud(4000, 4)
    made = StreamCondensation(10, init_number=500, random_state=0).fit(values)
    drawn = made.sample()
    assert drawn.shape == values.shape
    np.testing.assert_allclose(drawn.mean(axis=0), values.mean(axis=0), atol=0.1)
    np.testing.assert_allclose(np.corrcoef(drawn.T), np.corrcoef(values.T), atol=0.03)
    assert not np.array_equal(drawn, made.sample())
    assert made.sample(0).shape == (0, 4)
    made.set_params(bounds=(values.min(axis=0), values.max(axis=0)), noise=0.5)
    inside = made.sample(5000)
    assert (inside >= values.min(axis=0)).all()
    assert (inside <= values.max(axis=0)).all()


def test_the_same_seed_gives_the_same_rows_and_the_global_generator_is_untouched() -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    one, two = (StreamCondensation(4, random_state=9).fit(cloud(200)).sample(30) for _ in range(2))
    assert np.array_equal(one, two)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


def test_a_release_is_judged_by_construction_and_written_without_its_records(tmp_path: Path) -> None:
    values = np.column_stack([cloud(300, 2), np.arange(300) % 7])
    made = StreamCondensation(6, init_number=100, columns=["x", "y", "day"], random_state=0).fit(values)
    release = made.release(250)
    assert release.frame.column_names == ["x", "y", "day"]
    assert str(release.frame.schema.field("day").type) == "int64"
    assert release.verdict.ok
    assert release.verdict.basis is Basis.CONSTRUCTION
    assert release.guarantee.k == 6  # type: ignore[attr-defined]
    folder = release.write(tmp_path / "out")
    assert {path.name for path in folder.iterdir()} == {"data.csv", "release.json", "report.html", *METADATA}
    assert len((folder / "data.csv").read_text().splitlines()) == 251
    told = json.loads((folder / "release.json").read_text())
    assert (told["seeded"], "seed" in told) == (True, False)
    with pytest.raises(OutputError):
        release.write(tmp_path / "out")
    mixed = StreamCondensation(init_number=50).fit(values, k=np.arange(300) % 3 + 2)
    assert mixed.release().guarantee.k is None  # type: ignore[attr-defined]
    assert mixed.release().verdict.ok


def test_it_is_a_scikit_learn_estimator() -> None:
    failed = [
        one["check_name"]
        for one in check_estimator(StreamCondensation(3, random_state=0), on_fail=None, on_skip=None)
        if one["status"] == "failed"
    ]
    assert not failed
    assert publish.StreamCondensation is StreamCondensation


def test_levels_that_came_with_the_records_are_never_published(tmp_path: Path) -> None:
    """That all of them are the same is data too: whoever knows all levels but one would learn the last."""
    values = cloud(60)
    alike = StreamCondensation(3, init_number=20, random_state=0).fit(values[:40])
    assert alike.guarantee == Indistinguishability(3)
    own = StreamCondensation(3, init_number=20, random_state=0).fit(values[:40], k=np.full(40, 3))
    assert own.guarantee == Indistinguishability(None)
    assert StreamCondensation.load(own.save(tmp_path / "own.bin")).guarantee == Indistinguishability(None)
    assert StreamCondensation.load(alike.save(tmp_path / "alike.bin")).guarantee == Indistinguishability(3)
    assert alike.merge(own).guarantee == Indistinguishability(None)
    later = StreamCondensation(3, init_number=20, random_state=0).fit(values[:40])
    assert later.update(values[40], k=3).guarantee == Indistinguishability(None)


def test_a_release_states_the_least_level_of_all_runs(tmp_path: Path) -> None:
    """Groups keep the level that they were made with; a larger one later promises nothing of them."""
    X = np.random.default_rng(6).normal(size=(120, 2))
    StreamCondensation(2, init_number=60).fit(X[:60]).save(tmp_path / "state")
    later = StreamCondensation.load(tmp_path / "state").set_params(k=10).partial_fit(X[60:])
    later.save(tmp_path / "state")
    again = StreamCondensation.load(tmp_path / "state")
    ten = StreamCondensation(10, init_number=60).fit(X[:60])
    for stream in (later, again, ten.merge(again)):
        release = stream.release()
        assert release.recipe["parameters"]["k"] == 2
        assert release.guarantee == Indistinguishability(2)
        assert release.verdict.ok
    later.partial_fit(X[:5], k=np.full(5, 3))
    assert later.release().recipe["parameters"]["k"] == "given apart"
    assert later.guarantee.k is None
