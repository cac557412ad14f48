"""Roll-up and the visit of every node, held against counting rows with dictionaries."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Table, from_mapping, quasi, sensitive
from discreet.kernels.tables import lattice_nodes as lattice_visit
from discreet.kernels.tables.lattice import Scratch, pack_fields, stats_of
from discreet.publish.lattice import cubes as lattice_cubes
from discreet.publish.lattice import roll_up
from discreet.publish.lattice import search as lattice_search
from discreet.publish.lattice.lattice import Lattice
from discreet.publish.lattice.roll_up import Recount, RollUp
from discreet.publish.lattice.search import visit_all

Node = tuple[int, ...]

# --- roll-up of packed keys -------------------------------------------------------------------------


def codes_of(n_codes: int, size: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, n_codes - 1), min_size=size, max_size=size)


@given(data=st.data())
@settings(max_examples=150)
def test_scratch_rolls_up_and_adds_up(data: st.DataObject) -> None:
    """Any fields, any mapping of codes, and the same table of slots used again and again."""
    bits = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    shifts = np.cumsum(bits) - bits
    codes = data.draw(
        st.lists(st.tuples(*(st.integers(0, 2**width - 1) for width in bits)), min_size=1, max_size=40)
    )
    counts = np.array(data.draw(st.lists(st.integers(1, 9), min_size=len(codes), max_size=len(codes))))
    keys = pack_fields([np.array(column, np.int32) for column in zip(*codes, strict=True)], shifts)
    scratch = Scratch(keys.size)
    plain: Counter[int] = Counter()
    for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
        plain[key] += count
    for _ in range(3):
        raised = data.draw(st.sets(st.sampled_from(range(len(bits)))))
        maps = {field: data.draw(codes_of(2 ** bits[field], 2 ** bits[field])) for field in raised}
        fields, ancestors = np.empty((len(maps), 3), np.int64), [np.empty(0, np.int64)]
        for row, (field, up) in enumerate(maps.items()):
            fields[row] = shifts[field], bits[field], sum(part.size for part in ancestors)
            ancestors.append(np.array(up, np.int64))
        expected: Counter[tuple[int, ...]] = Counter()
        for row_codes, count in zip(codes, counts.tolist(), strict=True):
            expected[tuple(maps[i][c] if i in maps else c for i, c in enumerate(row_codes))] += count
        rolled, sums = scratch.roll(keys, counts, fields, np.concatenate(ancestors))
        found = {
            tuple((key >> int(s)) & ((1 << b) - 1) for s, b in zip(shifts, bits, strict=True)): count
            for key, count in zip(rolled.tolist(), sums.tolist(), strict=True)
        }
        assert len(found) == rolled.size
        assert found == dict(expected)
        again, added = scratch.count(keys, counts)
        assert dict(zip(again.tolist(), added.tolist(), strict=True)) == dict(plain)
        assert again.size == len(plain)


def test_stats_of_a_node() -> None:
    keys, counts = np.array([0b0001, 0b0110, 0b1100]), np.array([1, 2, 5])
    fields, losses = np.array([[0, 2, 0], [2, 2, 4]]), np.array([0.0, 0.1, 0.2, 0.3, 0.0, 0.5, 0.6, 1.0])
    assert stats_of(keys, counts, 3, 3, fields, losses) == (
        3,
        pytest.approx(0.1 * 1 + 2 * (0.2 + 0.5)),
        25,
        1,
    )
    assert stats_of(keys, counts, 3, 2, fields, losses) == (3, 0.0, 25, 1)
    assert stats_of(keys, counts, 1, 0, fields, losses) == (0, 0.0, 30, 3)
    assert stats_of(keys, counts, 9, 8, fields, losses).kept == 0


# --- one level up in place --------------------------------------------------------------------------


@pytest.mark.parametrize("n_codes", [2, 5, 40])
@given(data=st.data())
@settings(max_examples=60)
def test_a_field_is_raised_in_place(n_codes: int, data: st.DataObject) -> None:
    """Blocks of one run, of a few (merged) and of many (sorted) all give sorted distinct keys with their counts."""
    low_bits, bits = 3, 6
    triples = st.tuples(st.integers(0, 2), st.integers(0, n_codes - 1), st.integers(0, 7))
    rows = sorted(data.draw(st.sets(triples, min_size=1, max_size=120)))
    counts = np.arange(1, len(rows) + 1, dtype=np.int64)
    groups = sorted(data.draw(codes_of(n_codes, n_codes)))
    parents = np.array(groups, np.int64)
    key = np.array([(a << (low_bits + bits)) | (b << low_bits) | c for a, b, c in rows], np.int64)
    expected: Counter[int] = Counter()
    for (a, b, c), count in zip(rows, counts.tolist(), strict=True):
        expected[(a << (low_bits + bits)) | (groups[b] << low_bits) | c] += count
    size = lattice_visit._raise(
        key,
        counts,
        key.size,
        low_bits,
        bits,
        parents,
        np.empty(key.size, np.int64),
        np.empty(key.size, np.int64),
    )
    assert key[:size].tolist() == sorted(expected)
    assert counts[:size].tolist() == [expected[one] for one in sorted(expected)]


@pytest.mark.parametrize("n_runs", range(2, 10))
def test_merging_and_sorting_agree(n_runs: int) -> None:
    """A block on either side of the number of runs from which it is sorted."""
    rng = np.random.default_rng(n_runs)
    runs = [np.sort(rng.choice(50, 20, replace=False)) for _ in range(n_runs)]
    key, count = np.concatenate(runs).astype(np.int64), np.ones(20 * n_runs, np.int64)
    expected = Counter(key.tolist())
    for way in (lattice_visit._merge_runs, lattice_visit._sort_block):
        merged, added = np.append(np.int64(-1), key), np.append(np.int64(7), count)
        spare = np.empty(merged.size, np.int64), np.empty(merged.size, np.int64)
        written = way(merged, added, 1, merged.size, 1, *spare)
        assert merged[:written].tolist() == [-1, *sorted(expected)]
        assert added[:written].tolist() == [7, *(expected[one] for one in sorted(expected))]


# --- every node of a lattice ------------------------------------------------------------------------


@st.composite
def lattices(
    draw: st.DrawFn, *, most_columns: int = 4, max_size: int = 40
) -> tuple[Lattice, list[dict[str, Any]]]:
    """Tables of one to four columns with random trees, some levels cut off, nulls, and a sensitive column."""
    columns: dict[str, list[Any]] = {}
    roles = {}
    paths: dict[str, dict[Any, list[Any]]] = {}
    n_rows = draw(st.integers(1, max_size))
    lowest, highest = {}, {}
    for name in "abcd"[: draw(st.integers(1, most_columns))]:
        n_leaves = draw(st.sampled_from([1, 2, 3, 9, 20]))
        nodes = [f"{name}{leaf}" for leaf in range(n_leaves)]
        maps, own = [], [list(nodes)]
        for level in range(draw(st.integers(0, 3))):
            known = list(dict.fromkeys(own[-1]))
            up = {one: f"{name}{level}-{draw(st.integers(0, max(len(known) // 2, 1)))}" for one in known}
            maps.append(up)
            own.append([up[one] for one in own[-1]])
        if not maps or len(set(own[-1])) > 1:
            own.append(["*"] * n_leaves)
        roles[name] = quasi(from_mapping(*maps) if maps else None)
        values = st.none() | st.sampled_from(nodes)
        columns[name] = draw(st.lists(values, min_size=n_rows, max_size=n_rows))
        paths[name] = {leaf: [level[i] for level in own] for i, leaf in enumerate(nodes)}
        paths[name][None] = [None] * (len(own) - 1) + [own[-1][0]]
        lowest[name] = draw(st.just(0) | st.integers(0, len(own) - 1))
        highest[name] = draw(st.just(len(own) - 1) | st.integers(lowest[name], len(own) - 1))
    kinds = [(name, pa.string()) for name in columns]
    columns["s"] = draw(st.lists(st.none() | st.sampled_from("xyz"), min_size=n_rows, max_size=n_rows))
    frame = pa.table(columns, pa.schema([*kinds, ("s", pa.string())]))
    lattice = Lattice(Table(frame, roles | {"s": sensitive()}), lowest=lowest, highest=highest)
    rows = [
        {
            name: paths[name][value] if name in paths else value
            for name, value in zip(columns, row, strict=True)
        }
        for row in zip(*columns.values(), strict=True)
    ]
    return lattice, rows


def nodes_of(lattice: Lattice) -> list[Node]:
    levels = zip(lattice.bottom, lattice.top, strict=True)
    return list(itertools.product(*(range(low, high + 1) for low, high in levels)))


def slow_stats(
    lattice: Lattice, rows: list[dict[str, Any]], node: Node, smallest: int, limit: int, weights: Any
) -> tuple[int, float, int, int]:
    """Count classes by their labels; the loss of a cell by counting the leaves with the same label."""
    sizes = Counter(
        tuple(row[name][level] for name, level in zip(lattice.names, node, strict=True)) for row in rows
    )
    few = {shown: size for shown, size in sizes.items() if size < smallest}
    suppressed = sum(few.values())
    lost = 0.0
    for shown, size in few.items() if suppressed <= limit else ():
        for column, (label, level) in enumerate(zip(shown, node, strict=True)):
            known = lattice.trees[column]
            labels = known.labels[level]
            under = sum(labels[one] == label for one in known.levels[level][1:].tolist())
            lost += size * weights[column] * max(under - 1, 0) / max(known.n_leaves - 1, 1)
    kept = [size for size in sizes.values() if size >= smallest]
    return suppressed, lost, sum(size**2 for size in kept), len(kept)


@given(drawn=lattices(), smallest=st.integers(1, 6), limit=st.sampled_from([0, 3, 10, 40]), data=st.data())
@settings(max_examples=150)
def test_visit_roll_up_and_recount_equal_counting(
    drawn: tuple[Lattice, list[dict[str, Any]]], smallest: int, limit: int, data: st.DataObject
) -> None:
    lattice, rows = drawn
    weights = np.array(data.draw(st.tuples(*[st.sampled_from([0.25, 1.0])] * len(lattice.names))))
    found = visit_all(lattice, weights, smallest, limit)
    with pytest.MonkeyPatch.context() as patch:
        cubes = []
        # Tuples counted one by one at every node, put into every cube, or into the first alone.
        for sparse, put in ((1e-9, 1.0), (1e9, 1e-9), (1e9, 1e9)):
            patch.setattr(lattice_cubes, "_SPARSE", sparse)
            patch.setattr(lattice_cubes, "_PUT", put)
            cubes.append(lattice_cubes.CubeVisit(lattice, weights).visit(smallest, limit))
    rolled, recounted = RollUp(lattice), Recount(lattice)
    order = data.draw(st.permutations(nodes_of(lattice))) if lattice.n_nodes < 60 else nodes_of(lattice)
    for node in order:
        number = int(np.ravel_multi_index(lattice.place(node), lattice.dims))
        assert lattice.node(number) == node
        slow = slow_stats(lattice, rows, node, smallest, limit, weights)
        visited = tuple(array[number] for array in found)
        rolled_up = rolled.stats(node, smallest, limit, weights)
        cubed = (tuple(array[number] for array in each) for each in cubes)
        for suppressed, lost, squares, kept in (visited, rolled_up, *cubed):
            assert (suppressed, squares, kept) == (slow[0], *slow[2:])
            assert lost == pytest.approx(slow[1])
        again = recounted.stats(node, smallest, limit, weights)
        assert (again.suppressed, again.squares, again.kept) == (slow[0], *slow[2:])
        if slow[0] <= limit:
            assert again.suppressed_loss == pytest.approx(slow[1])


def comparable(groups: Any, codes: Any, n_columns: int) -> set[Any]:
    """The classes as a set, whatever their order."""
    inside: list[tuple[tuple[int, int], ...]] = [()] * groups.n_groups
    for counts in groups.sensitive.values():
        for group in range(groups.n_groups):
            part = slice(counts.indptr[group], counts.indptr[group + 1])
            inside[group] += tuple(
                zip(counts.values[part].tolist(), counts.counts[part].tolist(), strict=True)
            )
    cells = zip(*(codes(column).tolist() for column in range(n_columns)), strict=True)
    return set(zip(cells, groups.sizes.tolist(), inside, strict=True))


@given(
    drawn=lattices(most_columns=3), data=st.data(), room=st.sampled_from([0, 5, 10**6]), spelled=st.booleans()
)
@settings(max_examples=100)
def test_classes_from_any_kept_node_equal_those_from_the_table(
    drawn: tuple[Lattice, list[dict[str, Any]]], data: st.DataObject, room: int, spelled: bool
) -> None:
    """In whatever order nodes are asked for, with and without room to keep them, spelled out or rolled."""
    lattice, _ = drawn
    order = data.draw(st.lists(st.sampled_from(nodes_of(lattice)), min_size=1, max_size=12))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(roll_up, "_MOST_KEPT", room)
        patch.setattr(roll_up, "_MOST_SPELLED", 10**6 if spelled else 0)
        for names in ((), ("s",)):
            rolled, width = RollUp(lattice, names), len(lattice.names)
            for node in order:
                groups, codes = rolled.groups(node)
                whole, _, columns = lattice.groups(node)
                expected = comparable(whole, columns.__getitem__, width)
                if not names:
                    expected = {(cells, size, ()) for cells, size, _ in expected}
                assert comparable(groups, codes, width) == expected
            assert sum(keys.size for keys, _ in list(rolled._kept.values())[1:]) <= room


def test_one_column_and_one_level() -> None:
    table = Table(pa.table({"a": ["x", "x", "y", None]}), {"a": quasi()})
    found = visit_all(Lattice(table), np.ones(1), 2, 4)
    assert [array.tolist() for array in found] == [[2, 0], [0.0, 0.0], [4, 16], [1, 1]]
    found = visit_all(Lattice(table, lowest={"a": 1}), np.ones(1), 5, 4)
    assert [array.tolist() for array in found] == [[4], [4.0], [0], [0]]


def test_the_visit_with_the_least_work_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cubes where the price says so, and never where no inner columns are few enough; the results are the same."""
    rng = np.random.default_rng(1)
    names = [f"q{number}" for number in range(5)]
    table = Table(
        pa.table({name: rng.integers(0, 9, 3000) for name in names}), {name: quasi() for name in names}
    )
    found = {}
    monkeypatch.setattr(lattice_search, "_MANY", 1)
    for price in (0.0, 1e9):
        monkeypatch.setattr(lattice_search, "SORTED", price)
        found[price] = visit_all(Lattice(table), np.ones(5), 3, 2500)
    for sorted_, cubed in zip(found[0.0], found[1e9], strict=True):
        np.testing.assert_allclose(sorted_, cubed, rtol=1e-12)
    visit = lattice_cubes.CubeVisit(Lattice(table), np.ones(5))
    assert visit.nanoseconds < np.inf
    monkeypatch.setattr(lattice_cubes, "_MOST_OUTER", 0)
    monkeypatch.setattr(visit.__class__, "visit", None)
    visit_all(Lattice(table), np.ones(5), 3, 2500)


def test_keys_fit_up_to_62_bits() -> None:
    """Columns of 2^k - 1 values and a null take k bits each."""
    values = [f"{value:05d}" for value in range(2**10 - 1)]
    names = [f"q{number}" for number in range(6)]
    table = Table(
        pa.table({**dict.fromkeys(names, values), "r": ["0", "1", "2"] * 341, "s": ["x"] * 1023}),
        {name: quasi() for name in names} | {"r": quasi(), "s": sensitive()},
    )
    lattice = Lattice(table)
    assert RollUp.fits(lattice)
    assert not RollUp.fits(lattice, ["s"])
    rolled, recounted = RollUp(lattice), Recount(lattice)
    for node in (lattice.bottom, lattice.top, (1,) * 6 + (0,), (0, 1, 1, 0, 1, 1, 1)):
        ours, theirs = rolled.stats(node, 2, 2000, np.ones(7)), recounted.stats(node, 2, 2000, np.ones(7))
        assert ours[:1] + ours[2:] == theirs[:1] + theirs[2:]
        assert ours.suppressed_loss == pytest.approx(theirs.suppressed_loss)
    found = visit_all(lattice, np.ones(7), 2, 2000)
    number = np.ravel_multi_index((1,) * 6 + (0,), lattice.dims)
    assert found.squares[number] == 3 * 341**2
    assert found.suppressed[0] == 1023
