"""Itemsets: every way of mining gives what looking at every subset gives, and what other libraries give."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import itemsets as oracles

from discreet.core.baskets.baskets import Baskets
from discreet.core.errors import InputError, ParameterError
from discreet.kernels.itemsets import projection
from discreet.mine import FoundItemsets, Itemsets
from discreet.mine.itemsets import itemsets

ROWS = st.lists(st.lists(st.integers(0, 7), max_size=8), max_size=30)
WAYS = ["levels", "columns", "rows"]

# The itemsets of each length from one item on, the sum of their counts, the closed ones and the maximal ones, as pyfim
# 6.28 counts them. In mushroom one item is in all 8,124 baskets; pyfim leaves that single item out, and here it is in.
KNOWN: dict[tuple[str, int], tuple[list[int], int, int, int]] = {
    ("fimi/T10I4D100K", 500): ([569, 342, 110, 43, 9], 1_257_955, 1073, 585),
    ("fimi/T10I4D100K", 100): (
        [797, 8831, 7130, 5499, 3188, 1429, 503, 130, 23, 2],
        6_659_711,
        26_806,
        4054,
    ),
    ("fimi/retail", 50): ([3642, 7131, 4602, 1269, 131, 3], 2_453_233, 16_676, 7112),
    ("fimi/mushroom", 1500): (
        [44, 419, 1713, 4160, 7129, 9570, 10_578, 9630, 7034, 4005, 1729, 546, 119, 16, 1],
        103_651_620 + 8124,
        1421,
        188,
    ),
    ("fimi/chess", 2200): (
        [27, 253, 1336, 4295, 9060, 13_155, 13_563, 10_046, 5227, 1809, 373, 36, 1],
        140_745_847,
        28_358,
        1047,
    ),
    ("fimi/kosarak_first36682", 100): ([366, 1399, 2165, 1668, 664, 126, 6], 1_290_276, 5121, 966),
    ("bms-webview-1/BMS-WebView-1", 60): ([343, 1573, 1492, 522, 59, 2], 489_207, 3974, 2067),
    ("bms-webview-2/BMS-WebView-2", 80): (
        [1113, 1307, 1872, 3284, 4514, 4744, 3213, 1338, 271, 19],
        2_815_023,
        20_839,
        3654,
    ),
}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Mine one way, whatever suits the data."""
    chosen: str = request.param
    monkeypatch.setattr(itemsets, "_method", lambda data, items, counts: chosen)
    return chosen


@given(rows=ROWS, least=st.integers(1, 6))
def test_the_sets_are_those_of_the_definition(rows: list[list[int]], least: int) -> None:
    baskets = oracles.baskets_of(rows, 8)
    expected = oracles.frequent(rows, least)
    for data in (baskets, baskets.bits()):
        assert Itemsets(least).mine(data).as_dict() == expected
    for chosen, most in ((way, most) for way in WAYS for most in (projection.MOST_ITEMS, 1)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(itemsets, "_method", lambda data, items, counts, chosen=chosen: chosen)
            patch.setattr(projection, "MOST_ITEMS", most)
            for data in (baskets, baskets.bits()):
                assert Itemsets(least).mine(data).as_dict() == expected


@given(rows=ROWS, least=st.integers(1, 5), longest=st.none() | st.integers(1, 4))
def test_closed_and_maximal_are_those_of_the_definition(
    rows: list[list[int]], least: int, longest: int | None
) -> None:
    baskets = oracles.baskets_of(rows, 8)
    every = oracles.frequent(rows, least)
    for kind, definition in (("closed", oracles.closed), ("maximal", oracles.maximal)):
        expected = {items: n for items, n in definition(every).items() if len(items) <= (longest or 9)}
        found = Itemsets(least, kind=kind, max_length=longest).mine(baskets)  # type: ignore[arg-type]
        assert found.as_dict() == expected
        assert found.kind == kind


@given(rows=ROWS, least=st.integers(1, 4), longest=st.integers(1, 4), some=st.sets(st.integers(0, 7)))
def test_lengths_and_items_are_filtered(
    rows: list[list[int]], least: int, longest: int, some: set[int]
) -> None:
    baskets = oracles.baskets_of(rows, 8)
    every = oracles.frequent(rows, least)
    short = {items: n for items, n in every.items() if len(items) <= longest}
    found = Itemsets(least, max_length=longest, include=some).mine(baskets)
    assert found.as_dict() == {items: n for items, n in short.items() if items <= some}
    found = Itemsets(least, max_length=longest, exclude=some).mine(baskets)
    assert found.as_dict() == {items: n for items, n in short.items() if not items & some}


def test_wide_random_data_is_the_same_each_way(way: str) -> None:
    rng = np.random.default_rng(3)
    shares = rng.random(60) ** 3
    held = rng.random((20_000, 60)) < shares * 0.6
    baskets = Baskets.from_entries(*np.nonzero(held), pa.array(range(60)), n=20_000)
    found = Itemsets(0.05).mine(baskets)
    assert found.lengths.max() >= 4
    for items, count in list(found)[:: max(len(found) // 50, 1)]:
        assert held[:, list(items)].all(axis=1).sum() == count
    assert (
        len(found) == len(Itemsets(0.05).mine(baskets.bits())) == len(Itemsets(1000).mine(baskets).as_dict())
    )
    keys = list(zip(found.lengths.tolist(), [items for items, _ in found], strict=True))
    assert keys == sorted(keys)


def test_strips_of_the_triangle_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.mine.itemsets import apriori as level_wise

    rng = np.random.default_rng(5)
    rows = [np.flatnonzero(rng.random(40) < 0.2).tolist() for _ in range(300)]
    baskets = oracles.baskets_of(rows, 40)
    monkeypatch.setattr(itemsets, "_method", lambda data, items, counts: "levels")
    whole = Itemsets(9).mine(baskets).as_dict()
    monkeypatch.setattr(level_wise, "_STRIP", 1)
    assert Itemsets(9).mine(baskets).as_dict() == whole == oracles.frequent(rows, 9)


def test_the_way_follows_the_data() -> None:
    rng = np.random.default_rng(1)
    dense = oracles.baskets_of([np.flatnonzero(rng.random(20) < 0.5).tolist() for _ in range(200)])
    wide = oracles.baskets_of([rng.choice(5000, 4, replace=False).tolist() for _ in range(2000)], 5000)
    thin = oracles.baskets_of([rng.choice(300, 20, replace=False).tolist() for _ in range(5000)], 300)
    assert itemsets._method(dense, np.arange(20, dtype=np.int32), dense.counts) == "columns"
    assert itemsets._method(wide, np.arange(5000, dtype=np.int32), wide.counts) == "rows"
    assert itemsets._method(thin, np.arange(300, dtype=np.int32), thin.counts) == "levels"


@pytest.mark.parametrize(
    ("support", "n", "least"),
    [(0.3, 10, 3), (0.07, 100, 7), (0.1 + 0.2, 10, 3), (1.0, 7, 7), (1, 7, 1), (1 / 3, 9, 3), (0.301, 10, 4)],
)
def test_a_share_is_taken_as_it_is_written(support: float, n: int, least: int) -> None:
    rows = [[0] * (row < least) + [1] * (row < least - 1) for row in range(n)]
    found = Itemsets(support).mine(oracles.baskets_of(rows, 2)).as_dict()
    assert frozenset({0}) in found
    assert (frozenset({1}) in found) == (least - 1 >= 1 and support == 1 and isinstance(support, int))


@pytest.mark.parametrize("support", [0, 0.0, -0.1, 1.5, True, False, "0.1", None, float("nan"), -3])
def test_a_support_that_is_none_is_refused(support: Any) -> None:
    with pytest.raises(ParameterError, match="'min_support' parameter of Itemsets must be an int in"):
        Itemsets(support).mine(oracles.baskets_of([[0]]))


def test_bad_parameters_are_named() -> None:
    baskets = oracles.baskets_of([[0, 1], [1]])
    for name, value in (("kind", "all"), ("max_length", 0), ("include", "abc"), ("exclude", 3)):
        with pytest.raises(ParameterError, match=f"'{name}' parameter of Itemsets"):
            Itemsets(1, **{name: value}).mine(baskets)
    with pytest.raises(ParameterError, match="'baskets' parameter of Itemsets"):
        Itemsets(1).mine([[0, 1]])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="1 of the 2 items of 'include' do not occur") as caught:
        Itemsets(1, include=[0, 77]).mine(baskets)
    assert "77" not in str(caught.value)
    with pytest.raises(InputError, match="not of the baskets' kind"):
        Itemsets(1, exclude=["x"]).mine(baskets)


def test_nothing_gives_nothing(way: str) -> None:
    for rows in ([], [[], []], [[0], [1]]):
        found = Itemsets(2).mine(oracles.baskets_of(rows, 2))
        assert len(found) == 0
        assert found.table.num_rows == 0
        assert found.as_dict() == {}


def test_what_was_found_is_a_table_and_plain_python() -> None:
    baskets = oracles.baskets_of([[0, 1], [0, 1, 2], [1, 2], []])
    found = Itemsets(2).mine(baskets)
    assert isinstance(found, FoundItemsets)
    assert found.table.to_pydict() == {
        "itemsets": [[0], [1], [2], [0, 1], [1, 2]],
        "support": [0.5, 0.75, 0.5, 0.5, 0.5],
        "count": [2, 3, 2, 2, 2],
        "length": [1, 1, 1, 2, 2],
    }
    assert isinstance(found.table.to_pandas(), pd.DataFrame)
    assert list(found.of_length(2)) == [((0, 1), 2), ((1, 2), 2)]
    assert len(found.of_length(5)) == 0
    assert found.subsets.tolist() == [-1, -1, -1, 1, 0, 2, 1]
    assert repr(found) == "FoundItemsets(5 frequent itemsets of 4 baskets)"


@settings(max_examples=15)
@given(rows=ROWS.filter(lambda rows: any(rows)), share=st.sampled_from([0.1, 0.25, 0.3, 0.5]))
def test_mlxtend_agrees(rows: list[list[int]], share: float) -> None:
    mlxtend = pytest.importorskip("mlxtend.frequent_patterns")
    held = np.zeros((len(rows), 8), np.bool_)
    for number, row in enumerate(rows):
        held[number, row] = True
    theirs = mlxtend.fpgrowth(pd.DataFrame(held, columns=range(8)), min_support=share)
    expected = {frozenset(items): round(n * len(rows)) for items, n in theirs[["itemsets", "support"]].values}
    assert Itemsets(share).mine(oracles.baskets_of(rows, 8)).as_dict() == expected


@pytest.mark.parametrize(("name", "least"), list(KNOWN))
def test_real_data_has_the_known_itemsets(shared_data: Path, name: str, least: int) -> None:
    by_length, total, n_closed, n_maximal = KNOWN[name, least]
    baskets = read(shared_data / f"{name}.dat.gz")
    found = Itemsets(least).mine(baskets)
    assert np.bincount(found.lengths)[1:].tolist() == by_length
    assert found.counts.sum() == total
    assert len(Itemsets(least, kind="closed").mine(baskets)) == n_closed
    assert len(Itemsets(least, kind="maximal").mine(baskets)) == n_maximal


def test_the_ways_agree_on_real_data(shared_data: Path, way: str) -> None:
    by_length, total, _, _ = KNOWN["bms-webview-1/BMS-WebView-1", 60]
    found = Itemsets(60).mine(read(shared_data / "bms-webview-1" / "BMS-WebView-1.dat.gz"))
    assert np.bincount(found.lengths)[1:].tolist() == by_length
    assert found.counts.sum() == total


def test_pyfim_agrees(shared_data: Path) -> None:
    fim = pytest.importorskip("fim")
    for name, least in (("retail", 100), ("mushroom", 2000)):
        lines = lines_of(shared_data / "fimi" / f"{name}.dat.gz")
        theirs = {frozenset(items): n for items, n in fim.eclat(lines, "s", -least, 1, report="a")}
        ours = Itemsets(least).mine(read(shared_data / "fimi" / f"{name}.dat.gz")).as_dict()
        by_all = {frozenset({item}) for item, n in Counter(i for row in lines for i in row).items()}
        assert {items: n for items, n in ours.items() if items in theirs} == theirs
        assert all(items in by_all and n == len(lines) for items, n in ours.items() if items not in theirs)


def lines_of(path: Path) -> list[list[int]]:
    with gzip.open(path, "rt") as stream:
        return [sorted({int(word) for word in line.split() if int(word) >= 0}) for line in stream]


def read(path: Path) -> Baskets:
    """Read FIMI or SPMF lines, whatever other readers do."""
    lines = lines_of(path)
    names = sorted({item for row in lines for item in row})
    place = {name: code for code, name in enumerate(names)}
    codes: Iterable[int] = (place[item] for row in lines for item in row)
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in lines])])
    return Baskets(indptr, np.fromiter(codes, np.int32), pa.array(names))


def test_names_that_could_be_gone_through_only_once_are_refused() -> None:
    baskets = oracles.baskets_of([[0, 1], [0, 1], [2]])
    for name in ("include", "exclude"):
        with pytest.raises(
            ParameterError, match=f"'{name}' parameter of Itemsets must be a list of item names"
        ):
            Itemsets(1, **{name: (item for item in [0, 1])}).mine(baskets)
        with pytest.raises(ParameterError, match=f"'{name}' parameter"):
            Itemsets(1, **{name: "bread"}).mine(baskets)
    for names in ((0, 1), {0, 1}, np.array([0, 1]), pa.array([0, 1]), pd.Series([0, 1])):
        assert len(Itemsets(1, include=names).mine(baskets)) == 3


def test_names_that_are_no_text_are_refused_without_being_shown() -> None:
    baskets = Baskets.from_lists([["bread"]])
    with pytest.raises(InputError, match="'include' names items that are not of the baskets' kind") as caught:
        Itemsets(1, include=["\ud800secret"]).mine(baskets)
    assert caught.value.__suppress_context__


def test_a_share_is_taken_as_it_is_written_in_any_precision() -> None:
    baskets = oracles.baskets_of([[0]] * 3 + [[1]] * 7)
    for share in (0.3, np.float32(0.3), np.float64(0.3)):
        assert len(Itemsets(share).mine(baskets)) == 2
