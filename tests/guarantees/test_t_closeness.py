from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.guarantees.small_tables import LETTERS, PATHS, Rows, groups_of, letter_tree, rows_of, tables, wards
from tests.oracles import tables as oracles

from discreet.core.errors import ParameterError, SchemaError
from discreet.core.hierarchy.bound import build_hierarchy
from discreet.guarantees import TCloseness

SALARIES = rows_of({"u": [3, 4, 5], "v": [6, 11, 8], "w": [7, 9, 10]})
"""The salaries, in thousands, of table 5 of the t-closeness paper."""


@given(tables())
def test_equal_is_variational_and_agrees(rows: Rows) -> None:
    classes, everyone = wards(rows)
    expected = [oracles.variational_distance(values, everyone) for values in classes]
    for distance in ("equal", "variational"):
        assert TCloseness(0.2, distance).measure(groups_of(rows)) == pytest.approx(expected, abs=1e-14)


@given(tables())
def test_kl_agrees(rows: Rows) -> None:
    classes, everyone = wards(rows)
    expected = [oracles.kl_divergence(values, everyone) for values in classes]
    assert TCloseness(2, "kl").measure(groups_of(rows)) == pytest.approx(expected, abs=1e-13)


@given(tables(max_size=30), st.booleans())
def test_ordered_agrees(rows: Rows, whole_domain: bool) -> None:
    """Values no row has, known from a domain, make no steps."""
    classes, everyone = wards(rows)
    expected = [oracles.ordered_distance(values, everyone) for values in classes]
    groups = groups_of(rows, domain=LETTERS if whole_domain else None)
    assert TCloseness(0.2, "ordered").measure(groups) == pytest.approx(expected, abs=1e-14)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 200)), min_size=1, max_size=200))
def test_ordered_agrees_on_many_values(pairs: list[tuple[int, int]]) -> None:
    rows = [{"class": label, "ward": value} for label, value in pairs]
    classes, everyone = wards(rows)
    expected = [oracles.ordered_distance(values, everyone) for values in classes]
    assert TCloseness(0.2, "ordered").measure(groups_of(rows)) == pytest.approx(expected, abs=1e-13)


@given(tables(max_size=30))
def test_hierarchical_agrees(rows: Rows) -> None:
    classes, everyone = wards(rows)
    expected = [oracles.hierarchical_distance(values, everyone, PATHS) for values in classes]
    groups = groups_of(rows, domain=LETTERS, hierarchy=letter_tree())
    assert TCloseness(0.2, "hierarchical").measure(groups) == pytest.approx(expected, abs=1e-14)


@settings(max_examples=25, deadline=None)
@given(tables(max_size=8), st.lists(st.floats(0, 3), min_size=64, max_size=64))
def test_any_ground_distance_agrees_with_the_best_pairing(rows: Rows, numbers: list[float]) -> None:
    """Also where the ground distance is not symmetric and breaks the triangle inequality."""
    ground = np.array(numbers).reshape(8, 8)
    np.fill_diagonal(ground, 0.0)
    names = [None, *LETTERS]
    table = {(a, b): ground[i, j] for i, a in enumerate(names) for j, b in enumerate(names)}
    classes, everyone = wards(rows)
    expected = [oracles.transport_distance(values, everyone, table) for values in classes]
    groups = groups_of(rows, domain=LETTERS)
    assert TCloseness(1, ground).measure(groups) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(tables(max_size=20))
def test_linear_program_equals_the_closed_forms(rows: Rows) -> None:
    groups = groups_of(rows, domain=LETTERS, hierarchy=letter_tree())
    overall = groups.sensitive["ward"].overall
    place = np.cumsum(overall > 0)
    steps = max(int((overall > 0).sum()) - 1, 1)
    levels = letter_tree().levels
    apart = [
        [next(h for h in range(4) if level_meets(levels[h], i, j)) / 3 for i in range(8)] for j in range(8)
    ]
    for distance, ground in {
        "equal": 1.0 - np.eye(8),
        "ordered": np.abs(place[:, None] - place) / steps,
        "hierarchical": np.array(apart),
    }.items():
        closed = TCloseness(0.5, distance).measure(groups)
        assert TCloseness(0.5, ground).measure(groups) == pytest.approx(closed, abs=1e-9)


def level_meets(level: np.ndarray, i: int, j: int) -> bool:
    return bool(level[i] == level[j])


def test_the_papers_salaries() -> None:
    measured = TCloseness(0.2, "ordered").measure(groups_of(SALARIES))
    assert measured == pytest.approx([0.375, 1 / 6, 17 / 72], abs=1e-15)


def test_the_papers_diseases(shared_data: Path) -> None:
    """The taxonomy has height 3; the classes of the paper's table 4 by ZIP prefix and decade.

    Class 1 of the paper (gastric ulcer, gastritis, stomach cancer) lacks every lung disease: the whole has
    4/9 of them, and they cost 1 each. Inside the stomach diseases each of 1/3 faces 1/9, 2/9, 2/9: all
    surplus, no move.
    """
    folder = shared_data / "arx-examples"
    with (folder / "test2_hierarchy_Disease.csv").open() as lines:
        taxonomy = {leaf: path for leaf, *path in csv.reader(lines, delimiter=";")}
    with (folder / "test2.csv").open() as lines:
        patients = list(csv.DictReader(lines, delimiter=";"))
    rows = [{"class": number // 3, "ward": patient["Disease"]} for number, patient in enumerate(patients)]
    upper = [[path[level] for path in taxonomy.values()] for level in range(3)]
    tree = build_hierarchy(pa.array(list(taxonomy)), upper, column="Disease", ordered=False)
    groups = groups_of(rows, domain=tree.leaves.to_pylist(), hierarchy=tree)
    measured = TCloseness(0.5, "hierarchical").measure(groups)
    classes, everyone = wards(rows)
    assert measured[0] == pytest.approx(4 / 9, abs=1e-15)
    assert measured == pytest.approx([oracles.hierarchical_distance(c, everyone, taxonomy) for c in classes])


def test_hierarchical_by_hand() -> None:
    """Half the whole is b, half c, both stops: a class of b alone moves 1/2 at level 1 of 3."""
    groups = groups_of(rows_of({"u": "bb", "v": "cc"}), domain=LETTERS, hierarchy=letter_tree())
    assert TCloseness(0.2, "hierarchical").measure(groups) == pytest.approx([1 / 6, 1 / 6], abs=1e-15)


def test_null_hangs_under_the_root() -> None:
    groups = groups_of(rows_of({"u": [None], "v": ["a"]}), domain=LETTERS, hierarchy=letter_tree())
    assert TCloseness(0.5, "hierarchical").measure(groups).tolist() == [0.5, 0.5]


def test_equality_passes_and_a_hair_more_fails() -> None:
    groups = groups_of(SALARIES)
    assert TCloseness(0.375, "ordered").check(groups)
    assert not TCloseness(0.375 - 1e-6, "ordered").check(groups)
    thirds = groups_of(rows_of({"u": "abc", "v": "cab"}))
    assert TCloseness(0).check(thirds)


@pytest.mark.parametrize("distance", ["equal", "kl", "ordered", "hierarchical", 1.0 - np.eye(7)])
def test_homogeneous_class_fails_t_zero(distance: object) -> None:
    groups = groups_of(rows_of({"u": "aa", "v": "ef"}), domain=LETTERS, hierarchy=letter_tree())
    assert not TCloseness(0, distance).check(groups)  # type: ignore[arg-type]


@pytest.mark.parametrize("distance", ["equal", "kl", "ordered", "hierarchical", 1.0 - np.eye(7)])
def test_one_class_is_the_whole(distance: object) -> None:
    for values in ("a", "aa", "abbf"):
        groups = groups_of(rows_of({"u": values}), domain=LETTERS, hierarchy=letter_tree())
        assert TCloseness(0, distance).check(groups)  # type: ignore[arg-type]


def test_missing_hierarchy_names_the_column() -> None:
    with pytest.raises(SchemaError, match="'ward'"):
        TCloseness(0.2, "hierarchical").check(groups_of(SALARIES))


def test_ground_distance_fits_the_values() -> None:
    without = groups_of(rows_of({"u": "ab", "v": "c"}))
    with_null = groups_of(rows_of({"u": ["a", "b", "c"], "v": [None]}))
    three, four = 1.0 - np.eye(3), 1.0 - np.eye(4)
    assert TCloseness(1, three).measure(without) == pytest.approx(TCloseness(1).measure(without))
    assert TCloseness(1, four).measure(without) == pytest.approx(TCloseness(1).measure(without))
    assert TCloseness(1, four).measure(with_null) == pytest.approx(TCloseness(1).measure(with_null))
    with pytest.raises(SchemaError, match="has 3 rows, but the column 'ward' has 3 values and null"):
        TCloseness(1, three).check(with_null)
    with pytest.raises(SchemaError, match=r"has 2 rows.*a square matrix of 3 \(or 4, null first\) rows"):
        TCloseness(1, 1.0 - np.eye(2)).check(without)


@pytest.mark.parametrize(
    ("t", "distance", "name"),
    [
        (1.5, "equal", "t"),
        (-0.1, "kl", "t"),
        (0.2, "euclidean", "distance"),
        (0.2, None, "distance"),
        (0.2, [[0, 1]], "distance"),
        (0.2, [[0, -1], [1, 0]], "distance"),
        (0.2, [[1, 1], [1, 0]], "distance"),
        (0.2, [[0, float("nan")], [1, 0]], "distance"),
        (0.2, [[0, 1], [1]], "distance"),
        (0.2, [["x", "y"], ["x", "y"]], "distance"),
    ],
)
def test_errors_name_the_parameter(t: float, distance: object, name: str) -> None:
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of TCloseness"):
        TCloseness(t, distance)  # type: ignore[arg-type]


def test_kl_and_matrices_may_exceed_one() -> None:
    two = [[0, 5], [5, 0]]
    assert TCloseness(3, "kl").bound == 3.0
    assert repr(TCloseness(3, two)) == "TCloseness(t=3, distance=<2 x 2 matrix>)"
    assert TCloseness(3, two) == TCloseness(3, np.array(two))  # type: ignore[arg-type]
