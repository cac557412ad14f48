"""What the rounds of k-means open together: no difference of sums is that of fewer rows than ``min_count``."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from tests.parties.inspector import assert_as_revealed

from discreet.core.errors import InputError
from discreet.parties import simulate
from discreet.parties.mining import HorizontalKMeans
from discreet.parties.mining.models import horizontal, k_means
from discreet.parties.mining.models.row_groups import RowGroups

COLUMNS = ("age", "weight", "pressure")
STEP = 1 << 16


def patients(seed: int, n: int = 60) -> dict[str, dict[str, list[float]]]:
    rng = np.random.default_rng(seed)
    return {
        name: {
            "age": rng.integers(18, 90, n).tolist(),
            "weight": rng.normal(80, 15, n).round(1).tolist(),
            "pressure": rng.integers(90, 180, n).tolist(),
        }
        for name in "abc"
    }


class _Opened:
    """The sums and sizes of all rounds, as every party sees them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, k: int) -> None:
        self.rounds: list[np.ndarray[Any, Any]] = []
        original = horizontal.Totals.add
        d = len(COLUMNS)

        def add(totals: Any, values: Any, **more: Any) -> list[int]:
            total = original(totals, values, **more)
            if totals._party.index == 2 and more.get("words") == k_means._WORDS:
                sums, sizes = total[: k * d], total[k * d :]
                self.rounds.append(np.column_stack([np.array(sums).reshape(k, d), sizes]))
            return total

        monkeypatch.setattr(horizontal.Totals, "add", add)

    def rows(self, rows: set[tuple[int, ...]]) -> set[tuple[int, ...]]:
        """Which rows are the difference of the same clusters in two rounds."""
        exposed = set()
        k = len(self.rounds[0])
        unions = [list(union) for n in range(1, k) for union in combinations(range(k), n)]
        for (_, first), (_, second) in combinations(enumerate(self.rounds), 2):
            for union in unions:
                difference = second[union].sum(axis=0) - first[union].sum(axis=0)
                exposed.add(tuple((difference[:-1] * np.sign(difference[-1])).tolist()))
        return exposed & rows


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("init", ["k-means++", "given"])
def test_no_row_is_the_difference_of_two_rounds(
    monkeypatch: pytest.MonkeyPatch, seed: int, init: str
) -> None:
    parts = patients(seed)
    centers = ((20, 60, 100), (50, 80, 130), (90, 100, 170)) if init == "given" else ()
    protocol = HorizontalKMeans(columns=COLUMNS, k=3, init=init, centers=centers)
    opened = _Opened(monkeypatch, 3)
    run = simulate(protocol, parts)
    assert_as_revealed(run, protocol, tuple("abc"))
    rows = {
        tuple(round(value * STEP) for value in row)
        for part in parts.values()
        for row in zip(*part.values(), strict=True)
    }
    assert not opened.rows(rows)
    assert any("5 or more" in sentence for sentence in protocol.leaks)


def test_with_many_rows_little_is_lost() -> None:
    """From where the rounds end, Lloyd's algorithm alone gains little."""
    parts = patients(1, 500)
    model = simulate(HorizontalKMeans(columns=COLUMNS, k=4), parts).outputs["a"].model
    rows = np.concatenate([np.column_stack(list(part.values())) for part in parts.values()])
    reached = ((rows[:, None] - model.cluster_centers_) ** 2).sum(axis=2).min(axis=1).sum()
    best = KMeans(4, init=model.cluster_centers_, n_init=1).fit(rows).inertia_
    assert reached <= 1.03 * best


def test_without_the_groups_the_attack_finds_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack can succeed: counts of one are opened here, and rows are found, as ``leaks`` says."""
    parts = patients(3)
    protocol = HorizontalKMeans(columns=COLUMNS, k=3, min_count=1)
    opened = _Opened(monkeypatch, 3)
    simulate(protocol, parts)
    rows = {
        tuple(round(value * STEP) for value in row)
        for part in parts.values()
        for row in zip(*part.values(), strict=True)
    }
    assert opened.rows(rows)
    assert any("A row that changes its cluster" in sentence for sentence in protocol.leaks)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 4), st.integers(1, 6))
def test_rows_with_the_same_history_are_never_few(seed: int, n: int, k: int, least: int) -> None:
    """Over all parties together, each group is what agrees in all clusters so far, and has enough rows."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-50, 50, (n, 2))
    parties = np.array_split(np.arange(n), 3)
    histories = np.zeros((n, 0), np.int64)
    groups = [RowGroups(np.zeros(len(part), np.int64), [0]) for part in parties]
    for _ in range(5):
        centers = rng.integers(-50, 50, (k, 2)).astype(float)
        labels = [_nearest(rows[part], centers) for part in parties]
        counts = sum(group.counts(label, k) for group, label in zip(groups, labels, strict=True))
        moved = [
            group.moved(counts >= least, rows[part], centers)
            for group, part in zip(groups, parties, strict=True)
        ]
        groups = [each[0] for each in moved]
        assert len({tuple(group.clusters) for group in groups}) == 1
        histories = np.column_stack([histories, np.concatenate([each[1] for each in moved])])
        for at in range(k):
            assert sum(each[3][at] for each in moved) == (histories[:, -1] == at).sum()
            assert (sum(each[2][at] for each in moved) == rows[histories[:, -1] == at].sum(axis=0)).all()
    of = np.concatenate([group.of for group in groups])
    _, alike = np.unique(histories, axis=0, return_inverse=True)
    assert len(set(zip(of.tolist(), alike.reshape(-1).tolist(), strict=True))) == len(set(of.tolist()))
    if n >= least:
        assert np.bincount(of)[np.unique(of)].min() >= min(least, n)
        assert np.unique(alike.reshape(-1), return_counts=True)[1].min() >= least


def _nearest(rows: Any, centers: Any) -> Any:
    return ((rows[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1).astype(np.int32)


def test_few_rows_beside_the_seeds_stop_the_run() -> None:
    """All rows less those of the seeds would be the few others."""
    rows = {"a": {"x": [1.0, 2, 3, 4, 5]}, "b": {"x": [91.0, 92, 93, 94, 95]}, "c": {"x": [50.0, 51]}}
    with pytest.raises(InputError, match="rows are in no seed"):
        simulate(HorizontalKMeans(columns=("x",), k=2), rows)
    protocol = HorizontalKMeans(columns=("x",), k=1)
    run = simulate(protocol, rows)
    assert_as_revealed(run, protocol, tuple("abc"))


def test_a_party_whose_rows_count_elsewhere_has_a_caution() -> None:
    rows = {"a": {"x": [1.0] * 6}, "b": {"x": [90.0] * 6}, "c": {"x": [1.0, 2, 40]}}
    protocol = HorizontalKMeans(columns=("x",), k=3, init="given", centers=((0,), (40,), (90,)))
    run = simulate(protocol, rows)
    assert any("1 of this party's rows count for another center" in each for each in run.cautions["c"])
    assert not any("count for another center" in each for each in run.cautions["a"])
