"""Tables of cells: what an attacker can enumerate, the least cost, rounding, rules about contributors, bad input."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.tabular import consistent_tables, is_safe, least_cost

from discreet import Table, person, quasi, sensitive
from discreet.core.rng import generator
from discreet.core.tables.cell_table import read_cells
from discreet.errors import InfeasibleError, InputError, ParameterError
from discreet.guarantees import CellProtection
from discreet.guarantees.cell_protection import AttackerSystem
from discreet.output.tabular import CellSuppression, CellTable, ControlledRounding, Tabulation


def flat(counts: list[list[int]]) -> CellTable:
    array = np.array(counts)
    names = {f"d{axis}": [f"c{node}" for node in range(size)] for axis, size in enumerate(array.shape)}
    return CellTable.of_leaves(names, array)


small_counts = st.lists(st.lists(st.integers(0, 6), min_size=2, max_size=2), min_size=2, max_size=3)


@settings(max_examples=25, deadline=None)
@given(
    counts=st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2), min_size=2, max_size=3),
    bits=st.integers(0, 2**12 - 1),
)
def test_intervals_are_those_of_all_tables_that_agree(counts: list[list[int]], bits: int) -> None:
    true = flat(counts)
    chosen = np.array([bool(bits >> place & 1) for place in range(true.n_cells)]).reshape(true.values.shape)
    chosen &= true.values > 0
    chosen[0] = False  # with a published margin the cells are bounded, so that they can be enumerated
    table = true.without(chosen)
    small = 2 if (true.values[chosen] <= 2).any() else 0
    tables = consistent_tables(table, small, 9)
    system = AttackerSystem(table, small)
    for place, cell in enumerate(system.cells):
        assert system.interval(place) == (tables[:, cell].min(), tables[:, cell].max())
    narrow = system.cells[system.too_narrow(3, 0.0)].tolist()
    assert narrow == [cell for cell in system.cells.tolist() if np.ptp(tables[:, cell]) < 3]


@pytest.mark.parametrize("seed", range(3))
def test_three_dimensions_are_judged_in_whole_numbers(seed: int) -> None:
    true = CellTable.of_leaves(
        {name: ["x", "y"] for name in "abc"}, generator(seed).integers(1, 3, (2, 2, 2))
    )
    table = true.without(np.all(np.indices(true.values.shape) > 0, axis=0))
    tables = consistent_tables(table, 0, 3)
    system = AttackerSystem(table)
    for place, cell in enumerate(system.cells):
        assert system.interval(place) == (tables[:, cell].min(), tables[:, cell].max())


@pytest.mark.parametrize(
    "counts",
    [[[1, 5, 4]], [[2, 4], [5, 3]], [[1, 4], [4, 6]], [[0, 2], [3, 5]], [[4, 4], [4, 4]], [[1, 1], [1, 6]]],
)
def test_the_cost_is_the_least_of_all_choices(counts: list[list[int]]) -> None:
    true = flat(counts)
    best = least_cost(true, 3, 12)
    release = CellSuppression(3).release(Tabulation.of_cells(true))
    details = release.evidence.details
    assert (details["cost"], details["lower_bound"]) == (best, best)
    assert release.verdict.verified
    assert is_safe(release.data, 3, 3, consistent_tables(release.data, 2, 12))


@pytest.mark.parametrize("limit", [20.0, 1e-9])
@pytest.mark.parametrize("counts", [[[1, 6, 4], [5, 0, 6], [4, 5, 2]], [[2, 5, 3, 4], [6, 1, 4, 3]]])
def test_no_release_lets_small_cells_be_worked_out(counts: list[list[int]], limit: float) -> None:
    """By the exact search, and by the flows that stand in for it: an attacker tries every table that agrees."""
    release = CellSuppression(3, time_limit=limit).release(Tabulation.of_cells(flat(counts)))
    assert release.verdict.verified
    table = release.data
    hidden = int(table.suppressed[1:, 1:].sum())
    assert is_safe(table, 3, 3, consistent_tables(table, 2, 9 if hidden <= 6 else 7))


@settings(max_examples=15, deadline=None)
@given(counts=small_counts)
def test_rounded_tables_add_up_and_hide_each_cell(counts: list[list[int]]) -> None:
    true = flat(counts)
    method = ControlledRounding(CellProtection(2, width=1), base=3)
    if 0 < true.values.max() < 3:  # the total may become 0, and then nothing is left
        with suppress(InfeasibleError):
            assert method.release(Tabulation.of_cells(true)).data.values.any()
        return
    rounded = method.release(Tabulation.of_cells(true)).data
    assert rounded.additive
    assert (rounded.values % 3 == 0).all()
    assert (np.abs(rounded.values - true.values) < 3).all()
    assert (rounded.values == true.values)[true.values % 3 == 0].all()
    if true.values[1:, 1:].size <= 4:
        assert is_safe(rounded, 2, 1, consistent_tables(rounded, 0, 0))


def table_of(rows: list[tuple[object, ...]], **roles: object) -> Table:
    columns = zip(*rows, strict=True)
    return Table(pa.table(dict(zip(roles, map(list, columns), strict=True))), roles)  # type: ignore[arg-type]


def test_people_are_counted_once_in_a_cell() -> None:
    rows = [("n", "a"), ("n", "a"), ("n", "b"), ("s", "c"), (None, "c")]
    counts = Tabulation.of(table_of(rows, region=quasi(), whose=person()))
    labels = counts.table.dimensions[0].labels
    assert dict(zip(labels, counts.table.values.tolist(), strict=True)) == {
        "Total": 5, "(missing)": 1, "n": 3, "s": 1,
    }  # fmt: skip
    assert dict(zip(labels, counts.contributors.tolist(), strict=True)) == {
        "Total": 3, "(missing)": 1, "n": 2, "s": 1,
    }  # fmt: skip
    assert counts.table.people


def test_dominance_and_p_percent_find_dominated_sums() -> None:
    rows = [("n", 90.5), ("n", 5.0), ("n", 4.5), ("s", 40.0), ("s", 30.0), ("s", 30.0)]
    sums = Tabulation.of(table_of(rows, region=quasi(), income=sensitive()), "income")
    assert (sums.table.decimals, sums.table.values.tolist()) == (1, [2000, 1000, 1000])
    assert sums.largest(2).tolist() == [1305, 955, 700]
    assert sums.primary(1, (1, 80), None).tolist() == [False, True, False]
    # The second of n estimates the first to within 4.5 of 90.5; the second of s to within 30 of 40.
    assert sums.primary(1, None, 10).tolist() == [False, True, False]
    assert sums.primary(1, None, 4).tolist() == [False, False, False]


@pytest.mark.parametrize("rule", [{"p_percent": 10}, {"dominance": (1, 60)}, {}])
def test_a_sum_of_zeros_is_not_published_where_somebody_contributes(rule: dict[str, Any]) -> None:
    """It shows that everybody's value is 0; a zero of a cell in which nobody is shows nothing."""
    rows = [("a", "y", 200.0 + 5 * number) for number in range(4)] + [("a", "x", 0.0)] * 4
    rows += [("b", "x", 150.0 + 9 * number) for number in range(4)] + [("b", "y", 0.0)] * 4
    rows += [("c", branch, 300.0 + 7 * number) for branch in "xy" for number in range(5)]
    rows += [("d", "x", 120.0 + 5 * number) for number in range(4)]
    sums = Tabulation.of(table_of(rows, town=quasi(), job=quasi(), debt=sensitive()), "debt")
    release = CellSuppression(CellProtection(3, width=1) if not rule else 1, **rule).release(sums)
    zero = sums.table.values == 0
    assert release.verdict.verified
    assert (release.data.suppressed & zero).sum() == 2
    assert not release.data.suppressed[zero & (sums.contributors == 0)].any()


def test_suppressed_sums_reach_beyond_the_true_value() -> None:
    rows = [
        (region, branch, float(10 * place + len(region)))
        for place in range(4)
        for region in "nsw"
        for branch in "xyz"
    ]
    rows += [("n", "x", 5000.0)]
    sums = Tabulation.of(table_of(rows, region=quasi(), branch=quasi(), turnover=sensitive()), "turnover")
    release = CellSuppression(1, p_percent=10).release(sums)
    assert release.guarantee == CellProtection(1, percent=10.0)
    assert release.verdict.verified
    primary = np.flatnonzero(sums.primary(1, None, 10))
    system = AttackerSystem(release.data)
    for cell in primary:
        place = int(np.searchsorted(system.cells, cell))
        assert system.interval(place)[1] >= 1.1 * sums.table.values.reshape(-1)[cell]


def test_hierarchies_make_margins() -> None:
    from discreet import tree

    nodes = tree({"North": ["a", "b"], "South": ["c"]})
    counts = Tabulation.of(table_of([("a",), ("b",), ("b",), ("c",)], region=quasi(nodes)))
    assert dict(zip(counts.table.dimensions[0].labels, counts.table.values.tolist(), strict=True)) == {
        "Total": 4, "North": 3, "a": 1, "b": 2, "South": 1, "c": 1,
    }  # fmt: skip
    assert counts.table.additive


def test_a_category_may_be_called_as_the_total_or_as_null() -> None:
    counts = Tabulation.of(table_of([("Total",), ("(missing)",), (None,)], region=quasi()))
    labels = counts.table.dimensions[0].labels
    assert len(set(labels)) == 4
    assert counts.table.values.tolist() == [3, 1, 1, 1]


def test_nothing_is_suppressed_where_nothing_is_small() -> None:
    release = CellSuppression(3).release(Tabulation.of_cells(flat([[5, 6], [7, 8]])))
    assert (release.data.n_suppressed, release.verdict.verified) == (0, True)


def test_what_cannot_be_protected_is_refused() -> None:
    with pytest.raises(InfeasibleError, match="even if every cell"):
        CellSuppression(5).release(Tabulation.of_cells(flat([[3]])))
    with pytest.raises(InfeasibleError):
        ControlledRounding(CellProtection(2, width=50), base=2).release(Tabulation.of_cells(flat([[3, 4]])))


def test_bad_input_is_refused_without_values() -> None:
    roles = {"region": quasi(), "income": sensitive()}
    true = flat([[3, 4], [5, 6]])
    off = true.values.copy()
    off[0, 0] += 1
    broken = CellTable(true.dimensions, off, true.suppressed)
    for refused in (lambda: Tabulation.of_cells(broken), lambda: CellProtection(2).check(broken)):
        with pytest.raises(InputError, match="The margins do not add up: 2"):
            refused()
    with pytest.raises(InputError, match="negative values"):
        Tabulation.of(table_of([("n", -91.0)], region=quasi(), income=sensitive()), "income")
    with pytest.raises(InputError, match="no number"):
        Tabulation.of(
            Table(pa.table({"region": ["n"], "income": pa.array([None], pa.int64())}), roles), "income"
        )
    with pytest.raises(ParameterError, match="publishes a Tabulation"):
        CellSuppression(5).release(true)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="about a table of cells"):
        CellProtection(5).check(pa.table({"a": [1]}))
    with pytest.raises(ParameterError, match="'dominance' parameter of CellSuppression"):
        CellSuppression(5, dominance=(0, 75)).release(Tabulation.of_cells(true))
    impossible = true.without(np.isin(np.arange(9).reshape(3, 3), [4, 5]))
    impossible.values[1, 0] = 1
    impossible.values[0, 0] -= 6
    with pytest.raises(InputError):
        CellProtection(2).check(impossible)


def test_the_choice_of_cells_may_settle_them_and_a_caution_says_so() -> None:
    """Whoever runs the method on every table that agrees may find that one alone leads to the published cells."""
    true = flat([[3, 7, 10], [9, 1, 11], [8, 8, 2]])
    release = CellSuppression(3).release(Tabulation.of_cells(true))
    table: CellTable = release.data
    agreeing = consistent_tables(table, 2, 20)
    inner = np.ix_(*(item.leaves for item in table.dimensions))
    alike = []
    for values in agreeing:
        counts = values.reshape(table.values.shape)[inner]
        again = CellSuppression(3).release(Tabulation.of_cells(flat(counts.tolist()))).data
        alike.append(np.array_equal(again.suppressed, table.suppressed))
    assert (len(alike), sum(alike)) == (4, 1)
    assert [caution.code for caution in release.cautions if caution.public] == ["minimality"]


def test_counts_have_no_decimals_and_a_width() -> None:
    """In units of a decimal that counts do not have, every threshold would be met."""
    table = flat([[3, 20], [30, 40]])
    layout = table.layout() | {"decimals": 2}
    texts = [[*labels, f"{text}.00" if text else ""] for *labels, text in table.texts()]
    with pytest.raises(InputError, match="counts are whole numbers"):
        read_cells(layout, iter(texts))
    pair = flat([[1, 1], [1, 1]])
    hidden = pair.without(pair.values == 1)
    assert not CellProtection(2, width=0).check(hidden).ok, "each cell is known to be 1"
