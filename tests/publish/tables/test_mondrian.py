"""Mondrian's own properties: strict and relaxed sizes, disjoint boxes, means, weights, trees and populations."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import mondrian
from tests.strategies import tables as strategies

from discreet import Table, intervals, other, quasi, sensitive, tree
from discreet.core.errors import InfeasibleError, ParameterError, SchemaError
from discreet.core.tables.labels import parse_label
from discreet.guarantees import AlphaKAnonymity, EntropyDiversity, KAnonymity, KMap, TCloseness
from discreet.publish import Mondrian


def numbers(*columns: list[Any], **roles: Any) -> Table:
    names = [f"q{i}" for i in range(len(columns))]
    frame = pa.table(dict(zip(names, columns, strict=True)))
    return Table(frame, {name: roles.get(name, quasi()) for name in names})


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=60), st.integers(1, 6))
def test_strict_groups_are_disjoint_boxes_and_cannot_be_split(rows: list[tuple[int, int]], k: int) -> None:
    table = numbers([a for a, _ in rows], [b for _, b in rows])
    if len(rows) < k:
        with pytest.raises(InfeasibleError):
            Mondrian(KAnonymity(k)).release(table)
        return
    segments, _ = Mondrian(KAnonymity(k)).partition(table)
    groups = [
        (segments.codes[low:high], segments.weights[low:high])
        for low, high in zip(segments.low, segments.high, strict=True)
    ]
    for number, (codes, weights) in enumerate(groups):
        assert weights.sum() >= k
        for column in range(2):
            values, counts = Counter(), 0
            for code, weight in zip(codes[:, column], weights, strict=True):
                values[int(code)] += int(weight)
            for value in sorted(values)[:-1]:
                counts += values[value]
                assert min(counts, weights.sum() - counts) < k
        for others, _ in groups[number + 1 :]:
            apart = (codes.max(0) < others.min(0)) | (others.max(0) < codes.min(0))
            assert apart.any()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=80), st.integers(1, 7))
def test_relaxed_groups_of_a_column_with_ties_stay_below_twice_k(values: list[int], k: int) -> None:
    if len(values) < k or len(set(values)) == 1:
        return
    segments, _ = Mondrian(KAnonymity(k), strict=False).partition(numbers(values))
    constant = [
        np.unique(segments.codes[low:high, 0]).size == 1
        for low, high in zip(segments.low, segments.high, strict=True)
    ]
    assert ((segments.sizes < 2 * k) | constant).all()
    assert segments.sizes.min() >= k


PEOPLE = [((0, 0), "a"), ((0, 0), "a"), ((0, 4), "a"), ((0, 4), "b"), ((4, 4), "b"), ((4, 4), "b")]


def classes_shown(rows: list[dict[str, Any]]) -> mondrian.Classes:
    """What released rows show of each class, as the oracle writes it."""
    classes: dict[Any, list[Any]] = {}
    for row in rows:
        ends = [re.findall(r"\d", str(row[name])) for name in ("q0", "q1")]
        classes.setdefault(tuple((int(end[0]), int(end[-1])) for end in ends), []).append(row["s"])
    return tuple(sorted((box, tuple(sorted(values))) for box, values in classes.items()))


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("alpha", [0.67, 0.75])
def test_releases_are_as_likely_as_by_definition(alpha: float, strict: bool) -> None:
    """A cut's tied rows are any set of so many of them with the same probability, whatever their secrets are."""
    n = 1 if strict else 400
    columns = {"q0": [q[0] for q, _ in PEOPLE], "q1": [q[1] for q, _ in PEOPLE], "s": [s for _, s in PEOPLE]}
    table = Table(pa.table(columns), {"q0": quasi(), "q1": quasi(), "s": sensitive()})
    expected = mondrian.chances(
        PEOPLE,
        lambda values: len(values) >= 2 and max(Counter(values).values()) <= alpha * len(values),
        2,
        strict=strict,
    )
    seen = Counter(
        classes_shown(
            Mondrian(AlphaKAnonymity(alpha, 2), strict=strict, random_state=seed)
            .release(table)
            .frame.to_pylist()
        )
        for seed in range(n)
    )
    assert set(seen) <= set(expected)
    for shown, chance in expected.items():
        assert abs(seen[shown] / n - chance) <= 5 * np.sqrt(chance * (1 - chance) / n) + 1e-9


def lean(flags: Any, chosen: Any) -> float:
    """How far the flagged rows among chosen ones are from what a draw of as many gives, in standard deviations."""
    n, flagged, drawn = flags.size, int(flags.sum()), int(chosen.sum())
    variance = drawn * (flagged / n) * (1 - flagged / n) * (n - drawn) / (n - 1)
    return float(((flags & chosen).sum() - drawn * flagged / n) / np.sqrt(variance))


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_tied_rows_are_apart_by_chance_and_not_by_secret_or_position(engine: str, monkeypatch: Any) -> None:
    if engine == "duckdb":
        monkeypatch.setattr("discreet.engines.duckdb.engine.HELD_ROWS", 0)
    n = 2_000
    columns = {"q": [0, *[1] * (n - 2), 2], "s": ["a", "b"] * (n // 2), "number": list(range(n))}
    frame = pa.table(columns)
    data = duckdb.connect().from_arrow(frame) if engine == "duckdb" else frame
    table = Table(data, {"q": quasi(), "s": sensitive(), "number": other(allow_unique=True)})
    released = Mondrian(KAnonymity(n // 2), strict=False, random_state=1).release(table).frame
    rows = released.to_arrow_table() if engine == "duckdb" else released
    left = np.asarray(rows["q"]) == "[0, 1]"
    assert left.sum() == n // 2
    assert abs(lean(np.asarray(rows["s"]) == "a", left)) < 4
    for secret in "ab":
        same = np.asarray(rows["s"]) == secret
        assert abs(lean(np.asarray(rows["number"])[same] < n // 2, left[same])) < 4


def test_ties_are_shared_out_anew_without_a_seed_and_alike_with_one() -> None:
    table = Table(pa.table({"q": [0, *[1] * 30, 2], "s": list("ab" * 16)}), {"q": quasi(), "s": sensitive()})

    def shared(seed: int | None) -> tuple[str, ...]:
        released = Mondrian(KAnonymity(16), strict=False, random_state=seed).release(table).frame
        return tuple(sorted(map(str, released.to_pylist())))

    assert shared(3) == shared(3)
    assert len({shared(None) for _ in range(12)}) > 1


def test_every_released_cell_covers_a_real_row() -> None:
    rng = np.random.default_rng(0)
    frame = pa.table(
        {
            "age": rng.integers(0, 90, 500),
            "city": rng.choice(["Rome", "Oslo", "Łódź", "a, b"], 500),
            "id": np.arange(500),
        }
    )
    table = Table(frame, {"age": quasi(), "city": quasi(), "id": other(allow_unique=True)})
    for strict in (True, False):
        released = Mondrian(KAnonymity(4), strict=strict).release(table).frame
        original = {row["id"]: row for row in frame.to_pylist()}
        assert released.num_rows == 500
        for row in released.to_pylist():
            for name in ("age", "city"):
                value = frame[name].filter(pa.compute.equal(frame["id"], row["id"])).combine_chunks()
                assert parse_label(str(row[name])).covers(value).all(), (row, original[row["id"]])


def test_nulls_are_cut_off_first_and_else_become_a_star() -> None:
    apart = Mondrian(KAnonymity(2)).release(numbers([1, 2, None, None, 9, 9])).frame["q0"].to_pylist()
    assert Counter(apart) == {"[1, 2]": 2, None: 2, "9": 2}
    mixed = Mondrian(KAnonymity(2)).release(numbers([1, 2, None])).frame["q0"].to_pylist()
    assert mixed == ["*"] * 3


def test_trees_are_cut_between_the_children_of_the_lowest_common_node() -> None:
    jobs = tree({"office": ["clerk", "lawyer"], "field": ["farmer", "miner"]})
    table = numbers(["clerk", "lawyer", "farmer", "miner"], q0=quasi(jobs))
    release = Mondrian(KAnonymity(2)).release(table)
    assert Counter(release.frame["q0"].to_pylist()) == {"office": 2, "field": 2}
    three = numbers(["clerk", "lawyer", "farmer"], q0=quasi(jobs))
    assert set(Mondrian(KAnonymity(2)).release(three).frame["q0"].to_pylist()) == {"*"}


def test_means_are_the_means_of_the_groups() -> None:
    release = Mondrian(KAnonymity(2), summary="mean").release(numbers([1, 2, 10, 12]))
    assert sorted(release.frame["q0"].to_pylist()) == [1.5, 1.5, 11.0, 11.0]
    huge = Mondrian(KAnonymity(2), summary="mean").release(numbers([10**9 + 1, 10**9 + 2]))
    assert huge.frame["q0"].to_pylist() == [10**9 + 1.5] * 2
    dates = pa.array(["2024-01-01", "2024-01-03"]).cast(pa.date32())
    mean = Mondrian(KAnonymity(2), summary="mean").release(numbers(dates)).frame["q0"]
    assert mean.cast(pa.string()).to_pylist() == ["2024-01-02"] * 2


def test_a_weight_decides_what_is_cut() -> None:
    a, b = [0, 0, 1, 1], [0, 1, 0, 1]
    first = Mondrian(KAnonymity(2), weights={"q0": 2}).release(numbers(a, b)).frame
    second = Mondrian(KAnonymity(2), weights={"q1": 2}).release(numbers(a, b)).frame
    assert set(first["q0"].to_pylist()) == {0, 1}
    assert set(second["q1"].to_pylist()) == {0, 1}
    with pytest.raises(SchemaError, match="'q9'"):
        Mondrian(KAnonymity(2), weights={"q9": 1}).release(numbers(a, b))
    with pytest.raises(ParameterError, match="'weights' parameter of Mondrian"):
        Mondrian(KAnonymity(2), weights={"q0": 0}).release(numbers(a, b))


def test_ordered_categories_are_cut_in_their_order() -> None:
    sizes = ["small", "small", "large", "large", "medium", "medium"]
    table = numbers(sizes, q0=quasi(ordered=["small", "medium", "large"]))
    release = Mondrian(KAnonymity(3)).release(table)
    assert release.frame["q0"].to_pylist() == ["*"] * 6
    release = Mondrian(KAnonymity(2)).release(numbers(sizes, q0=quasi(ordered=["small", "medium", "large"])))
    assert Counter(release.frame["q0"].to_pylist()) == Counter(sizes)


def test_a_split_that_would_break_diversity_is_not_made_along_that_column() -> None:
    frame = pa.table({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "d": ["x", "x", "y", "y"]})
    table = Table(frame, {"a": quasi(weight=5), "b": quasi(), "d": sensitive()})
    release = Mondrian(KAnonymity(2) & EntropyDiversity(2)).release(table)
    assert release.evidence.sizes.tolist() == [2, 2]
    assert set(release.frame["b"].to_pylist()) == {0, 1}
    close = Mondrian(TCloseness(0.0)).release(table)
    assert close.verdict.ok
    assert close.evidence.sizes.tolist() == [2, 2]


@given(rows=strategies.rows(min_size=2))
@settings(max_examples=30)
def test_groups_keep_k_map_against_the_population(rows: strategies.Rows) -> None:
    frame = strategies.frame(rows)
    schema = strategies.plain_schema()
    population = Table(pa.concat_tables([frame, frame.slice(0, len(rows) // 2)]), schema)
    guarantee = KMap(3, population)
    table = Table(frame, schema)
    if len(rows) + len(rows) // 2 < 3:
        with pytest.raises(InfeasibleError):
            Mondrian(guarantee).release(table)
        return
    assert Mondrian(guarantee).release(table).verdict.ok


def test_wide_sparse_codes_take_the_sorted_path() -> None:
    rng = np.random.default_rng(1)
    values = rng.permutation(np.arange(5000) * 1000)
    segments, _ = Mondrian(KAnonymity(2)).partition(numbers(values, rng.integers(0, 3, 5000)))
    assert segments.sizes.min() >= 2
    assert segments.sizes.max() <= 3


def test_parameters_are_checked() -> None:
    table = numbers([1, 2])
    with pytest.raises(
        ParameterError,
        match=r"'strict' parameter of Mondrian must be a bool\. Got 1 instead\.",
    ):
        Mondrian(KAnonymity(1), strict=1).release(table)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'summary' parameter of Mondrian"):
        Mondrian(KAnonymity(1), summary="median").release(table)  # type: ignore[arg-type]
    wide = Table(pa.table({f"q{i}": [1, 2] for i in range(65)}), {f"q{i}": quasi() for i in range(65)})
    with pytest.raises(SchemaError, match="at most 64"):
        Mondrian(KAnonymity(1)).release(wide)


def test_dates_under_a_calendar_tree() -> None:
    days = pa.array(["2024-01-05", "2024-01-20", "2025-03-01", "2025-01-01"]).cast(pa.date32())
    table = Table(pa.table({"day": days}), {"day": quasi(intervals("month", "year"))})
    release = Mondrian(KAnonymity(2)).release(table)
    assert release.verdict.ok
    assert len(release.evidence.sizes) == 2
