from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import cahd as oracles_cahd
from tests.strategies import baskets as strategies_baskets

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets, group_item_counts
from discreet.core.errors import InputError, ParameterError
from discreet.engines.baskets.published import read_published, write_published

FORMATS = ["csv", "tsv", "parquet", "arrow"]
CUSTOMERS = [
    ["wine", "meat"],
    ["wine", "meat"],
    ["wine", "meat", "cream"],
    ["meat", "strawberries"],
    ["cream", "strawberries"],
]
SECRETS = [["viagra"], [], [], [], ["pregnancy test"]]


@pytest.fixture
def customers() -> GroupedBaskets:
    return GroupedBaskets.of(Baskets.from_lists(CUSTOMERS), [0, 0, 0, 1, 1], Baskets.from_lists(SECRETS))


@st.composite
def published(draw: st.DrawFn) -> tuple[Baskets, GroupedBaskets, Baskets]:
    """Baskets with a few sensitive items, in any groups."""
    whole = draw(strategies_baskets.baskets(min_baskets=1, used=True))
    is_held = np.arange(whole.n_items) < draw(st.integers(0, whole.n_items))
    ordinary, held = whole.keep(~is_held), whole.keep(is_held)
    labels = draw(st.lists(st.integers(0, 3), min_size=len(whole), max_size=len(whole)))
    _, group = np.unique(labels, return_inverse=True)
    return ordinary, GroupedBaskets.of(ordinary, group, held), held


def test_the_paper_s_estimate(customers: GroupedBaskets) -> None:
    assert customers.count("pregnancy test", ["cream", "strawberries"]) == 0.5
    assert customers.count("viagra", ["wine", "meat"]) == 1.0
    assert customers.count("viagra") == customers.count("pregnancy test") == 1.0
    assert customers.count(None, ["wine"], ["cream"]) == 2.0
    assert customers.count("viagra", ["wine"], ["wine"]) == 0.0


@given(published(), st.data())
def test_counts_and_cells_are_those_of_equation_2(
    made: tuple[Baskets, GroupedBaskets, Baskets], data: st.DataObject
) -> None:
    ordinary, grouped, held = made
    names = ordinary.names.to_pylist()
    secrets = held.names.to_pylist()
    if not names or not secrets:
        return
    secret = data.draw(st.sampled_from(secrets))
    asked = data.draw(st.lists(st.sampled_from(names), max_size=4, unique=True))
    cut = data.draw(st.integers(0, len(asked)))
    holders = [secret in one for one in held.lists()]
    lists, groups = ordinary.lists(), grouped.group.tolist()
    expected = oracles_cahd.count(lists, groups, holders, set(asked[:cut]), set(asked[cut:]))
    assert grouped.count(secret, asked[:cut], asked[cut:]) == pytest.approx(float(expected))
    cells = grouped.cells(secret, asked)
    assert cells.shape == (2,) * len(asked)
    for cell, value in oracles_cahd.cells(lists, groups, holders, asked).items():
        assert cells[cell] == pytest.approx(float(value))
    assert cells.sum() == pytest.approx(sum(holders))
    assert grouped.cells(None, asked).sum() == len(ordinary)


@pytest.mark.parametrize("kind", FORMATS)
@given(made=published())
def test_files_give_back_what_was_published(
    tmp_path_factory: pytest.TempPathFactory, kind: str, made: tuple[Baskets, GroupedBaskets, Baskets]
) -> None:
    _, grouped, held = made
    folder = tmp_path_factory.mktemp("files")
    write_published(grouped, folder, kind)
    names = held.names if held.n_items else grouped.baskets.names
    text = pa.types.is_string(names.type)
    (folder / "release.json").write_text(f'{{"items": "{"text" if text else "numbers"}"}}')
    found = read_published(folder)
    assert found.baskets.lists() == grouped.baskets.lists()
    assert found.group.tolist() == grouped.group.tolist()
    assert summary(found) == summary(grouped)


def summary(grouped: GroupedBaskets) -> list[tuple[int, Any, int]]:
    held = grouped.sensitive
    names = grouped.sensitive_names.to_pylist()
    return [
        (int(group), names[code], int(count))
        for group, code, count in zip(held.group, held.values, held.counts, strict=True)
    ]


@pytest.mark.parametrize("kind", FORMATS)
def test_plain_baskets_have_one_file(tmp_path: Path, kind: str) -> None:
    baskets = Baskets.from_lists([["a", "b"], [], ["b"]])
    assert [path.name for path in write_published(baskets, tmp_path, kind)] == [f"baskets.{kind}"]
    found = read_published(tmp_path)
    assert isinstance(found, Baskets)
    assert found.lists() == baskets.lists()


def test_items_without_a_recipe_are_numbers_where_all_are_written_so(tmp_path: Path) -> None:
    (tmp_path / "baskets.csv").write_text("group,basket,item\n0,0,17\n0,1,\n")
    (tmp_path / "sensitive.csv").write_text("group,item,count\n0,5,1\n")
    assert read_published(tmp_path).baskets.lists() == [[17], []]
    (tmp_path / "sensitive.csv").write_text("group,item,count\n0,x,1\n")
    assert read_published(tmp_path).baskets.lists() == [["17"], []]


@pytest.mark.parametrize(
    ("baskets", "sensitive"),
    [
        ("group,basket,item\n0,0,a\n1,0,b\n", "group,item,count\n0,s,1\n"),
        ("group,basket,item\n0,0,a\n0,2,b\n", "group,item,count\n0,s,1\n"),
        ("group,basket,item\n0,0,a\n", "group,item,count\n0,s,2\n"),
        ("group,basket,item\n0,0,a\n", "group,item,count\n1,s,1\n"),
        ("group,basket,item\n0,0,a\n", "group,item,count\n0,s,0\n"),
        ("group,basket,item\n0,0,a\n", "group,item,count\n0,s,1\n0,s,1\n"),
        ("group,basket,item\n0,0,a\n2,1,a\n", "group,item,count\n0,s,1\n"),
        ("group,basket,item\nx,0,SECRET\n", "group,item,count\n0,s,1\n"),
        ("group,item\n0,a\n", "group,item,count\n0,s,1\n"),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path: Path, baskets: str, sensitive: str) -> None:
    (tmp_path / "baskets.csv").write_text(baskets)
    (tmp_path / "sensitive.csv").write_text(sensitive)
    with pytest.raises(InputError) as caught:
        read_published(tmp_path)
    assert "SECRET" not in str(caught.value)


def test_a_folder_without_baskets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no published baskets"):
        read_published(tmp_path)


def test_one_arrow_table_has_a_row_for_each_group(customers: GroupedBaskets) -> None:
    table = customers.to_arrow().to_pylist()
    assert [len(row["baskets"]) for row in table] == [3, 2]
    assert sorted(map(sorted, table[1]["baskets"])) == [["cream", "strawberries"], ["meat", "strawberries"]]
    assert table[0]["sensitive"] == [{"item": "viagra", "count": 1}]


def test_questions_that_make_no_sense_are_refused(customers: GroupedBaskets) -> None:
    with pytest.raises(InputError, match="'with_items'"):
        customers.count("viagra", ["viagra"])
    with pytest.raises(InputError, match="'sensitive'"):
        customers.count("wine")
    with pytest.raises(InputError, match="twice"):
        customers.cells("viagra", ["wine", "wine"])
    many = GroupedBaskets.of(Baskets.from_lists([list(range(30))]), [0], Baskets.from_lists([["s"]]))
    with pytest.raises(ParameterError, match="number of items"):
        many.cells("s", range(21))


def test_groups_that_do_not_fit_are_refused() -> None:
    ordinary = Baskets.from_lists([["a"], ["b"]])
    held = Baskets.from_lists([["s"], []])
    for group in ([0], [0, 2], [-1, 0]):
        with pytest.raises(InputError):
            GroupedBaskets.of(ordinary, group, held)
    counts = group_item_counts(np.array([0]), np.array([0]), np.array([3]), n_groups=1, n_items=1)
    with pytest.raises(InputError, match="more holders"):
        GroupedBaskets(ordinary, np.zeros(2, np.int32), counts, pa.array(["s"]))
    counts = group_item_counts(np.array([0]), np.array([1]), np.array([1]), n_groups=1, n_items=2)
    with pytest.raises(InputError, match="no name"):
        GroupedBaskets(ordinary, np.zeros(2, np.int32), counts, pa.array(["s"]))
