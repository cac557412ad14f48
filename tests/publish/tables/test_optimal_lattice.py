"""The best node of a lattice, held against a slow definition over every node, and on ARX's Adult over all classes."""

from __future__ import annotations

import gzip
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.guarantees.small_tables import LETTERS, PATHS
from tests.oracles import tables as oracles

from discreet import Release, Table, from_mapping, intervals, quasi, read_hierarchy, sensitive, tree
from discreet.core.errors import InfeasibleError, ParameterError, SchemaError
from discreet.guarantees import (
    AllOf,
    AlphaKAnonymity,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EnhancedBetaLikeness,
    EntropyDiversity,
    Guarantee,
    KAnonymity,
    KMap,
    RecursiveDiversity,
    TCloseness,
)
from discreet.measure import loss
from discreet.measure.tables.loss import Loss, aggregate
from discreet.publish import OptimalLattice
from discreet.publish.lattice.lattice import Lattice
from discreet.publish.tables.lattice_search import Measure

MEASURES = get_args(Measure)
Row = dict[str, Any]
Node = tuple[int, ...]

# --- a small world, with its trees written out ------------------------------------------------------

TOWNS = {"ulm": "south", "bern": "south", "oslo": "north", "bergen": "north", "rome": "south"}
CONTINENT = {"south": "europe", "north": "europe"}
QUASI = ("age", "town", "flag")
HEIGHTS = (3, 2, 1)


def above(name: str, value: Any, level: int) -> Any:
    """The node of a value at a level, written independently of the library."""
    if level == HEIGHTS[QUASI.index(name)]:
        return "*"
    if value is None or level == 0:
        return value
    return ("from", value // (5 * level) * 5 * level) if name == "age" else TOWNS[value]


def leaves(name: str, rows: Sequence[Row]) -> list[Any]:
    """Every leaf of a column's tree: the towns that are known, the ages and flags that occur."""
    return list(TOWNS) if name == "town" else sorted({row[name] for row in rows} - {None})


def table_of(rows: Sequence[Row], weights: dict[str, float] | None = None) -> Table:
    weights = dict.fromkeys(QUASI, 1.0) | (weights or {})
    wards: dict[str, dict[str, list[str]]] = {}
    for letter, (low, middle, _) in PATHS.items():
        wards.setdefault(middle, {}).setdefault(low, []).append(letter)
    kinds = {
        "age": pa.int64(),
        "town": pa.string(),
        "flag": pa.bool_(),
        "ward": pa.string(),
        "pay": pa.int64(),
    }
    frame = pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in kinds.items()})
    return Table(
        frame,
        {
            "age": quasi(intervals(5, 10), weight=weights["age"]),
            "town": quasi(from_mapping(TOWNS, CONTINENT), weight=weights["town"]),
            "flag": quasi(weight=weights["flag"]),
            "ward": sensitive(tree({"all": wards})),
            "pay": sensitive(),
        },
    )


def population_of(people: Sequence[Row]) -> Table:
    known = table_of(people)
    return Table(known.frame.select(QUASI), {name: known.schema[name] for name in QUASI})


def rows_strategy(max_size: int = 14) -> st.SearchStrategy[list[Row]]:
    row = st.fixed_dictionaries(
        {
            "age": st.sampled_from([None, 18, 19, 20, 24, 26, 31, 31]),
            "town": st.sampled_from([None, "ulm", "bern", "oslo", "rome", "rome"]),
            "flag": st.sampled_from([None, True, True, False]),
            "ward": st.sampled_from([None, *LETTERS[:5], "a", "b"]),
            "pay": st.sampled_from([1, 1, 2, 3]),
        }
    )
    plain = st.fixed_dictionaries(
        {
            "age": st.sampled_from([20, 26]),
            "town": st.sampled_from(["ulm", "oslo"]),
            "flag": st.just(True),
            "ward": st.sampled_from("ab"),
            "pay": st.just(1),
        }
    )
    return st.lists(row, min_size=1, max_size=max_size) | st.lists(plain, min_size=1, max_size=max_size)


# --- the slow definition ----------------------------------------------------------------------------


def keeps(guarantee: Guarantee, members: Sequence[Row], everyone: Sequence[Row], node: Node) -> bool:
    """Whether one class keeps a promise in a table of these rows."""
    if isinstance(guarantee, AllOf):
        return all(keeps(part, members, everyone, node) for part in guarantee.parts)
    if isinstance(guarantee, KAnonymity):
        return len(members) >= guarantee.k
    if isinstance(guarantee, KMap):
        people = guarantee.population.frame.to_pylist()  # type: ignore[attr-defined]
        shown = cells(members[0], node)
        return sum(cells(person, node) == shown for person in people) >= guarantee.k
    names = guarantee.columns(("ward", "pay"))
    return all(
        keeps_column(guarantee, oracles.column(members, name), oracles.column(everyone, name))
        for name in names
    ) and (not isinstance(guarantee, AlphaKAnonymity) or len(members) >= guarantee.k)


def keeps_column(guarantee: Guarantee, values: list[Any], everyone: list[Any]) -> bool:
    near = 1e-9 * max(1.0, guarantee.bound)
    match guarantee:
        case DistinctDiversity():
            return oracles.distinct_values(values) >= guarantee.l
        case EntropyDiversity():
            return oracles.effective_values(values) >= guarantee.l - near
        case RecursiveDiversity():
            return oracles.is_recursively_diverse(values, guarantee.c, guarantee.l)
        case AlphaKAnonymity():
            return oracles.largest_share(values) <= guarantee.alpha
        case BasicBetaLikeness():
            return oracles.relative_gain(values, everyone) <= guarantee.beta + near
        case EnhancedBetaLikeness():
            p, q = oracles.shares(values), oracles.shares(everyone)
            return all(
                float((p[value] - q[value]) / q[value]) <= min(guarantee.beta, -math.log(q[value])) + 1e-9
                for value in p
                if p[value] > q[value]
            )
        case DeltaDisclosure():
            return oracles.log2_ratio(values, everyone) < guarantee.delta - near
        case TCloseness():
            return distance(guarantee, values, everyone) <= guarantee.t + near
    raise AssertionError(guarantee)


def distance(guarantee: TCloseness, values: list[Any], everyone: list[Any]) -> float:
    match guarantee.distance:
        case "ordered":
            return oracles.ordered_distance(values, everyone)
        case "hierarchical":
            return oracles.hierarchical_distance(values, everyone, PATHS)
        case "kl":
            return oracles.kl_divergence(values, everyone)
    return oracles.variational_distance(values, everyone)


def cells(row: Row, node: Node) -> tuple[Any, ...]:
    return tuple(above(name, row[name], level) for name, level in zip(QUASI, node, strict=True))


def classes_at(rows: Sequence[Row], node: Node) -> list[list[Row]]:
    """Put rows with the same cells together."""
    classes: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        classes.setdefault(cells(row, node), []).append(row)
    return list(classes.values())


def kept_classes(guarantee: Guarantee, rows: Sequence[Row], node: Node) -> list[list[Row]]:
    """Leave out classes that break the promise, and again as long as that moves the table they are compared with."""
    kept = classes_at(rows, node)
    while True:
        everyone = [row for members in kept for row in members]
        held = [members for members in kept if keeps(guarantee, members, everyone, node)]
        if len(held) == len(kept):
            return kept
        kept = held


@dataclass
class Priced:
    suppressed: int
    cost: float


def column_costs(measure: str, rows: Sequence[Row], node: Node, left: Sequence[Row]) -> list[float]:
    """What each column costs; ``left`` are the suppressed rows."""
    costs = []
    if measure.startswith("monotone_"):
        measure, left = measure.removeprefix("monotone_"), []
        measure = {"entropy": "entropy_bits"}.get(measure, measure)
    n, s = len(rows), len(left)
    for name, level, height in zip(QUASI, node, HEIGHTS, strict=True):
        known = leaves(name, rows)
        values = oracles.column(rows, name)
        nodes = [above(name, value, level) for value in values]
        if measure == "precision":
            costs.append(((n - s) * level / height + s) / n)
        elif measure == "height":
            costs.append(float(level) * len(QUASI))
        elif measure == "loss":
            under = Counter(above(name, leaf, level) for leaf in known)
            gone = Counter(above(name, row[name], level) for row in left)
            total = sum(
                (count - gone[one]) * (max(under[one], 1) - 1) / max(len(known) - 1, 1)
                for one, count in Counter(nodes).items()
            )
            costs.append((total + s) / n)
        else:
            own, whole = Counter(values), Counter(nodes)
            bits = -sum(math.log2(own[v] / whole[one]) for v, one in zip(values, nodes, strict=True))
            gone = Counter(above(name, row[name], level) for row in left)
            bits -= sum(count * math.log2(count / s) for count in gone.values())
            held = oracles.most_bits(values)
            costs.append(bits if measure == "entropy_bits" else bits / held if held > 0 else 0.0)
    return costs


def priced(
    guarantee: Guarantee, measure: str, how: str, weights: dict[str, float], rows: Sequence[Row], node: Node
) -> Priced | None:
    kept = kept_classes(guarantee, rows, node)
    if not kept:
        return None
    stayed = {id(row) for members in kept for row in members}
    left = [row for row in rows if id(row) not in stayed]
    if measure == "discernibility":
        cost = float(oracles.discernibility([len(members) for members in kept], len(left), len(rows)))
    elif measure == "monotone_discernibility":
        cost = float(sum(len(members) ** 2 for members in classes_at(rows, node)))
    elif measure == "average_class_size":
        cost = len(rows) / (len(kept) + (len(left) > 0))
    else:
        columns = dict(zip(QUASI, column_costs(measure, rows, node, left), strict=True))
        by_column = {name: weights.get(name, 1.0) for name in QUASI}
        one = "mean" if how == "sum" else how
        cost = aggregate(columns, by_column, how=one) * (len(QUASI) if how == "sum" else 1)  # type: ignore[arg-type]
    return Priced(len(left), cost)


# --- what is searched -------------------------------------------------------------------------------

OF = st.sampled_from([None, "ward", "pay", ("pay", "ward")])
GUARANTEES: dict[str, st.SearchStrategy[Guarantee]] = {
    "k": st.builds(KAnonymity, st.integers(1, 6)),
    "distinct": st.builds(DistinctDiversity, st.integers(1, 4), of=OF),
    "entropy": st.builds(EntropyDiversity, st.sampled_from([1, 1.5, 2, 2.5, 3]), of=OF),
    "recursive": st.builds(
        RecursiveDiversity, st.sampled_from([0.5, 1.0, 2.0, 5.0]), st.integers(1, 3), of=OF
    ),
    "t": st.builds(TCloseness, st.sampled_from([0.0, 0.15, 0.3, 1 / 3, 0.5, 2 / 3]), of=OF),
    "t-ordered": st.builds(TCloseness, st.sampled_from([0.0, 0.15, 0.3, 0.5]), st.just("ordered"), of=OF),
    "t-tree": st.builds(
        TCloseness, st.sampled_from([0.0, 0.15, 0.3, 0.5]), st.just("hierarchical"), of=st.just("ward")
    ),
    "t-kl": st.builds(TCloseness, st.sampled_from([0.0, 0.2, 0.7]), st.just("kl"), of=OF),
    "alpha-k": st.builds(AlphaKAnonymity, st.sampled_from([0.4, 0.5, 0.75, 1.0]), st.integers(1, 4), of=OF),
    "beta": st.builds(BasicBetaLikeness, st.sampled_from([0.3, 1.0, 2.0]), of=OF),
    "enhanced-beta": st.builds(EnhancedBetaLikeness, st.sampled_from([0.3, 1.0, 2.0]), of=OF),
    "delta": st.builds(DeltaDisclosure, st.sampled_from([0.3, 1.0, 2.0]), of=OF),
}
SINGLE = st.one_of(*GUARANTEES.values())
GUARANTEES["both"] = st.builds(lambda one, two: one & two, SINGLE, SINGLE)
GUARANTEES["k-map"] = st.builds(
    lambda people, k: KMap(k, population_of(people)), rows_strategy(20), st.integers(1, 5)
)


@dataclass
class Question:
    rows: list[Row]
    guarantee: Guarantee
    measure: str
    how: str
    weights: dict[str, float]
    share: float
    lowest: dict[str, int]
    highest: dict[str, int]

    def ask(self, **more: Any) -> Release:
        publisher = OptimalLattice(
            self.guarantee, measure=self.measure, aggregate=self.how, weights=self.weights or None,  # type: ignore[arg-type]
            lowest=self.lowest, highest=self.highest, random_state=0, **({"max_suppressed": self.share} | more),
        )  # fmt: skip
        return publisher.release(table_of(self.rows))

    def nodes(self) -> list[Node]:
        return list(
            itertools.product(
                *(
                    range(self.lowest.get(name, 0), self.highest.get(name, height) + 1)
                    for name, height in zip(QUASI, HEIGHTS, strict=True)
                )
            )
        )

    def answers(self, limit: int | None = None) -> dict[Node, Priced]:
        """What every feasible node costs, by the slow definition."""
        limit = math.floor(self.share * len(self.rows)) if limit is None else limit
        found = {
            node: priced(self.guarantee, self.measure, self.how, self.weights, self.rows, node)
            for node in self.nodes()
        }
        return {node: one for node, one in found.items() if one is not None and one.suppressed <= limit}


@st.composite
def questions(draw: st.DrawFn, guarantees: st.SearchStrategy[Guarantee]) -> Question:
    measure = draw(st.sampled_from(MEASURES))
    how = (
        draw(st.sampled_from(["mean", "mean", "sum", "maximum", "geometric"]))
        if measure != "height"
        else "mean"
    )
    weights = draw(st.just({}) | st.dictionaries(st.sampled_from(QUASI), st.sampled_from([0.5, 1.0, 3.0])))
    lowest, highest = {}, {}
    for name, height in zip(QUASI, HEIGHTS, strict=True):
        low = draw(st.just(0) | st.integers(0, height))
        high = draw(st.just(height) | st.integers(low, height))
        lowest |= {name: low} if low else {}
        highest |= {name: high} if high < height else {}
    share = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    return Question(draw(rows_strategy()), draw(guarantees), measure, how, weights, share, lowest, highest)


def node_of(release: Release) -> Node:
    assert release.evidence.levels is not None
    return tuple(release.evidence.levels[name] for name in QUASI)


@pytest.mark.parametrize("kind", GUARANTEES)
@given(data=st.data())
@settings(max_examples=40)
def test_the_least_cost_of_all_nodes(kind: str, data: st.DataObject) -> None:
    question = data.draw(questions(GUARANTEES[kind]))
    answers = question.answers()
    for visit in ("best", "all"):
        if not answers:
            with pytest.raises(InfeasibleError):
                question.ask(visit=visit)
            continue
        release = question.ask(visit=visit)
        least = min(one.cost for one in answers.values())
        details = release.evidence.details
        assert details["cost"] == pytest.approx(least, rel=1e-9, abs=1e-12)
        assert details["bound"] == pytest.approx(least, rel=1e-9, abs=1e-12)
        assert details["optimal"]
        chosen = answers[node_of(release)]
        assert chosen.cost == pytest.approx(least, rel=1e-9, abs=1e-12)
        assert release.evidence.suppressed == chosen.suppressed == len(question.rows) - release.frame.num_rows
        assert release.verdict.ok


@pytest.mark.parametrize("kind", GUARANTEES)
@given(data=st.data())
@settings(max_examples=15)
def test_every_visited_node_has_its_own_score(kind: str, data: st.DataObject) -> None:
    question = data.draw(questions(GUARANTEES[kind]))
    answers = question.answers()
    if not answers:
        return
    visited = question.ask(visit="all").evidence.details["visited"]
    assert sorted(map(tuple, visited.levels.tolist())) == question.nodes()
    for levels, cost, suppressed, feasible in zip(
        visited.levels.tolist(), visited.cost, visited.suppressed, visited.feasible, strict=True
    ):
        assert feasible == (tuple(levels) in answers)
        if feasible:
            one = answers[tuple(levels)]
            assert (suppressed, cost) == (one.suppressed, pytest.approx(one.cost, rel=1e-9, abs=1e-12))
        else:
            assert cost == math.inf


OWN: dict[tuple[str, str], Callable[[Loss], float | None]] = {
    ("loss", "mean"): lambda lost: lost.total,
    ("loss", "maximum"): lambda lost: lost.maximum,
    ("loss", "geometric"): lambda lost: lost.geometric,
    ("entropy", "mean"): lambda lost: lost.entropy.total_normalized,
    ("discernibility", "mean"): lambda lost: lost.discernibility,
    ("average_class_size", "mean"): lambda lost: lost.average_class_size,
    ("height", "mean"): lambda lost: lost.height,
    ("precision", "mean"): lambda lost: lost.precision,
}


@pytest.mark.parametrize(("measure", "how"), OWN)
@given(rows=rows_strategy(20), guarantee=SINGLE, share=st.sampled_from([0.0, 0.2, 0.6, 1.0]), data=st.data())
@settings(max_examples=30)
def test_the_cost_is_the_measure_of_the_release(
    measure: str, how: Any, rows: list[Row], guarantee: Guarantee, share: float, data: st.DataObject
) -> None:
    weights = {}
    if measure in ("loss", "entropy"):
        weights = data.draw(st.dictionaries(st.sampled_from(QUASI), st.sampled_from([0.5, 1.0, 3.0])))
    publisher = OptimalLattice(guarantee, measure=measure, aggregate=how, max_suppressed=share)
    try:
        release = publisher.release(table_of(rows, weights))
    except InfeasibleError:
        return
    assert release.evidence.details["cost"] == pytest.approx(
        OWN[measure, how](loss(release)), rel=1e-9, abs=1e-9
    )


# --- what cannot be done ----------------------------------------------------------------------------


@given(question=questions(st.one_of(*GUARANTEES.values())))
@settings(max_examples=100)
def test_what_an_infeasible_search_says_is_so(question: Question) -> None:
    """What it says would do does, at no less than the best node there is."""
    try:
        question.ask()
        return
    except InfeasibleError as error:
        said = str(error)
    if named := re.search(r"allow max_suppressed=([\d.e-]+)", said):
        question.ask(max_suppressed=float(named[1]))
    else:
        assert "ask for less" in said
    told = re.search(r"suppresses (\d+) of (\d+) rows", said)
    assert told is not None
    assert int(told[2]) == len(question.rows)
    kept = question.answers(limit=len(question.rows))
    assert int(told[1]) >= min([one.suppressed for one in kept.values()], default=len(question.rows))


def test_a_share_that_is_named_suffices_in_floating_point() -> None:
    """29 of 100 rows are 0.29 of them, though 0.29 * 100 rounds to less than 29."""
    table = Table(pa.table({"a": [*range(29), *[99] * 71]}), {"a": quasi()})
    with pytest.raises(InfeasibleError, match=r"allow max_suppressed=0\.29 "):
        OptimalLattice(KAnonymity(50), highest={"a": 0}).release(table)
    release = OptimalLattice(KAnonymity(50), highest={"a": 0}, max_suppressed=0.29).release(table)
    assert release.evidence.suppressed == 29


def test_a_share_that_is_named_suffices_where_leaving_rows_out_moves_the_table() -> None:
    """Without q the others are further from the table than before: three rows must go, not one."""
    table = Table(pa.table({"a": list("prqpr"), "s": list("zzyyz")}), {"a": quasi(), "s": sensitive()})
    for share in (0.0, 0.3):
        with pytest.raises(InfeasibleError, match=r"suppresses 3 of 5 rows.*max_suppressed=0\.6 "):
            OptimalLattice(DeltaDisclosure(1.0), highest={"a": 0}, max_suppressed=share).release(table)


def test_a_share_would_do_below_nodes_that_were_ruled_out() -> None:
    """The whole table has too few different values, and without suppression so has everything below; one class has."""
    flags, pays = [True] + [None] * 7, [1, 1, 1, 1, 2, 2, 2, 1]
    towns = [None] * 7 + ["ulm"]
    rows = [
        {"age": None, "town": town, "flag": flag, "ward": None, "pay": pay}
        for town, flag, pay in zip(towns, flags, pays, strict=True)
    ]
    asked = {"guarantee": EntropyDiversity(2, of="pay"), "measure": "discernibility"}
    assert OptimalLattice(**asked, max_suppressed=1.0).release(table_of(rows)).evidence.suppressed == 2  # type: ignore[arg-type]
    with pytest.raises(InfeasibleError) as raised:
        OptimalLattice(**asked).release(table_of(rows))  # type: ignore[arg-type]
    assert "ask for less" in str(raised.value)


def test_infeasible_says_how_far_and_what_would_do() -> None:
    table = table_of([{"age": 20, "town": "ulm", "flag": True, "ward": "a", "pay": 1}] * 4)
    with pytest.raises(InfeasibleError, match=r"KAnonymity\(k=9\).*4 of 4 rows.*ask for less"):
        OptimalLattice(KAnonymity(9), max_suppressed=0.5).release(table)
    rows = [{"age": age, "town": "ulm", "flag": True, "ward": "a", "pay": 1} for age in (20, 20, 20, 31)]
    with pytest.raises(InfeasibleError, match=r"at most 0.00%.*1 of 4 rows \(25.00%\).*max_suppressed=0.25 "):
        OptimalLattice(KAnonymity(2), highest={"age": 1}).release(table_of(rows))


SMALL = [{"age": age, "town": "ulm", "flag": None, "ward": "a", "pay": 1} for age in (20, 20, 31, 31)]


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan, math.inf, "0.1", True, None])
def test_a_share_outside_0_to_1(share: Any) -> None:
    with pytest.raises(ParameterError, match=r"'max_suppressed' parameter of OptimalLattice.*\[0, 1\]"):
        OptimalLattice(KAnonymity(2), max_suppressed=share).release(table_of(SMALL))


@pytest.mark.parametrize(
    "wrong",
    [
        {"measure": "gain"}, {"aggregate": "median"}, {"visit": "some"}, {"time_limit": 0}, {"time_limit": "1"},
        {"weights": {"age": 0}}, {"weights": {"age": math.inf}}, {"weights": [1, 2, 3]}, {"lowest": {"age": 4}},
        {"highest": {"age": -1}}, {"lowest": {"age": 0.5}}, {"lowest": {"age": 2}, "highest": {"age": 1}},
        {"lowest": 2}, {"highest": "age"}, {"random_state": "x"}, {"guarantee": 5},
    ],
)  # fmt: skip
def test_wrong_parameters_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        OptimalLattice(**({"guarantee": KAnonymity(2)} | wrong)).release(table_of(SMALL))


@pytest.mark.parametrize("which", ["weights", "lowest", "highest"])
def test_columns_that_are_no_quasi_identifiers(which: str) -> None:
    for name in ("ward", "absent"):
        with pytest.raises(SchemaError, match=name):
            OptimalLattice(KAnonymity(2), **{which: {name: 1}}).release(table_of(SMALL))  # type: ignore[arg-type]


@pytest.mark.parametrize("visit", ["best", "all"])
@pytest.mark.parametrize("measure", MEASURES)
def test_columns_with_one_level_only(visit: Any, measure: str) -> None:
    """Every level fixed but one; a constant column; a column of nulls."""
    fixed = {"town": 1, "flag": 0}
    release = OptimalLattice(
        KAnonymity(2), measure=measure, lowest=fixed, highest=fixed, visit=visit
    ).release(table_of(SMALL))
    assert release.evidence.levels == {"age": 0, "town": 1, "flag": 0}
    fixed |= {"age": 3}
    release = OptimalLattice(
        KAnonymity(4), measure=measure, lowest=fixed, highest=fixed, visit=visit
    ).release(table_of(SMALL))
    assert release.evidence.details["n_nodes"] == 1
    assert release.verdict.ok
    with pytest.raises(InfeasibleError, match="4 of 4 rows"):
        OptimalLattice(KAnonymity(5), measure=measure, lowest=fixed, highest=fixed, visit=visit).release(
            table_of(SMALL)
        )


def test_nulls_are_hidden_among_nulls_only() -> None:
    rows = [
        {"age": age, "town": None, "flag": None, "ward": "a", "pay": 1} for age in (None, None, 20, 21, 23)
    ]
    release = OptimalLattice(KAnonymity(2)).release(table_of(rows))
    assert release.evidence.levels == {"age": 1, "town": 0, "flag": 0}
    release = OptimalLattice(KAnonymity(3), max_suppressed=0.4, highest={"age": 2}).release(table_of(rows))
    assert (release.evidence.levels, release.evidence.suppressed) == ({"age": 1, "town": 0, "flag": 0}, 2)


def test_a_tree_taller_than_a_byte() -> None:
    codes = [first + "x" * 139 for first in "abab"] + ["c" * 140, "d" * 140]
    names = {code: code[:1] for code in codes}
    steps = [{f"{first}{level}": f"{first}{level + 1}" for first in "abcd"} for level in range(140)]
    tall = from_mapping({code: f"{first}0" for code, first in names.items()}, *steps)
    table = Table(pa.table({"a": codes, "b": [1, 1, 2, 2, 1, 2]}), {"a": quasi(tall), "b": quasi()})
    release = OptimalLattice(KAnonymity(3), highest={"b": 0}).release(table)
    assert release.evidence.levels == {"a": 142, "b": 0}


def test_a_population_without_the_tree() -> None:
    """A coarser class may describe nobody where its labels mean nothing to the population; the finer one is best."""
    rows = [
        {"age": 20, "town": town, "flag": flag, "ward": "a", "pay": 1}
        for town in TOWNS
        for flag in (True, False)
    ]
    people = pa.table({"age": [20] * 30, "town": list(TOWNS) * 6, "flag": [True, True, False] * 10})
    plain = Table(people, {"age": quasi(), "town": quasi(), "flag": quasi()})
    guarantee = KMap(2, plain) & DistinctDiversity(1, of="ward")
    limits = {"highest": {"age": 0, "town": 1}}
    costs = []
    for visit in ("best", "all"):
        release = OptimalLattice(guarantee, visit=visit, **limits).release(table_of(rows))  # type: ignore[arg-type]
        costs.append(release.evidence.details["cost"])
    assert costs[0] == pytest.approx(costs[1])


def test_a_class_at_its_bound_rules_nothing_out() -> None:
    """1 - 1/3 rounds to more than 2/3, and passes; the node where another class fails must not rule out the best.

    The coarse class of q and r holds one a among twelve others, too few; q alone has enough, and r none at all.
    """
    values = {"p": "aaaaa", "q": "abc", "r": "bbbbbccccc"}
    frame = pa.table(
        {
            "x": [x for x, held in values.items() for _ in held],
            "s": [one for held in values.values() for one in held],
        }
    )
    table = Table(frame, {"x": quasi(from_mapping({"p": "P", "q": "Q", "r": "Q"})), "s": sensitive()})
    for visit in ("all", "best"):
        release = OptimalLattice(TCloseness(2 / 3) & DeltaDisclosure(1.6), visit=visit).release(table)  # type: ignore[arg-type]
        assert release.evidence.levels == {"x": 0}


# --- generalization against suppression --------------------------------------------------------------


def factor_cost(rows: Sequence[Row], node: Node, left: Sequence[Row], g: float) -> float:
    """The mean over columns of ARX's scaled share of leaves, written out from its definition."""
    n, gone, total = len(rows), {id(row) for row in left}, 0.0
    for_suppressed, for_generalized = min(1.0, 2 * g), min(1.0, 2 - 2 * g)
    for name, level in zip(QUASI, node, strict=True):
        known = leaves(name, rows)
        under, size = Counter(above(name, leaf, level) for leaf in known), max(len(known), 1)
        if size == 1:
            total += for_suppressed * len(left) / n
            continue
        x = 0.0
        for row in rows:
            a = max(under[above(name, row[name], level)], 1) / size
            x += a + for_suppressed * (1 - a) if id(row) in gone else for_generalized * a
        least = for_generalized * n / size
        total += (x - least) / (n - least)
    return total / len(QUASI)


@given(
    rows=rows_strategy(),
    k=st.integers(1, 4),
    g=st.sampled_from([0.0, 0.2, 0.5, 0.7, 1.0]),
    limit=st.integers(0, 6),
)
@settings(max_examples=60, deadline=None)
def test_the_factor_between_generalization_and_suppression(
    rows: list[Row], k: int, g: float, limit: int
) -> None:
    costs = {}
    for node in itertools.product(*(range(height + 1) for height in HEIGHTS)):
        kept = kept_classes(KAnonymity(k), rows, node)
        stayed = {id(row) for members in kept for row in members}
        left = [row for row in rows if id(row) not in stayed]
        if kept and len(left) <= limit:
            costs[node] = factor_cost(rows, node, left, g)
    search = OptimalLattice(KAnonymity(k), suppression_factor=g, max_suppressed=limit)
    if not costs:
        with pytest.raises(InfeasibleError):
            search.release(table_of(rows))
        return
    details = search.release(table_of(rows)).evidence.details
    assert details["cost"] == pytest.approx(min(costs.values()), abs=1e-9)
    every = OptimalLattice(KAnonymity(k), suppression_factor=g, max_suppressed=limit, visit="all")
    assert every.release(table_of(rows)).evidence.details["cost"] == pytest.approx(details["cost"], abs=1e-9)


def test_the_factor_belongs_to_the_loss() -> None:
    table = table_of([{"age": 18, "town": "ulm", "flag": True, "ward": "a", "pay": 1}] * 2)
    with pytest.raises(ParameterError, match=r"'suppression_factor' .* belongs to measure='loss'"):
        OptimalLattice(KAnonymity(2), measure="height", suppression_factor=0.2).release(table)
    with pytest.raises(
        ParameterError, match="'suppression_factor' parameter of OptimalLattice must be a number in"
    ):
        OptimalLattice(KAnonymity(2), suppression_factor=1.5)


# --- ARX's Adult ------------------------------------------------------------------------------------

ADULT = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class",
)  # fmt: skip
ADULT_GUARANTEES: list[Guarantee] = [
    KAnonymity(5),
    DistinctDiversity(3),
    EntropyDiversity(3),
    RecursiveDiversity(4.0, 3),
    TCloseness(0.2),
    TCloseness(0.2, "ordered"),
    TCloseness(0.2, "hierarchical"),
    TCloseness(0.3, "kl"),
    AlphaKAnonymity(0.3, 5),
    BasicBetaLikeness(2.0),
    EnhancedBetaLikeness(2.0),
    DeltaDisclosure(2.0),
    KAnonymity(10) & TCloseness(0.3) & EntropyDiversity(4),
]


@pytest.fixture(scope="module")
def adult(shared_data: Path) -> Callable[..., Table]:
    folder = shared_data / "adult-arx"
    with gzip.open(folder / "adult.csv.gz") as file:
        frame = pv.read_csv(
            file,
            parse_options=pv.ParseOptions(delimiter=";"),
            convert_options=pv.ConvertOptions(column_types=dict.fromkeys(ADULT, pa.string())),
        )
    trees = {name: read_hierarchy(folder / f"adult_hierarchy_{name}.csv") for name in ADULT}

    def projected(*names: str, hidden: str | None = None) -> Table:
        roles = {name: quasi(trees[name]) for name in names}
        roles |= {hidden: sensitive(trees[hidden])} if hidden else {}
        return Table(frame.select(list(roles)), roles)

    return projected


@dataclass
class Kept:
    """What a node leaves out, as arrays over its classes."""

    node: Node
    sizes: Any
    codes: Sequence[Any]
    kept: Any

    @property
    def suppressed(self) -> int:
        return int(self.sizes[~self.kept].sum())


def every_node(lattice: Lattice, guarantee: Guarantee) -> list[Kept]:
    """Leave out the failing classes of every node, and again where that moves the whole table."""
    found = []
    for number in range(lattice.n_nodes):
        node = lattice.node(number)
        groups, _, codes = lattice.groups(node)
        kept = guarantee.holds(groups)
        while kept.any():
            again = kept.copy()
            again[kept] = guarantee.holds(groups.only(kept))
            if (again == kept).all():
                break
            kept = again
        found.append(Kept(node, groups.sizes, codes, kept))
    return found


def adult_cost(lattice: Lattice, measure: str, one: Kept) -> float:
    n, s, m = lattice.table.n_rows, one.suppressed, len(lattice.names)
    stayed, left = one.sizes * one.kept, one.sizes * ~one.kept
    if measure == "discernibility":
        return float((stayed**2).sum() + n * s)
    if measure == "monotone_discernibility":
        return float((one.sizes**2).sum())
    if measure.startswith("monotone_"):
        measure, s, left = measure.removeprefix("monotone_"), 0, left * 0
        measure = {"entropy": "entropy_bits"}.get(measure, measure)
    if measure == "average_class_size":
        return float(n / (one.kept.sum() + (s > 0)))
    if measure == "height":
        return float(sum(one.node))
    total = 0.0
    for column, level in enumerate(one.node):
        known = lattice.trees[column]
        if measure == "precision":
            total += ((n - s) * level / known.height + s) / n
            continue
        if measure == "loss":
            under = np.bincount(known.levels[level][1:], minlength=len(known.labels[level]))
            losses = np.maximum(under - 1, 0) / (known.n_leaves - 1)
            total += ((stayed * losses[one.codes[column]]).sum() + s) / n
            continue
        own = lattice.table.overall(lattice.names[column])
        whole = np.bincount(known.levels[level], weights=own)[known.levels[level]]
        gone = np.bincount(one.codes[column], weights=left)
        bits = (own[own > 0] * np.log2(whole[own > 0] / own[own > 0])).sum()
        bits += (gone[gone > 0] * np.log2(s / gone[gone > 0])).sum()
        if measure == "entropy_bits":
            total += bits
            continue
        total += bits / (own[own > 0] * np.log2(n / own[own > 0])).sum()
    return total / m


PROJECTIONS = {
    3: ("sex", "age", "education"),
    5: ("sex", "race", "marital-status", "education", "salary-class"),
}


@pytest.mark.parametrize("guarantee", ADULT_GUARANTEES, ids=repr)
@pytest.mark.parametrize("width", PROJECTIONS)
def test_adult_by_brute_force(adult: Callable[..., Table], guarantee: Guarantee, width: int) -> None:
    table = adult(*PROJECTIONS[width], hidden="occupation")
    lattice = Lattice(table)
    nodes = every_node(lattice, guarantee)
    for measure in MEASURES:
        costs = {one.node: adult_cost(lattice, measure, one) for one in nodes if one.kept.any()}
        for share in (0.0, 0.02, 0.05, 1.0):
            limit = math.floor(share * table.n_rows)
            feasible = [one for one in nodes if one.kept.any() and one.suppressed <= limit]
            publisher = OptimalLattice(guarantee, measure=measure, max_suppressed=share)
            if not feasible:
                with pytest.raises(InfeasibleError):
                    publisher.release(table)
                continue
            least = min(costs[one.node] for one in feasible)
            release = publisher.release(table)
            assert release.evidence.details["cost"] == pytest.approx(least, rel=1e-9)
            chosen = tuple((release.evidence.levels or {}).values())
            assert chosen in {one.node for one in feasible}
            assert costs[chosen] == pytest.approx(least, rel=1e-9)


def test_adult_k_5_without_suppression(adult: Callable[..., Table]) -> None:
    release = OptimalLattice(KAnonymity(5)).release(adult(*ADULT))
    assert release.evidence.details["cost"] == pytest.approx(0.635544, abs=5e-7)
    assert release.evidence.levels == dict(zip(ADULT, (0, 4, 1, 1, 3, 2, 2, 1, 0), strict=True))
    assert release.evidence.suppressed == 0
    assert release.evidence.details["n_nodes"] == 12_960
    assert release.verdict.ok


@pytest.mark.parametrize(
    ("measure", "share"),
    [("loss", 0.0), ("loss", 0.02), ("loss", 1.0), ("discernibility", 0.05), ("precision", 0.05)],
)
def test_adult_full_lattice_best_equals_all(adult: Callable[..., Table], measure: str, share: float) -> None:
    table = adult(*ADULT)
    best = OptimalLattice(KAnonymity(5), measure=measure, max_suppressed=share).release(table)
    every = OptimalLattice(KAnonymity(5), measure=measure, max_suppressed=share, visit="all").release(table)
    assert best.evidence.details["cost"] == pytest.approx(every.evidence.details["cost"], rel=1e-9)
    assert every.evidence.details["visited"].cost.min() == every.evidence.details["cost"]
    assert every.evidence.details["visited"].cost.size == 12_960
