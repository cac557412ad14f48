"""Rules over columns of several parties: those of the joined table, and nothing else about the columns."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.inspector import assert_as_revealed
from tests.parties.open_protocols import VerticalRules
from tests.parties.views_by_kind import require_alike, view_of

from discreet import Baskets
from discreet.core.errors import InputError, ParameterError
from discreet.mine import Itemsets, rules
from discreet.parties import PeerLostError, Simulation, simulate

NAMES = ("clinic", "insurer", "lab", "shop")
Tables = dict[str, dict[str, Any]]


def joined(tables: Tables, protocol: VerticalRules) -> Any:
    """Mine the join of the tables by a slow loop over the keys."""
    rows = {
        name: {str(key).lower(): at for at, key in enumerate(table["id"])} for name, table in tables.items()
    }
    common = sorted(set.intersection(*(set(one) for one in rows.values())))
    baskets = [
        [
            item
            for name, table in tables.items()
            for item in protocol.columns[name]
            if table[item][rows[name][key]]
        ]
        for key in common
    ]
    found = Itemsets(protocol.min_support, max_length=protocol.max_length or None)
    return found.mine(Baskets.from_lists(pa.array(baskets, pa.list_(pa.string()))))


def assert_joined(run: Any, tables: Tables, protocol: VerticalRules) -> None:
    expected = joined(tables, protocol)
    table = rules(expected, metric=protocol.metric, min_threshold=protocol.min_threshold)
    for output in run.outputs.values():
        assert output.itemsets.n == expected.n
        assert list(output.itemsets) == list(expected)
        assert output.rules.to_pylist() == table.to_pylist()


@st.composite
def splits(draw: st.DrawFn) -> tuple[Tables, dict[str, list[str]]]:
    """Tables of overlapping people at two to four parties; a party may have no people, or no items."""
    tables: Tables = {}
    columns: dict[str, list[str]] = {}
    for name in NAMES[: draw(st.integers(2, 4))]:
        people = draw(st.lists(st.integers(0, 14), unique=True, max_size=15))
        if draw(st.booleans()):
            people = list(range(15))
        columns[name] = [f"{name}-{number}" for number in range(draw(st.integers(0, 3)))]
        bits = st.lists(st.sampled_from([0, 1, 1]), min_size=len(people), max_size=len(people))
        ids = [f"{'Pp'[draw(st.integers(0, 1))]}{one}" for one in people]
        tables[name] = {"id": pa.array(ids, pa.string())} | {
            item: pa.array(draw(bits), pa.int64()) for item in columns[name]
        }
    return tables, columns


@settings(max_examples=10, deadline=None)
@given(
    split=splits(),
    support=st.one_of(st.integers(1, 6), st.sampled_from([0.2, 0.5, 1.0])),
    max_length=st.sampled_from([0, 0, 2]),
)
def test_the_result_is_that_of_the_joined_table_and_frames_are_as_declared(
    split: tuple[Tables, dict[str, list[str]]], support: float, max_length: int
) -> None:
    tables, columns = split
    protocol = VerticalRules(
        columns, key="id", max_people=15, min_support=support, max_length=max_length, min_threshold=0.5
    )
    run = simulate(protocol, tables)
    plain = {
        name: {key: column.to_pylist() for key, column in table.items()} for name, table in tables.items()
    }
    assert_joined(run, plain, protocol)
    assert_as_revealed(run, protocol, tuple(tables))


def people(n: int, parties: dict[str, list[str]], seed: int, share: float = 0.6) -> Tables:
    rng = np.random.default_rng(seed)
    return {
        name: {"id": list(range(n))} | {item: (rng.random(n) < share).tolist() for item in items}
        for name, items in parties.items()
    }


def test_sets_over_four_parties_and_many_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.parties.mining.rules import column_products

    monkeypatch.setattr(column_products, "_AT_ONCE", 1)
    columns = {
        "clinic": ["a", "b", "c", "d"],
        "insurer": ["e", "f", "g"],
        "lab": ["h", "i"],
        "shop": ["j"],
    }
    tables = people(200, columns, 1, share=0.8)
    protocol = VerticalRules(columns, key="id", max_people=200, min_support=0.3, max_length=5)
    run = simulate(protocol, tables)
    assert_joined(run, tables, protocol)
    assert any(
        len({key for key, items in columns.items() for one in names if one in items}) == 4
        for names, _ in run.outputs["clinic"].itemsets
    )
    assert_as_revealed(run, protocol, tuple(columns))


# What each party sees.


COLUMNS = {"clinic": ["asthma", "obesity"], "insurer": ["inhaler", "sports"], "lab": ["smoker"]}
FREQUENT = (1,) * 30 + (0,) * 30


def _bits(ones: int, *, start: int) -> tuple[int, ...]:
    return tuple(int(start <= at < start + ones) for at in range(60))


def _tables(**other: tuple[int, ...]) -> Tables:
    """Asthma, inhaler and smoker are frequent alone and together; obesity and sports are frequent alone only."""
    plain = {
        "asthma": FREQUENT,
        "inhaler": FREQUENT,
        "smoker": FREQUENT,
        "obesity": _bits(25, start=20),
        "sports": _bits(25, start=12),
    } | other
    return {
        name: {"id": list(range(60))} | {item: plain[item] for item in items}
        for name, items in COLUMNS.items()
    }


@cache
def runs_of(**moved: tuple[int, ...]) -> list[Simulation]:
    """Four runs, in which every party's view is looked at in turn."""
    protocol = VerticalRules(COLUMNS, key="id", max_people=60, min_support=25, max_length=3)
    return [simulate(protocol, _tables(**moved)) for _ in range(4)]


@pytest.mark.parametrize(
    ("party", "moved"),
    [
        ("clinic", {"sports": _bits(25, start=35)}),
        ("insurer", {"obesity": _bits(25, start=35)}),
        ("lab", {"obesity": _bits(25, start=35), "sports": _bits(25, start=28)}),
    ],
)
def test_counts_of_sets_that_are_not_frequent_do_not_show(
    party: str, moved: dict[str, tuple[int, ...]]
) -> None:
    first, second = runs_of(), runs_of(**moved)
    results = [runs[0].outputs[party].itemsets for runs in (first, second)]
    assert list(results[0]) == list(results[1])
    assert (("asthma", "inhaler", "smoker"), 30) in list(results[0])
    require_alike([view_of(run, party) for run in first], [view_of(run, party) for run in second])


def test_a_lost_party_stops_the_others() -> None:
    protocol = VerticalRules(COLUMNS, key="id", max_people=60, min_support=25)
    for kind in ("psi.columns", "ot.columns", "counts"):
        with pytest.raises(PeerLostError):
            simulate(protocol, _tables(), drop={"clinic": kind}, timeout=6.0)


# Mistakes.


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"columns": 3}, "'columns'"),
        ({"columns": {"a": "x", "b": ["y"]}}, "'columns'"),
        ({"columns": {"a": ["x"], "b": ["x"]}}, "'columns'"),
        ({"columns": {"a": ["id"], "b": []}}, "must not name the key"),
        ({"max_people": 0}, "'max_people'"),
        ({"key": None}, "'key'"),
        ({"min_support": 0.0}, "'min_support'"),
        ({"metric": "beauty"}, "'metric'"),
    ],
)
def test_each_parameter_is_checked_by_name(changed: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {
        "columns": {"a": ["x"], "b": ["y"]},
        "key": "id",
        "max_people": 9,
        "min_support": 2,
    } | changed
    with pytest.raises(ParameterError, match=words):
        VerticalRules(**given)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"id": ["a"]}, "no column 'x'"),
        ({"x": [1]}, "no column 'id'"),
        ({"id": ["a", "b"], "x": [1, 2]}, "'x' must hold 0 and 1"),
        ({"id": ["a", "b"], "x": [1, None]}, "'x' must hold 0 and 1"),
        ({"id": ["a", "b"], "x": ["0", "1"]}, "'x' must hold 0 and 1"),
        ({"id": ["a", "b"], "x": [0.5, 1.0]}, "'x' must hold 0 and 1"),
        ({"id": ["a", "a"], "x": [0, 1]}, "1 of the 2 keys occur before"),
        (None, "must be a table"),
    ],
)
def test_wrong_tables_are_refused(data: Any, words: str) -> None:
    protocol = VerticalRules({"a": ["x"], "b": ["y"]}, key="id", max_people=9, min_support=2)
    with pytest.raises(InputError, match=words):
        protocol.check_input(data, ("a", "b"), "a")


def test_parties_and_columns_must_agree() -> None:
    protocol = VerticalRules({"a": ["x"], "b": ["y"]}, key="id", max_people=9, min_support=2)
    with pytest.raises(ParameterError, match="every party of the session by name"):
        protocol.check_parties(("a", "c"))
