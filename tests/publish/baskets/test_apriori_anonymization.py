"""Apriori-based anonymization, against all cuts of small trees tried by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.km import cuts, is_finer, is_km_anonymous, leaves, penalty, recoded

from discreet import from_mapping, tree
from discreet.core.baskets.baskets import Baskets
from discreet.core.errors import HierarchyError, InfeasibleError, InputError, ParameterError
from discreet.core.hierarchy.even_ranges import even_ranges
from discreet.publish.baskets.apriori_anonymization import AprioriAnonymization
from discreet.publish.baskets.item_tree import item_tree

FOOD: dict[str, Any] = {
    "food": {
        "fruit": {"apple": {}, "pear": {}, "fig": {}},
        "bakery": {"bread": {"rye": {}, "wheat": {}}, "cake": {}},
        "salt": {},
    }
}
ITEMS = leaves("food", FOOD["food"])


@st.composite
def shops(draw: st.DrawFn) -> list[list[str]]:
    basket = st.lists(st.sampled_from(ITEMS), unique=True, max_size=5)
    return draw(st.lists(basket, min_size=1, max_size=14))


def made(lists: list[list[str]], k: int, m: int) -> Any:
    return AprioriAnonymization(k, m, hierarchy=tree(FOOD), random_state=0).release(Baskets.from_lists(lists))


def cut_of(lists: list[list[str]], released: list[list[str]]) -> dict[str, str]:
    """Find the cut that turns the baskets into the released ones, unused leaves aside."""
    wanted = Counter(map(tuple, released))
    return next(
        cut for cut in cuts("food", FOOD["food"]) if Counter(map(tuple, recoded(lists, cut))) == wanted
    )


@settings(max_examples=150)
@given(shops(), st.integers(1, 4), st.integers(1, 4))
def test_a_release_is_valid_and_minimal(lists: list[list[str]], k: int, m: int) -> None:
    if 0 < sum(map(bool, lists)) < k:
        with pytest.raises(InfeasibleError, match="hold any item"):
            made(lists, k, m)
        return
    release = made(lists, k, m)
    released = release.data.lists()
    assert is_km_anonymous(released, k, m)
    assert release.verdict.ok
    cut = cut_of(lists, released)
    every = list(cuts("food", FOOD["food"]))
    valid = [one for one in every if is_km_anonymous(recoded(lists, one), k, m)]
    assert release.evidence.details["loss"] >= float(min(penalty(lists, one) for one in valid)) - 1e-12
    finer = [one for one in valid if is_finer(one, cut)]
    assert all(
        recoded(lists, one) == recoded(lists, cut) or penalty(lists, one) == penalty(lists, cut)
        for one in finer
    )


@given(shops(), st.integers(2, 3), st.integers(1, 3))
def test_the_reported_loss_is_the_loss_of_the_cut(lists: list[list[str]], k: int, m: int) -> None:
    if sum(map(bool, lists)) < k:
        return
    release = made(lists, k, m)
    labels = {label for basket in release.data.lists() for label in basket}
    covered = {name: leaves(name, below) for name, below in _nodes(FOOD)}
    paid = [
        next(len(covered[label]) for label in labels if item in covered[label])
        for one in lists
        for item in one
    ]
    expected = sum(n / len(ITEMS) for n in paid if n > 1) / len(paid)
    assert release.evidence.details["loss"] == pytest.approx(expected)
    assert release.evidence.details["loss"] <= release.evidence.details["loss_before_lowering"] + 1e-12


def _nodes(below: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [pair for name, rest in below.items() for pair in [(name, rest), *_nodes(rest)]]


def test_the_cheapest_generalization_is_chosen() -> None:
    lists = [["apple"]] * 9 + [["pear"]] + [["rye"]] * 9 + [["wheat"]]
    release = made(lists, 2, 1)
    assert Counter(map(tuple, release.data.lists())) == {("fruit",): 10, ("bread",): 10}
    assert release.evidence.details["loss"] == pytest.approx((3 + 2) / 2 / len(ITEMS))


def test_k_one_returns_the_input_in_some_order() -> None:
    data = Baskets.from_lists([[3, 1], [], [2], [2]])
    release = AprioriAnonymization(1, 3, random_state=1).release(data)
    assert sorted(release.data.lists()) == [[], [1, 3], [2], [2]]
    assert release.evidence.details["loss"] == 0
    assert data.lists() == [[1, 3], [], [2], [2]]


def test_numbers_without_a_hierarchy_become_ranges() -> None:
    data = Baskets.from_lists([[1], [2], [5], [5], [9], [9]])
    release = AprioriAnonymization(2, 1, fan_out=2, random_state=1).release(data)
    assert sorted(release.data.lists()) == [["5"], ["5"], ["9"], ["9"], ["[1, 2]"], ["[1, 2]"]]


def test_a_seed_gives_the_same_release_and_touches_nothing() -> None:
    data = Baskets.from_lists([["apple", "rye"], ["pear", "rye"], ["fig"], ["fig", "cake"]] * 3)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    several = [
        AprioriAnonymization(3, 2, hierarchy=tree(FOOD), random_state=5).release(data).data for _ in range(2)
    ]
    assert several[0].equals(several[1])
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


@given(shops(), st.integers(2, 3))
def test_the_order_of_baskets_does_not_matter(lists: list[list[str]], k: int) -> None:
    if sum(map(bool, lists)) < k:
        return
    one, other = made(lists, k, 2), made(lists[::-1], k, 2)
    assert Counter(map(tuple, one.data.lists())) == Counter(map(tuple, other.data.lists()))


def test_empty_baskets_and_none() -> None:
    empty = Baskets.from_lists([[], []])
    assert AprioriAnonymization(5, 2).release(empty).data.lists() == [[], []]
    with pytest.raises(InputError, match="no baskets"):
        AprioriAnonymization(2, 2).release(Baskets.from_lists([]))


def test_errors_name_parameters_and_no_items() -> None:
    data = Baskets.from_lists([["SECRET-1"], ["SECRET-2"], []])
    with pytest.raises(InfeasibleError, match=r"2 of the 3 baskets hold any item.*Use k=2") as error:
        AprioriAnonymization(3, 1).release(data)
    assert "SECRET" not in str(error.value)
    with pytest.raises(HierarchyError) as error:
        AprioriAnonymization(2, 1, hierarchy=tree({"x": ["SECRET-1"]})).release(data)
    assert "SECRET" not in str(error.value)
    for bad, name in (
        ({"k": 0}, "k"),
        ({"m": 0}, "m"),
        ({"fan_out": 1}, "fan_out"),
        ({"hierarchy": 3}, "hierarchy"),
    ):
        with pytest.raises(ParameterError, match=f"The '{name}' parameter of AprioriAnonymization"):
            AprioriAnonymization(**{"k": 2, "m": 2, **bad}).release(data)  # type: ignore[arg-type]


def test_two_nodes_of_one_name_are_refused() -> None:
    twice = from_mapping({"a": "x", "b": "x", "c": "y", "d": "y"}, {"x": "all", "y": "all"})
    data = Baskets.from_lists([["a"], ["b"], ["c"], ["d"]])
    assert AprioriAnonymization(2, 1, hierarchy=twice).release(data).data.n_items == 2
    clash = tree({"c": ["a", "b"], "y": ["c", "d"]})
    several = Baskets.from_lists([["a"], ["b"], ["c"], ["c"], ["d"], ["d"]])
    with pytest.raises(HierarchyError, match="name of another node"):
        AprioriAnonymization(2, 1, hierarchy=clash).release(several)


def test_a_tree_leaves_out_levels_at_which_nothing_changes() -> None:
    found = item_tree(
        tree({"school": ["primary", "secondary"], "university": None}), pa.array(["university"])
    )
    assert found.labels == ["primary", "secondary", "university", "school", "*"]
    assert found.parent.tolist() == [3, 3, 4, 4, -1]
    assert found.leaf.tolist() == [2]
    assert found.price.tolist() == pytest.approx([0, 0, 0, 2 / 3, 1])


def test_even_ranges_cover_all_items() -> None:
    ranges = even_ranges(pa.array(["a", "b", "c", "d", "e"]), 2)
    assert ranges.labels[1:] == ([None, "a … b", "c … d", "e"], [None, "a … d", "e"], ["*"])


def test_a_release_is_written_and_read_back(tmp_path: Path) -> None:
    from discreet.engines.baskets.published import read_published

    lists = [["apple", "rye"], ["pear", "rye"], ["fig"], [], ["fig", "cake"], ["apple", "cake"]]
    release = made(lists, 2, 2)
    folder = release.write(tmp_path / "out")
    assert sorted(p.name for p in folder.iterdir()) == ["baskets.csv", "release.json", "report.html"]
    read = read_published(folder)
    assert isinstance(read, Baskets)
    assert is_km_anonymous(read.lists(), 2, 2)


def test_real_baskets_and_their_tree(shared_data: Path) -> None:
    from discreet import read_hierarchy
    from discreet.engines.baskets.files import read_baskets

    folder = shared_data / "bms-webview-2"
    data = read_baskets(folder / "BMS-WebView-2.dat.gz")
    spec = read_hierarchy(folder / "treefile_BMS.txt.gz")
    release = AprioriAnonymization(5, 2, hierarchy=spec, random_state=0).release(data)
    assert release.verdict.ok
    assert is_km_anonymous(release.data.lists(), 5, 2)
    assert 0.01 < release.evidence.details["loss"] < 0.03
