"""Mondrian by counts: whatever the most tuples of a worker, the groups are those of a search of all tuples."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import tables as strategies

from discreet import Table, quasi, sensitive
from discreet.core.errors import InfeasibleError, InputError
from discreet.core.rng import generator
from discreet.core.tables.source import CodeCounts, Cuts, PieceCodes
from discreet.guarantees import DistinctDiversity, KAnonymity, MInvariance, TCloseness
from discreet.publish import Mondrian
from discreet.publish.tables.mondrian_elsewhere import plan_elsewhere


class ListedTuples:
    """Tuples that are looked at one by one, as an engine elsewhere would count and divide them."""

    def __init__(self, table: Table, most: int) -> None:
        self.most = most
        self.rows = list(zip(table.tuples.codes.tolist(), table.tuples.counts.tolist(), strict=True))
        self.assigned: dict[tuple[int, ...], int] = {}

    def segment(self, codes: Sequence[int], cuts: Cuts) -> int:
        number = 0
        while number in cuts:
            cut = cuts[number]
            number = cut.left if codes[cut.column] <= cut.code else cut.right
        return number

    def code_counts(self, cuts: Cuts, segments: Sequence[int]) -> CodeCounts:
        counts: dict[tuple[int, int, int], list[int]] = {}
        for codes, n in self.rows:
            number = self.segment(codes, cuts)
            for column, code in enumerate(codes) if number in segments else ():
                entry = counts.setdefault((number, column, code), [0, 0])
                entry[0] += n
                entry[1] += 1
        entries = [(*key, *entry) for key, entry in counts.items()]
        return CodeCounts(*(np.array(entries[::-1], np.int64).reshape(-1, 5).T))

    def divided(
        self, cuts: Cuts, undivided: Sequence[int], divide: Callable[[pa.Table], pa.Table]
    ) -> ListedTuples:
        parts: dict[int, list[tuple[list[int], int]]] = {}
        for codes, n in self.rows:
            parts.setdefault(self.segment(codes, cuts), []).append((codes, n))
        self.returned = []
        for number, rows in parts.items():
            if number in undivided:
                self.returned += [(codes, n, -number - 1, 0, -1) for codes, n in rows]
                continue
            assert len(rows) <= self.most
            columns = {f"code{at}": [codes[at] for codes, _ in rows] for at in range(len(rows[0][0]))}
            part = divide(pa.table({"segment": [number] * len(rows), **columns, "n": [n for _, n in rows]}))
            listed = zip(*(part[name].to_pylist() for name in columns), strict=True)
            rest = (part[name].to_pylist() for name in ("n", "piece", "refused", "stands"))
            self.returned += list(zip(map(list, listed), *rest, strict=True))
        return self

    def pieces(self, n_quasi: int, sets: Sequence[int]) -> PieceCodes:
        keys = sorted({row[2] for row in self.returned})
        sizes = [sum(row[1] for row in self.returned if row[2] == key) for key in keys]
        entries = set()
        for codes, _, piece, _, stands in self.returned:
            for column in range(n_quasi):
                alike = [row[0][column] for row in self.returned if row[2] == piece]
                is_end = codes[column] in (min(alike), max(alike))
                if is_end if column not in sets else stands >> column & 1:
                    entries.add((keys.index(piece), column, codes[column]))
        refused = any(row[3] for row in self.returned)
        return PieceCodes(np.array(sizes), refused, *np.array(sorted(entries), np.int64).T)


def groups_of(plan: Any, n_groups: int) -> list[Any]:
    """Return the size and the labels of every group, sorted."""
    labels = [cell.labels.take(pa.array(cell.index)).to_pylist() for cell in plan.groups.values()]
    return sorted(zip(plan.sizes.tolist(), *labels, strict=True), key=repr)[:n_groups]


GUARANTEES = [KAnonymity(2), KAnonymity(2) & DistinctDiversity(2), KAnonymity(3) & TCloseness(0.4)]


@given(
    rows=strategies.rows(min_size=2), most=st.integers(1, 6), number=st.integers(0, 2), trees=st.booleans()
)
@settings(max_examples=60)
def test_groups_are_those_of_a_search_in_memory(
    rows: strategies.Rows, most: int, number: int, trees: bool
) -> None:
    table = Table(strategies.frame(rows), strategies.tree_schema() if trees else strategies.plain_schema())
    publisher = Mondrian(GUARANTEES[number])
    try:
        here = publisher._plan(table, generator(0, owner=publisher))
    except InfeasibleError:
        with pytest.raises(InfeasibleError):
            plan_elsewhere(publisher, table, ListedTuples(table, most), publisher._geometry(table))
        return
    there = plan_elsewhere(publisher, table, ListedTuples(table, most), publisher._geometry(table))
    assert groups_of(there, here.sizes.size + 1) == groups_of(here, here.sizes.size + 1)
    assert there.details == here.details
    for name, cells in here.cells.items():
        cost = [float(plan.sizes @ plan.cells[name].loss[plan.cells[name].index]) for plan in (here, there)]
        assert cost[0] == pytest.approx(cost[1])
        assert sorted(cells.covered[cells.index]) == sorted(
            there.cells[name].covered[there.cells[name].index]
        )


def test_what_workers_are_sent_can_be_sent() -> None:
    table = Table(pa.table({"age": [1, 2, 3, 4], "zip": list("abcd")}), {"age": quasi(), "zip": quasi()})

    class Sent(ListedTuples):
        def divided(self, cuts: Any, undivided: Any, divide: Any) -> Any:
            for cell in divide.__closure__:
                pickle.loads(pickle.dumps(cell.cell_contents))
            return super().divided(cuts, undivided, divide)

    publisher = Mondrian(KAnonymity(2), random_state=np.random.default_rng(1))
    plan = plan_elsewhere(publisher, table, Sent(table, 3), publisher._geometry(table))
    assert plan.sizes.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("publisher", "words"),
    [
        (Mondrian(KAnonymity(2), strict=False), "relaxed cuts"),
        (Mondrian(KAnonymity(2), summary="mean"), "means"),
        (Mondrian(MInvariance(2)), "all groups together"),
    ],
    ids=["relaxed", "means", "joined"],
)
def test_what_looks_at_all_rows_is_refused(publisher: Any, words: str) -> None:
    table = Table(pa.table({"age": [1, 2], "ill": ["a", "b"]}), {"age": quasi(), "ill": sensitive()})
    with pytest.raises(InputError, match=rf"{words}[^\n]*round values first\.$"):
        plan_elsewhere(publisher, table, ListedTuples(table, 1), publisher._geometry(table))
