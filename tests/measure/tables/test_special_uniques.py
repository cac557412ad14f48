"""Special uniques against their definition, sdcMicro's published figures, and a plain NumPy version on real data."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import uniques as oracles

from discreet import Table, person, quasi
from discreet.core.errors import ParameterError, SchemaError
from discreet.kernels.tables import column_subsets
from discreet.measure import column_sets, special_uniques

CELLS = st.none() | st.integers(0, 2)
ROWS = st.integers(1, 4).flatmap(lambda n: st.lists(st.tuples(*[CELLS] * n), min_size=1, max_size=14))
GUIDE = [
    ("Urban", "Female", "Secondary incomplete", "Employed"),
    ("Urban", "Female", "Secondary incomplete", "Employed"),
    ("Urban", "Female", "Primary incomplete", "Non-LF"),
    ("Urban", "Male", "Secondary complete", "Employed"),
    ("Rural", "Female", "Secondary complete", "Unemployed"),
    ("Urban", "Male", "Secondary complete", "Employed"),
    ("Urban", "Female", "Primary complete", "Non-LF"),
    ("Urban", "Male", "Post-secondary", "Unemployed"),
    ("Urban", "Female", "Secondary incomplete", "Non-LF"),
    ("Urban", "Female", "Secondary incomplete", "Non-LF"),
]
"""The ten people of the SDC Practice Guide of sdcMicro's authors (tables 4.1 and 4.5)."""


def table_of(rows: oracles.Rows) -> Table:
    names = [f"column {number}" for number in range(len(rows[0]))]
    columns = {name: [row[number] for row in rows] for number, name in enumerate(names)}
    return Table(pa.table(columns), {name: quasi() for name in names})


@given(rows=ROWS, max_size=st.integers(1, 4))
def test_scores_by_definition(rows: oracles.Rows, max_size: int) -> None:
    special = special_uniques(table_of(rows), max_size=max_size)
    max_size = min(max_size, len(rows[0]))
    minimal = oracles.minimal_uniques(rows, max_size)
    by_size = [
        sum(len(each) == size for sets in minimal.values() for each in sets)
        for size in range(1, max_size + 1)
    ]
    assert special.minimal_uniques == tuple(by_size)
    scores = [oracles.suda_score(rows, number, max_size) for number in range(len(rows))]
    assert sorted(np.repeat(special.scores, special.sizes)) == sorted(scores)
    assert special.uniques == len(oracles.singled_out(rows, tuple(range(len(rows[0])))))
    assert sum(special.contributions.values()) >= (1 - 1e-9 if any(scores) else 0)
    assert ((special.dis_scores > 0) == (special.scores > 0)).all()


@given(rows=ROWS, dense=st.sampled_from([0, 1 << 16]))
def test_sets_by_definition(rows: oracles.Rows, dense: int) -> None:
    """By counting in arrays, and by hashing, which large key spaces take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_subsets, "_DENSE", dense)
        sets = column_sets(table_of(rows), max_size=3)
    for each in sets:
        columns = tuple(int(name.split()[1]) for name in each.columns)
        assert each.distinction == len({tuple(row[c] for c in columns) for row in rows}) / len(rows)
        assert each.separation == pytest.approx(oracles.separation(rows, columns))
        assert each.uniques == len(oracles.singled_out(rows, columns))
    assert {len(each.columns) for each in sets} == set(range(1, min(3, len(rows[0])) + 1))


def test_hashed_keys_are_counted_as_listed_ones() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 300, (2_000, 3))
    counts = np.ones(2_000, np.int64)
    cards = np.full(3, 70_000, np.int64)
    subsets = column_subsets.subsets_of(3, 3)
    hashed = column_subsets.count_subsets(codes, cards, counts, subsets)
    listed = column_subsets.count_subsets(codes, np.full(3, 300, np.int64), counts, subsets)
    for first, second in zip(hashed, listed, strict=True):
        assert np.array_equal(first, second)
    assert hashed.classes[-2] == len(np.unique(codes[:, [0, 1]], axis=0))


def test_published_scores_of_the_practice_guide() -> None:
    table = table_of(GUIDE)
    scores = special_uniques(table, max_size=3).scores
    assert sorted(scores[scores > 0].tolist()) == [6, 6, 10, 12]
    dis = special_uniques(table, max_size=3, sampling_fraction=0.01, scoring="ihsn").dis_scores
    assert sorted(dis[dis > 0].round(4).tolist()) == [0.0051, 0.0051, 0.0088, 0.0107]


def test_published_contributions_of_sdcmicro() -> None:
    special = special_uniques(table_of([(2, 0, 0), (1, 3, 6), (1, 0, 0)]), max_size=3)
    assert list(special.contributions.values()) == [0.5, 0.375, 0.375]


def test_nobody_is_unique() -> None:
    special = special_uniques(table_of([("a", 1)] * 4))
    assert (special.uniques, special.dis, special.highest_score, special.mean_dis) == (0, 0, 0, 0)
    assert special.to_dict()["contributions"] == {"column 0": 0.0, "column 1": 0.0}


def test_one_row_of_one_column() -> None:
    special = special_uniques(table_of([("a",)]), max_size=5)
    assert special.minimal_uniques == (1,)
    assert column_sets(table_of([("a",)]))[0].separation == 1.0


def test_bad_input_is_one_line() -> None:
    table = table_of(GUIDE)
    with pytest.raises(ParameterError, match="The 'max_size' parameter of special_uniques must be an int"):
        special_uniques(table, max_size=0)
    with pytest.raises(ParameterError, match="The 'sampling_fraction' parameter"):
        special_uniques(table, sampling_fraction=0)
    wide = pa.table({f"c{number}": np.arange(40_000) for number in range(60)})
    with pytest.raises(ParameterError, match="lower it"):
        special_uniques(Table(wide, {name: quasi() for name in wide.column_names}), max_size=4)
    people = Table(pa.table({"who": [1, 1], "a": [1, 2]}), {"who": person(), "a": quasi()})
    with pytest.raises(SchemaError, match="'who' says whose row it is"):
        special_uniques(people)


def plain_numpy(codes: np.ndarray, max_size: int) -> list[int]:
    """The plain version, with numpy.unique for each set: the minimal uniques of each size."""
    single: dict[tuple[int, ...], np.ndarray] = {}
    totals = []
    for size in range(1, max_size + 1):
        total = 0
        for columns in combinations(range(codes.shape[1]), size):
            _, inverse, counts = np.unique(codes[:, columns], axis=0, return_inverse=True, return_counts=True)
            alone = (counts == 1)[inverse.ravel()]
            minimal = alone.copy()
            for part in combinations(columns, size - 1):
                if part:
                    minimal &= ~single[part]
            single[columns] = alone
            total += int(minimal.sum())
        totals.append(total)
    return totals


def test_plain_numpy_counts_the_same() -> None:
    rng = np.random.default_rng(3)
    codes = np.stack([rng.integers(0, card, 500) for card in (3, 40, 5, 9)], axis=1)
    rows = [tuple(row) for row in codes.tolist()]
    assert list(special_uniques(table_of(rows), max_size=3).minimal_uniques) == plain_numpy(codes, 3)
