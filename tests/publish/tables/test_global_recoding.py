"""Global recoding: beside every cut of small trees, limits, units, labels that stand for two nodes, recipes, Adult."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import cuts as oracle
from tests.oracles import tables as slow

from discreet import Recipe, Table, from_mapping, intervals, masked, person, quasi, read_hierarchy, sensitive
from discreet.core.errors import InfeasibleError, ParameterError
from discreet.core.hierarchy.trees import tree_rows
from discreet.guarantees import (
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    Guarantee,
    KAnonymity,
    KMap,
    TCloseness,
)
from discreet.measure import loss
from discreet.publish import GlobalRecoding, OptimalLattice
from discreet.publish.recipes.sql import statement

KEEPS: list[tuple[Guarantee, oracle.Keeps]] = [
    *((KAnonymity(k), lambda values, _, k=k: len(values) >= k) for k in (1, 2, 3)),
    (DistinctDiversity(2), lambda values, _: slow.distinct_values(values) >= 2),
    (EntropyDiversity(1.7), lambda values, _: slow.effective_values(values) >= 1.7 * (1 - 1e-9)),
    (TCloseness(0.3), lambda values, everyone: slow.variational_distance(values, everyone) <= 0.3 + 1e-9),
    (
        DeltaDisclosure(1.2),
        lambda values, everyone: slow.log2_ratio(values, everyone) < 1.2 - 1e-9,
    ),
]


@st.composite
def small_trees(draw: st.DrawFn, letters: str) -> oracle.Tree:
    """A tree of up to six leaves, with chains, whose labels are all different."""
    above: dict[Any, list[str]] = {letter: [] for letter in letters[: draw(st.integers(1, len(letters)))]}
    nodes = [[letter] for letter in above]
    for level in range(draw(st.integers(0, 2))):
        numbers = draw(st.lists(st.integers(0, 2), min_size=len(nodes), max_size=len(nodes)))
        joined = [[leaf for at, node in enumerate(nodes) if numbers[at] == number for leaf in node]
                  for number in sorted(set(numbers))]  # fmt: skip
        for number, leaves in enumerate(joined):
            for leaf in leaves:
                above[leaf].append(f"{letters[0]}{level}{number}")
        nodes = joined
    return {leaf: [*labels, "*"] for leaf, labels in above.items()}


@st.composite
def small_tables(draw: st.DrawFn) -> tuple[list[tuple[Any, ...]], list[oracle.Tree]]:
    trees = [draw(small_trees("abcdef")), draw(small_trees("uvwx"))]
    row = st.tuples(*(st.none() | st.sampled_from(list(tree)) for tree in trees), st.sampled_from("stt"))
    return draw(st.lists(row, min_size=1, max_size=14)), trees


def table_of(rows: list[tuple[Any, ...]], trees: list[oracle.Tree]) -> Table:
    specs = [
        tree_rows(
            [
                list(tree),
                *([labels[level] for labels in tree.values()] for level in range(oracle.height(tree))),
            ]
        )
        for tree in trees
    ]
    columns = dict(zip("xys", map(list, zip(*rows, strict=True)), strict=True))
    frame = pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
    return Table(frame, {"x": quasi(specs[0]), "y": quasi(specs[1]), "s": sensitive()})


@given(data=small_tables(), promise=st.sampled_from(KEEPS), limit=st.sampled_from([0, 0, 2]))
@settings(max_examples=150, deadline=None)
def test_a_cut_is_valid_and_nothing_more_can_be_opened(
    data: tuple[list[tuple[Any, ...]], list[oracle.Tree]], promise: tuple[Guarantee, oracle.Keeps], limit: int
) -> None:
    rows, trees = data
    guarantee, keeps = promise
    levels = oracle.best_loss(rows, trees, keeps, limit, oracle.full_domain(trees))
    share = min(limit / len(rows), 1.0)
    publisher = GlobalRecoding(guarantee, max_suppressed=share)
    if levels is None:
        with pytest.raises(InfeasibleError):
            publisher.release(table_of(rows, trees))
        return
    release = publisher.release(table_of(rows, trees))
    released = [tuple(row.values()) for row in release.frame.to_pylist()]
    # Some pair of cuts shows exactly these rows, costs no more than the best levels, and cannot be opened further.
    for chosen in itertools.product(*map(oracle.cuts, trees)):
        stays = oracle.published(rows, trees, chosen, keeps)
        shown = Counter(
            (*(oracle.cell(*column) for column in zip(trees, chosen, row[:-1], strict=True)), row[-1])
            for row, stay in zip(rows, stays, strict=True)
            if stay
        )
        lost = oracle.loss(rows, trees, chosen, stays)
        if shown == Counter(released) and lost == pytest.approx(release.evidence.details["loss"]):
            break
    else:
        raise AssertionError("no cuts show what was released")
    assert release.verdict.ok
    assert release.evidence.suppressed == stays.count(False) <= limit
    assert lost == pytest.approx(loss(release).total)
    assert lost <= levels + 1e-9
    for column, tree in enumerate(trees):
        present = {row[column] for row, stay in zip(rows, stays, strict=True) if stay}
        for finer in oracle.opened(tree, chosen[column]):
            if all(finer[value] == chosen[column][value] for value in present):
                continue
            more = [finer if at == column else cut for at, cut in enumerate(chosen)]
            left = oracle.published(rows, trees, more, keeps)
            fits = left.count(False) <= limit and any(left)
            assert not fits or oracle.loss(rows, trees, more, left) > lost + 1e-10


ZIPS = ["10598"] * 2 + ["10547"] * 2 + ["90345", "91119"]


def towns(zips: list[str | None], *, ages: list[int] | None = None) -> Table:
    columns: dict[str, Any] = {"age": ages or [30 + at % 2 for at in range(len(zips))], "zip": zips}
    return Table(pa.table(columns), {"age": quasi(intervals(10, 20)), "zip": quasi(masked())})


def test_a_null_keeps_its_own_cell_below_the_root() -> None:
    release = GlobalRecoding(KAnonymity(2)).release(
        Table(pa.table({"zip": [*ZIPS, None, None]}), {"zip": quasi(masked())})
    )
    shown = Counter(release.frame["zip"].to_pylist())
    assert shown == {"10547": 2, "10598": 2, "9****": 2, None: 2}
    assert release.recipe["levels"] == {"zip": {"0": ["10547", "10598"], "4": ["9****"]}}


def test_labels_that_stand_for_two_nodes_stay_unopened() -> None:
    towns_of = {"x": "y", "u": "x", "v": "x", "w": "y"}
    cities = ["x"] * 4 + ["u", "u", "v", "v"] + ["w"] * 4
    table = Table(pa.table({"city": cities}), {"city": quasi(from_mapping(towns_of))})
    release = GlobalRecoding(KAnonymity(3)).release(table)
    # Opening y would show the leaf x beside the node x of u and v.
    assert Counter(release.frame["city"].to_pylist()) == {"y": 8, "x": 4}


def test_units_are_counted_instead_of_rows() -> None:
    frame = pa.table({"who": ["a", "a", "a", "b", "c", "d"], "zip": ["10598"] * 3 + ["10547"] * 3})
    table = Table(frame, {"who": person(), "zip": quasi(masked())})
    assert set(GlobalRecoding(KAnonymity(2)).release(table).frame["zip"].to_pylist()) == {"105**"}
    assert GlobalRecoding(KAnonymity(2)).release(table).verdict.ok


def test_a_population_is_counted_by_the_labels_of_the_cut() -> None:
    people = Table(pa.table({"zip": ["10598", "10597", "10547", "90345"]}), {"zip": quasi()})
    table = Table(pa.table({"zip": ["10598", "10597", "10547"]}), {"zip": quasi(masked())})
    release = GlobalRecoding(KMap(2, people)).release(table)
    assert release.verdict.ok
    assert set(release.frame["zip"].to_pylist()) == {"105**"}
    alone = GlobalRecoding(KMap(2, people) & KAnonymity(1), max_suppressed=0.34).release(table)
    assert alone.verdict.ok


@pytest.mark.parametrize("share", [0.0, 0.34])
def test_weights_and_limits_of_levels(share: float) -> None:
    table = towns(ZIPS, ages=[31, 32, 33, 34, 61, 62])
    free = GlobalRecoding(KAnonymity(2), max_suppressed=share).release(table)
    assert free.verdict.ok
    bound = GlobalRecoding(KAnonymity(2), max_suppressed=share, lowest={"zip": 1}, highest={"age": 2})
    cut = bound.release(table).recipe["levels"]["zip"]
    assert min(map(int, cut)) >= 1 if isinstance(cut, dict) else cut == "top" or cut >= 1
    heavy = GlobalRecoding(KAnonymity(2), max_suppressed=share, weights={"zip": 100.0}).release(table)
    assert loss(heavy).columns["zip"] <= loss(free).columns["zip"] + 1e-12


def test_sensitive_values_that_decide_bring_the_caution() -> None:
    frame = pa.table({"zip": ["10598"] * 2 + ["10547"] * 2, "illness": ["a", "a", "b", "b"]})
    table = Table(frame, {"zip": quasi(masked()), "illness": sensitive()})
    decided = GlobalRecoding(DistinctDiversity(2)).release(table)
    assert decided.evidence.details["minimality"]
    assert "minimality" in {caution.code for caution in decided.cautions}
    mixed = Table(frame.set_column(1, "illness", [["a", "b", "a", "b"]]), table.schema)
    assert not GlobalRecoding(DistinctDiversity(2)).release(mixed).evidence.details["minimality"]


def test_a_recipe_carries_the_cut_to_new_rows(tmp_path: Path) -> None:
    schema = {"zip": quasi(masked())}
    release = GlobalRecoding(KAnonymity(2)).release(Table(pa.table({"zip": ZIPS}), schema))
    release.write(tmp_path / "release")
    recipe = Recipe.read(tmp_path / "release" / "release.json")
    assert recipe.private["levels"] == {"zip": {"0": ["10547", "10598"], "4": ["9****"]}}
    more = pa.table({"zip": ["10598", "10598", "93001", "94002"]})
    for known in (recipe, Recipe(recipe.data, {"format": 1, "columns": recipe.private.get("columns", {})})):
        new = known.apply(more)
        assert Counter(new.frame["zip"].to_pylist()) == {"10598": 2, "9****": 2}
        assert new.verdict.ok
    # A value that the cut leaves out is a misfit: coarsened with others, or left out.
    strange = pa.table({"zip": ["10598", "10598", "20001", "20002"]})
    coarsened = recipe.apply(strange)
    assert coarsened.verdict.ok
    assert coarsened.frame.num_rows == 4
    fewer = recipe.apply(strange, misfits="suppress", max_suppressed=0.5)
    assert fewer.frame["zip"].to_pylist() == ["10598"] * 2
    together = recipe.apply(more, released=release.frame)
    assert Counter(together.frame["zip"].to_pylist()) == {"10598": 4, "10547": 2, "9****": 4}


def test_a_cut_as_sql_shows_what_apply_shows() -> None:
    frame = pa.table({"age": [31, 31, 33, 33, 61, 72, None, None], "zip": [*ZIPS, None, None]})
    schema = {"age": quasi(intervals(10, 20)), "zip": quasi(masked())}
    release = GlobalRecoding(KAnonymity(2)).release(Table(frame, schema))
    recipe = Recipe(release.recipe, release.private)
    assert recipe.data["levels"]["age"] == {"0": ["31", "33"], "2": ["[60, 79]"]}
    data = pa.concat_tables([frame, pa.table({"age": [75, 75], "zip": ["90345", "90345"]})])
    rows = duckdb.sql(statement(recipe)).fetchall()
    assert Counter(rows) == Counter(tuple(row.values()) for row in recipe.apply(data).frame.to_pylist())
    # A value that no published label takes in becomes the root.
    data = pa.table({"age": [44], "zip": ["20001"]})
    assert duckdb.sql(statement(recipe)).fetchall() == [("*", "*")]


def test_bad_input_is_one_clear_line() -> None:
    table = towns(ZIPS)
    with pytest.raises(ParameterError, match="'max_suppressed' parameter of GlobalRecoding"):
        GlobalRecoding(KAnonymity(2), max_suppressed=-0.1).release(table)
    with pytest.raises(InfeasibleError, match="No generalization keeps"):
        GlobalRecoding(KAnonymity(7)).release(table)
    one = Table(pa.table({"a": [1]}), {"a": quasi()})
    assert GlobalRecoding(KAnonymity(1)).release(one).frame["a"].to_pylist() == [1]
    constant = Table(pa.table({"a": ["x"] * 3}), {"a": quasi(from_mapping({"x": "x"}))})
    assert GlobalRecoding(KAnonymity(3)).release(constant).frame["a"].to_pylist() == ["x"] * 3


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.02])
def test_adult_loses_no_more_than_the_best_levels(shared_data: Path, share: float) -> None:
    folder = shared_data / "adult-arx"
    frame = pyarrow.csv.read_csv(
        pa.input_stream(folder / "adult.csv.gz"), parse_options=pyarrow.csv.ParseOptions(delimiter=";")
    )
    frame = pa.table({name: frame[name].cast(pa.string()) for name in frame.column_names})
    roles = {
        name: quasi(read_hierarchy(folder / f"adult_hierarchy_{name}.csv")) for name in frame.column_names
    }
    table = Table(frame, roles)
    best = OptimalLattice(KAnonymity(5), max_suppressed=share).release(table)
    release = GlobalRecoding(KAnonymity(5), max_suppressed=share).release(table)
    assert release.verdict.ok
    assert loss(release).total <= loss(best).total + 1e-12
