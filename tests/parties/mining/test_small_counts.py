"""Small counts: never opened, nor to be found by subtraction; what is opened is that of the pooled rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.coarse_tables import blocks, quantile_ranks
from tests.oracles.opened_counts import OpenedTree
from tests.parties.inspector import assert_as_revealed, assert_indistinguishable, views
from tests.parties.splits import by_party, split_rows

from discreet.core.errors import InputError, ParameterError
from discreet.parties import PartyError, SecureSum, simulate
from discreet.parties.mining import (
    AssociationRules,
    HorizontalKMeans,
    HorizontalLogistic,
    HorizontalNaiveBayes,
    HorizontalQuantiles,
    HorizontalRidge,
    HorizontalStatistics,
    HorizontalTree,
    PeopleMatching,
    VerticalKMeans,
    VerticalNaiveBayes,
    VerticalRules,
    VerticalStatistics,
    VerticalTree,
    model_to_dict,
)
from discreet.parties.mining.models import decision_tree, horizontal, naive_bayes
from discreet.parties.mining.models.tree_protocol import TreeProtocol
from discreet.parties.mining.rules import association_rules
from discreet.parties.sets.private_sets import UnitedItems
from discreet.parties.shares import coarse_tables
from discreet.parties.shares.comparison import Comparison

LETTERS = ("p", "q", "r", "s", "t")
UNIT = {"x": (0.0, 8.0)}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """All coarse tables that a run opens."""
    found: list[Any] = []
    real = coarse_tables.coarse_tables

    def keep(*args: Any, **given: Any) -> Any:
        tables = real(*args, **given)
        found.extend(tables)
        return tables

    for module in (horizontal, naive_bayes, decision_tree):
        monkeypatch.setattr(module, "coarse_tables", keep)
    return found


def rows_of(seed: int, n: int, names: str = "abc") -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        name: {
            "x": np.round(rng.normal(4, 2, n).clip(0, 8), 2),
            "y": rng.integers(0, 3, n),
            "c": rng.choice(LETTERS, n, p=[0.5, 0.3, 0.1, 0.07, 0.03]),
        }
        for name in names
    }


def pooled(rows: dict[str, Any], column: str) -> np.ndarray[Any, Any]:
    return np.concatenate([held[column] for held in rows.values()])


@pytest.mark.parametrize("seed", range(3))
def test_histograms_are_those_of_the_pooled_rows_with_intervals_joined(seed: int, opened: list[Any]) -> None:
    rows = rows_of(seed, 25)
    protocol = HorizontalStatistics(columns=("x",), ranges=UNIT, bins=13)
    run = simulate(protocol, rows)
    assert_as_revealed(run, protocol, tuple("abc"))
    edges, counts = run.outputs["b"].model.histograms["x"]
    plain, all_edges = np.histogram(pooled(rows, "x"), bins=13, range=(0, 8))
    wanted = blocks(plain[:, None].tolist(), 5)
    assert edges.tolist() == [0.0, *(all_edges[last + 1] for _, last in wanted)]
    assert counts.tolist() == [plain[first : last + 1].sum() for first, last in wanted]
    assert not ((counts > 0) & (counts < 5)).any()
    assert any("joined" in caution for caution in run.cautions["b"])


@pytest.mark.parametrize("kind", ["horizontal", "vertical"])
@pytest.mark.parametrize("seed", range(2))
def test_trees_open_no_small_count_and_none_follows(seed: int, kind: str, opened: list[Any]) -> None:
    """Tables have the classes of a node and of its sibling, so that neither follows from the other one's."""
    described: dict[str, Any] = {
        "target": "y", "classes": (0, 1, 2, 3), "categories": {"c": LETTERS}, "ranges": UNIT, "bins": 8, "max_depth": 3,
    }  # fmt: skip
    if kind == "horizontal":
        protocol: Any = HorizontalTree(columns=("x", "c"), **described)
        inputs = rows_of(seed, 30)
    else:
        columns = {"a": ("x",), "b": ("c",)}
        protocol = VerticalTree(columns=columns, holder="b", **described)
        rows = rows_of(seed, 90, "a")["a"]
        inputs = {"a": {"x": rows["x"]}, "b": {"c": rows["c"], "y": rows["y"]}}
    run = simulate(protocol, inputs)
    assert_as_revealed(run, protocol, tuple(inputs))
    assert opened
    for table in opened:
        assert not ((table.counts > 0) & (table.counts < 5)).any()
    widths = {table.counts.shape[1] for table in opened}
    assert widths <= {4, 8}
    labels = np.concatenate([np.atleast_1d(held["y"]) for held in inputs.values() if "y" in held])
    frame = {name: np.concatenate([h[name] for h in inputs.values() if name in h]) for name in ("x", "c")}
    assert_tree_is_right(run.outputs["a"].model, frame, labels)


def three_generations() -> dict[str, list[int]]:
    """Rows of which the root splits by a, its first child by b; of the other child one row has d = 1."""
    cells = {
        (0, 0, 0): 30, (0, 0, 1): 30, (0, 1, 0): 10, (0, 1, 1): 10, (1, 0, 0): 99, (1, 0, 1): 1, (1, 1, 0): 100,
    }  # fmt: skip
    sick = {(0, 0, 0): 10, (0, 0, 1): 10, (0, 1, 0): 30, (0, 1, 1): 30}
    rows = [(*cell, 0) for cell, n in cells.items() for _ in range(n)]
    rows += [(*cell, 1) for cell, n in sick.items() for _ in range(n)]
    return {name: [row[at] for row in rows] for at, name in enumerate("abdy")}


@pytest.mark.parametrize("kind", ["horizontal", "vertical"])
def test_no_small_count_follows_from_the_tables_of_three_generations(kind: str, opened: list[Any]) -> None:
    """The count of the one row is that of the root less those of its sibling's children, if all three are opened."""
    described: dict[str, Any] = {
        "target": "y", "classes": (0, 1), "ranges": dict.fromkeys("abd", (0, 2)), "bins": 2, "max_depth": 3,
    }  # fmt: skip
    rows = three_generations()
    if kind == "horizontal":
        protocol: Any = HorizontalTree(columns=("a", "b", "d"), **described)
        inputs = {name: {key: column[at::3] for key, column in rows.items()} for at, name in enumerate("pqr")}
    else:
        protocol = VerticalTree(columns={"p": ("a", "b"), "q": ("d",)}, holder="q", **described)
        inputs = {"p": {key: rows[key] for key in "ab"}, "q": {key: rows[key] for key in "dy"}}
    run = simulate(protocol, inputs)
    assert_as_revealed(run, protocol, tuple(inputs))
    by_d = opened[2::3]
    roots = [table for table in by_d if table.counts.shape[1] == 2]
    grandchildren = [table for table in by_d if table.counts.shape[1] == 4 and table.counts.sum() == 160]
    assert roots
    assert grandchildren
    assert {table.n_blocks for table in roots} == {2}
    assert {table.n_blocks for table in grandchildren} == {1}, "41 at the root, less 40, is 1"


@pytest.fixture
def grown_from(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, list[Any]]]:
    """For each party: the nodes of its tree, and each group of them with the coarse tables that were opened for it."""
    runs: dict[int, tuple[Any, list[Any]]] = {}
    found: list[tuple[Any, list[Any]]] = []
    real = TreeProtocol.split_coarse

    def keep(self: Any, nodes: Any, columns: Any, group: Any, tables: Any) -> Any:
        if id(nodes) not in runs:
            runs[id(nodes)] = (nodes, [])
            found.append(runs[id(nodes)])
        runs[id(nodes)][1].append((group, tables))
        return real(self, nodes, columns, group, tables)

    for protocol in (HorizontalTree, VerticalTree):
        monkeypatch.setattr(protocol, "split_coarse", keep)
    return found


TREE_SIZES = {"a": 2, "b": 3, "d": 4}


def counts_that_follow(kind: str, seed: int, grown_from: list[Any]) -> list[Any]:
    """Grow a tree from random cells, of which many have few rows, and return the small counts that follow."""
    rng = np.random.default_rng(seed)
    sizes = [*TREE_SIZES.values(), 2]
    n_cells = 14
    cells = rng.choice(int(np.prod(sizes)), n_cells, replace=False)
    numbers = rng.permutation(np.repeat(cells, rng.choice([1, 2, 4, 9, 20], n_cells)))
    values = dict(zip([*TREE_SIZES, "y"], np.unravel_index(numbers, sizes), strict=True))
    described: dict[str, Any] = {
        "target": "y", "classes": (0, 1), "max_depth": 3, "min_count": 3,
        "categories": {name: tuple(range(size)) for name, size in TREE_SIZES.items()},
    }  # fmt: skip
    if kind == "horizontal":
        protocol: Any = HorizontalTree(columns=tuple(TREE_SIZES), **described)
        inputs = {
            name: {key: v[at::3].tolist() for key, v in values.items()} for at, name in enumerate("pqr")
        }
    else:
        protocol = VerticalTree(columns={"p": ("a", "b"), "q": ("d",)}, holder="q", **described)
        inputs = {"p": {key: values[key] for key in "ab"}, "q": {key: values[key] for key in "dy"}}
    simulate(protocol, inputs)
    nodes, opened = grown_from[0]
    judge = OpenedTree([*TREE_SIZES.values()], 2, nodes, opened)
    return judge.small_that_follow(np.array(list(values.values())), 3)


@pytest.mark.parametrize(
    ("kind", "seed"), [*(("horizontal", n) for n in range(8)), *(("vertical", n) for n in range(4))]
)
def test_no_small_count_of_a_node_follows_from_all_that_is_opened(
    kind: str, seed: int, grown_from: Any
) -> None:
    assert counts_that_follow(kind, seed, grown_from) == []


@pytest.mark.parametrize("kind", ["horizontal", "vertical"])
def test_small_counts_follow_if_children_are_cut_where_their_parents_are_not(
    kind: str, grown_from: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judge sees what the nesting of tables prevents."""
    real = coarse_tables.coarse_tables
    for module in (horizontal, decision_tree):
        monkeypatch.setattr(
            module, "coarse_tables", lambda *args, within=None, **options: real(*args, **options)
        )
    assert counts_that_follow(kind, 1, grown_from)


def assert_tree_is_right(model: Any, frame: dict[str, Any], labels: Any) -> None:
    """The counts of every leaf are those of the rows that reach it."""
    import pandas as pd

    shares = model.predict_proba(pd.DataFrame(frame))
    for leaf in np.unique(shares, axis=0):
        inside = (shares == leaf).all(axis=1)
        expected = np.bincount(labels[inside], minlength=shares.shape[1]) / inside.sum()
        assert expected.tolist() == pytest.approx(leaf.tolist())
        assert inside.sum() >= 5


FEW = {
    name: {"x": [0, 1, 2] + [0, 1] * 9, "z": [at / 7 for at in range(21)], "y": [0, 1, 0] * 7}
    for name in "abc"
}


@pytest.mark.parametrize(
    "kind",
    [
        *("statistics", "vertical-statistics", "naive-bayes", "vertical-naive-bayes"),
        *("logistic-regression", "k-means", "vertical-k-means"),
    ],
)
def test_columns_of_few_values_are_declared_and_have_a_caution(kind: str) -> None:
    """Their counts follow from the moments, here three rows with a 2, so nobody is told that they are held back."""
    ranges = {"x": (0, 3), "z": (0, 3)}
    described: dict[str, Any] = {"target": "y", "classes": (0, 1)}
    columns = {"a": ("x",), "b": ("z",)}
    protocol: Any = {
        "statistics": HorizontalStatistics(columns=("x", "z"), ranges=ranges, bins=3),
        "vertical-statistics": VerticalStatistics(columns=columns, ranges=ranges),
        "naive-bayes": HorizontalNaiveBayes(columns=("x", "z"), **described),
        "vertical-naive-bayes": VerticalNaiveBayes(columns=columns, ranges=ranges, holder="a", **described),
        "logistic-regression": HorizontalLogistic(columns=("x", "z"), **described),
        "k-means": HorizontalKMeans(columns=("x", "z"), k=2),
        "vertical-k-means": VerticalKMeans(columns=columns, k=2, ranges=ranges, init="given", seeds=(0, 20)),
    }[kind]
    vertical = {"a": {key: FEW["a"][key] for key in "xy"}, "b": {"z": FEW["b"]["z"]}}
    run = simulate(protocol, vertical if "vertical" in kind else FEW)
    declared = "of two values, however few" if "k-means" in kind else "few distinct values, however small"
    assert any(declared in sentence for sentence in protocol.leaks)
    told = [caution for caution in run.cautions["a"] if "few distinct values" in caution]
    assert len(told) == 1
    assert "('x')" in told[0]
    if kind == "statistics":
        model = run.outputs["b"].model
        n, mean, variance = model.n, model.mean[0], model.covariance[0, 0] * (model.n - 1) / model.n
        assert round((n * (variance + mean**2) - n * mean) / 2) == 3
        assert 3 not in model.histograms["x"][1]
        noisy = HorizontalStatistics(columns=("x",), ranges={"x": (0, 3)}, epsilon=1.0)
        assert not any("few distinct" in caution for caution in simulate(noisy, FEW).cautions["a"])
    elif "naive" in kind:
        assert any("in it" in sentence for sentence in protocol.leaks)


@pytest.mark.parametrize(
    ("sizes", "learned"),
    [((20, 21, 1), [1]), ((20, 21, 0), [0, 1]), ((20, 21, 3, 3), [0, 1]), ((20, 3), []), ((20, 21), [0, 1])],
)
def test_rows_of_a_class_left_out_are_not_what_the_others_lack(
    sizes: tuple[int, ...], learned: list[int]
) -> None:
    """All know the number of rows; less those of the classes in the model it is the number of those left out."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    described: dict[str, Any] = {
        "columns": {"shop": ("age",), "bank": ()}, "target": "d", "holder": "bank", "ranges": {"age": (0, 128)},
        "classes": tuple(range(len(sizes))),
    }  # fmt: skip
    inputs = {"shop": {"age": np.arange(labels.size)}, "bank": {"d": labels}}
    bayes, tree = VerticalNaiveBayes(**described), VerticalTree(**described, bins=4)
    if not learned:
        for protocol in (bayes, tree):
            with pytest.raises(InputError, match="too few for 'min_count'"):
                simulate(protocol, inputs)
        return
    run = simulate(bayes, inputs)
    model = run.outputs["shop"].model
    assert model.classes_.tolist() == learned
    missing = labels.size - model.class_count_.sum()
    assert missing == 0 or missing >= 5
    root = model_to_dict(simulate(tree, inputs).outputs["shop"].model)["tree"]["nodes"][0]["counts"]
    assert root == [size if at in learned else 0 for at, size in enumerate(sizes)]
    assert any("left out" in caution for caution in run.cautions["shop"]) == (len(learned) < len(sizes))
    assert any("the classes left out have together" in sentence for sentence in bayes.leaks + tree.leaks)


def test_a_class_of_one_row_is_not_opened() -> None:
    rows = {
        "a": {"x": [1.0, 2.0, 3.0], "y": [0, 0, 0]},
        "b": {"x": [2.0, 4711.0], "y": [0, 1]},
        "c": {"x": [3.0], "y": [0]},
    }
    protocol = HorizontalNaiveBayes(columns=("x",), target="y", classes=(0, 1, 2))
    run = simulate(protocol, rows)
    model = run.outputs["c"].model
    assert model.classes_.tolist() == [0]
    assert model.theta_.tolist() == [[pytest.approx(11 / 5)]]
    assert run.cautions["a"] == ("2 of 3 classes have no row or fewer than 5, and were left out.",)
    other = {**rows, "b": {"x": [2.0], "y": [0]}}
    one = views(protocol, rows, ("c",), 24, coins="one")
    assert_indistinguishable(one, views(protocol, other, ("c",), 24, coins="other"))
    with_it = simulate(HorizontalNaiveBayes(columns=("x",), target="y", classes=(0, 1), min_count=1), rows)
    assert with_it.outputs["c"].model.theta_.tolist()[1] == [4711.0]
    assert "a count of one points to a person" in with_it.cautions["a"][0]


@pytest.mark.parametrize("kind", ["horizontal", "vertical"])
def test_categories_of_few_rows_are_joined(kind: str, opened: list[Any]) -> None:
    rows = rows_of(5, 60)
    described: dict[str, Any] = {"target": "y", "classes": (0, 1, 2), "categories": {"c": LETTERS}}
    if kind == "horizontal":
        protocol: Any = HorizontalNaiveBayes(columns=("c",), **described)
        inputs: dict[str, Any] = rows
    else:
        protocol = VerticalNaiveBayes(columns={"a": ("c",), "b": ()}, holder="b", **described)
        inputs = {"a": {"c": pooled(rows, "c")}, "b": {"y": pooled(rows, "y")}}
    run = simulate(protocol, inputs)
    assert_as_revealed(run, protocol, tuple(inputs))
    letters, labels = pooled(rows, "c"), pooled(rows, "y")
    table = [[int(((letters == letter) & (labels == at)).sum()) for at in range(3)] for letter in LETTERS]
    counts = run.outputs["a"].model.category_count_[0]
    for first, last in blocks(table, 5):
        for at in range(3):
            share = sum(row[at] for row in table[first : last + 1]) / (last - first + 1)
            assert counts[at, first : last + 1].tolist() == pytest.approx([share] * (last - first + 1))
    assert all(not ((t.counts > 0) & (t.counts < 5)).any() for t in opened)


@settings(max_examples=15, deadline=None)
@given(split=split_rows(n_parties=(3, 4), min_rows=5, max_rows=30), least=st.integers(2, 4))
def test_quantiles_have_enough_rows_on_both_sides(split: Any, least: int) -> None:
    rng, parts = split
    n = sum(map(len, parts))
    values = rng.integers(0, 16, n)
    wanted = (0.0, 0.1, 0.5, 0.9, 1.0)
    protocol = HorizontalQuantiles(columns=("x",), q=wanted, ranges={"x": (0, 15)}, bits=4, min_count=least)
    inputs = by_party({"x": values}, parts)
    if n < 2 * least - 1:
        with pytest.raises(InputError, match=f"fewer than {2 * least - 1} rows together"):
            simulate(protocol, inputs)
        return
    run = simulate(protocol, inputs)
    assert_as_revealed(run, protocol, tuple(inputs))
    ordered = np.sort(values)
    expected = [float(ordered[rank - 1]) for rank in quantile_ranks(wanted, n, least)]
    assert run.outputs["p1"].model["x"].tolist() == expected
    assert any("moved inward" in caution for caution in run.cautions["p0"])


def joined_lloyd(values: list[float], centers: list[float], n_rounds: int, least: int) -> list[float]:
    """Return the centers by definition: rows of clusters with few rows count for the nearest of the others."""
    for _ in range(n_rounds):
        nearest = [min(range(len(centers)), key=lambda j: abs(value - centers[j])) for value in values]
        large = [j for j in range(len(centers)) if nearest.count(j) >= least]
        members: dict[int, list[float]] = {j: [] for j in large}
        for value in values:
            members[min(large, key=lambda j: abs(value - centers[j]))].append(value)
        centers = [
            sum(members[j]) / len(members[j]) if j in large else centers[j] for j in range(len(centers))
        ]
    return centers


@pytest.mark.parametrize("n_rounds", [1, 2, 3, 4, 6])
def test_no_round_of_k_means_leaves_out_rows_that_another_includes(n_rounds: int) -> None:
    """Here one row is alone in its cluster from the second round on: the rest could be subtracted from the first."""
    rows = {
        "a": [0.0, 1, 2, 3, 1, 2] * 2 + [11.0, 12, 13],
        "b": [0.0, 1, 2, 2, 1] * 2 + [11.0, 12, 12],
        "c": [0.0, 2, 2, 3] * 2 + [12.0, 13, 1234.0],
        "d": [1.0, 2] * 4 + [12.0, 11, 12],
    }
    start = [0.0, 8.0, 11.0]
    protocol = HorizontalKMeans(
        columns=("x",), k=3, init="given", centers=tuple((c,) for c in start), max_rounds=n_rounds
    )
    run = simulate(protocol, {name: {"x": values} for name, values in rows.items()})
    assert_as_revealed(run, protocol, tuple("abcd"))
    assert "opened" not in {shape.kind for shape in run.transcript.shapes()}
    expected = joined_lloyd([value for values in rows.values() for value in values], start, n_rounds, 5)
    assert run.outputs["d"].model.cluster_centers_[:, 0] == pytest.approx(expected)


def test_a_small_cluster_keeps_its_center_and_is_not_opened() -> None:
    rows = {"a": {"x": [1.0, 2.0, 3.0]}, "b": {"x": [2.0, 2.0, 90.0]}, "c": {"x": [2.0]}}
    protocol = HorizontalKMeans(columns=("x",), k=2, init="given", centers=((0,), (100,)))
    run = simulate(protocol, rows)
    assert_as_revealed(run, protocol, tuple("abc"))
    model = run.outputs["a"].model
    assert model.cluster_centers_.tolist() == [[pytest.approx(102 / 7)], [100.0]]
    squares = sum((value - 102 / 7) ** 2 for value in (1, 2, 3, 2, 2, 2))
    assert model.inertia_ == pytest.approx(squares), "without the row of the small cluster"
    assert "1 of 2 clusters have no row or fewer than 5, and kept their centers." in run.cautions["c"]
    columns = VerticalKMeans(
        columns={"a": ("x",), "b": ("z",)}, k=2, ranges={"x": (0, 99), "z": (0, 99)}, init="given", seeds=(0, 6), bits=8
    )  # fmt: skip
    values = [1.0, 2.0, 3.0, 2.0, 2.0, 2.0, 90.0]
    vertical = simulate(columns, {"a": {"x": values}, "b": {"z": values}})
    assert_as_revealed(vertical, columns, tuple("ab"))
    assert len(vertical.outputs["a"].model.cluster_centers_) == 1
    assert vertical.outputs["a"].model.labels_.tolist() == [0] * 6 + [-1]


def test_too_few_rows_stop_all_and_open_nothing() -> None:
    rows = {name: {"x": [1.0], "y": [0]} for name in "abc"}
    for protocol in (
        HorizontalStatistics(columns=("x",)),
        HorizontalRidge(columns=("x",), target="y"),
    ):
        with pytest.raises(InputError, match=r"fewer than 5 rows together, .*nothing was opened"):
            simulate(protocol, rows)


def test_no_set_of_few_baskets_or_people_is_opened() -> None:
    shops = {"a": [["tea", "rare"]] * 2, "b": [["tea", "rare"]] * 2, "c": [["tea"]] * 3}
    run = simulate(AssociationRules(1, items=("tea", "rare")), shops)
    assert list(run.outputs["c"].itemsets) == [(("tea",), 7)]
    everything = simulate(AssociationRules(1, items=("tea", "rare"), min_count=1), shops)
    assert (("rare", "tea"), 4) in list(everything.outputs["c"].itemsets)
    assert "min_count = 1" in everything.cautions["a"][0]
    people = {name: {"id": list(range(9)), f"x{name}": [1] * 4 + [0] * 5} for name in "ab"}
    columns = {"a": ["xa"], "b": ["xb"]}
    rules = simulate(VerticalRules(columns, key="id", max_people=9, min_support=1), people)
    assert not list(rules.outputs["a"].itemsets)


def test_a_party_that_flips_a_comparison_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """It opens counts below the agreed one; every other party sees that, and no result is made of them."""
    honest = Comparison.share

    def flipped(self: Comparison, products: Any, words: Any) -> Any:
        bits = honest(self, products, words)
        return bits ^ 1 if products.party.index else bits

    monkeypatch.setattr(Comparison, "share", flipped)
    shops = {"a": [["tea"]] * 20, "b": [["tea"]] * 20, "c": [["tea"]] * 19 + [["tea", "rare"]]}
    with pytest.raises(PartyError, match="did not follow the protocol"):
        simulate(AssociationRules(10, items=("tea", "rare"), max_length=1), shops)
    ids = list(range(12))
    people = {"a": {"id": ids, "xa": [1] * 6 + [0] * 6}, "b": {"id": ids, "xb": [0] * 5 + [1] * 6 + [0]}}
    columns = {"a": ["xa"], "b": ["xb"]}
    with pytest.raises(PartyError, match="did not follow the protocol"):
        simulate(VerticalRules(columns, key="id", max_people=12, min_support=1), people)
    rows = {name: {"x": [1.0] * 20, "y": [0] * 19 + [1]} for name in "abc"}
    model = HorizontalNaiveBayes(columns=("x",), target="y", classes=(0, 1))
    with pytest.raises(PartyError, match="did not follow the protocol"):
        simulate(model, rows)


def test_a_small_value_of_a_sum_has_a_caution() -> None:
    run = simulate(SecureSum(length=3), {"a": [1, 0, 9], "b": [0, 0, 9], "c": [0, 0, 9]})
    assert run.cautions["b"] == (
        "1 values of the sum lie between 1 and 4; as counts they concern few people.",
    )


WITH_COUNTS = [
    lambda least: HorizontalNaiveBayes(columns=("x",), target="y", classes=(0, 1), min_count=least),
    lambda least: HorizontalTree(columns=("x",), target="y", classes=(0, 1), ranges=UNIT, min_count=least),
    lambda least: HorizontalStatistics(columns=("x",), min_count=least),
    lambda least: HorizontalLogistic(columns=("x",), target="y", classes=(0, 1), min_count=least),
    lambda least: HorizontalKMeans(columns=("x",), k=2, min_count=least),
    lambda least: AssociationRules(0.1, min_count=least),
]


@pytest.mark.parametrize("made", WITH_COUNTS)
def test_leaks_say_whether_counts_of_one_are_opened(made: Any) -> None:
    assert any("count of one" in sentence for sentence in made(1).leaks)
    assert not any("count of one" in sentence for sentence in made(5).leaks)
    with pytest.raises(ParameterError, match="'min_count'"):
        made(0)
    if hasattr(made(5), "holds_back"):
        assert any("The first two parties together learn" in sentence for sentence in made(5).leaks)
        assert made(5).withstands(5) == 1
        assert made(1).withstands(5) == 1


# Inputs at the edges.


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, "1"])
def test_centers_that_are_no_finite_numbers_are_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match=r"'centers'.*finite numbers"):
        HorizontalKMeans(columns=("x",), k=2, init="given", centers=((0.0,), (value,)))


def test_a_range_wider_than_all_numbers_is_refused() -> None:
    with pytest.raises(ParameterError, match="finite difference"):
        HorizontalQuantiles(columns=("x",), ranges={"x": (-1e308, 1e308)})
    protocol = HorizontalQuantiles(columns=("x",), q=(0.5,), ranges={"x": (0, 1e308)}, min_count=1)
    run = simulate(protocol, {name: {"x": [5e307]} for name in "abc"})
    assert run.outputs["a"].model["x"][0] == pytest.approx(5e307, rel=1e-4)


def test_coefficients_that_do_not_converge_have_a_caution() -> None:
    rows = {name: {"x": np.arange(20.0) + at, "y": [0, 1] * 10} for at, name in enumerate("abc")}
    described: dict[str, Any] = {"columns": ("x",), "target": "y", "classes": (0, 1)}
    short = simulate(HorizontalLogistic(**described, max_rounds=1), rows)
    assert "did not converge within 1 rounds" in short.cautions["b"][0]
    assert not simulate(HorizontalLogistic(**described), rows).cautions["b"]
    large = {name: {"x": [1e200] * 20, "y": [0, 1] * 10} for name in "abc"}
    with pytest.raises(InputError, match="Column 'x' holds values beyond"):
        simulate(HorizontalLogistic(**described), large)
    moving = HorizontalKMeans(columns=("x",), k=2, init="given", centers=((0,), (1,)), max_rounds=1)
    assert any("still moved" in caution for caution in simulate(moving, rows).cautions["a"])


def test_a_united_candidate_that_is_no_number_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("-1", "99", "x", "²"):
        monkeypatch.setattr(
            association_rules.SetUnion,
            "run",
            lambda self, party, own, text=text: UnitedItems((text,), party.names),
        )
        shops = {name: [["beer", "milk"]] * 3 for name in "abc"}
        with pytest.raises(PartyError, match="no number of a candidate"):
            simulate(AssociationRules(2, items=("beer", "milk"), candidates="union"), shops)


def test_the_most_people_are_declared_as_the_number_of_guesses() -> None:
    assert any(
        "2,000 keys that it guessed" in leak for leak in PeopleMatching(key="id", max_people=2000).leaks
    )
