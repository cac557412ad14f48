"""The EMASK experiment comes out as the paper has it, on fixed seeds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.collect import EMask
from discreet.datasets import quest
from discreet.engines.baskets.files import read_baskets
from discreet.mine import Itemsets, MaskedItemsets
from experiments.emask.counting import CountedSets, by_apriori, by_classes, class_matrix
from experiments.emask.paper import MIN_SUPPORT, TABLE_3, TABLE_4, TABLE_5, TABLE_6, Row
from experiments.emask.runs import Runs, Truth, itemsets, runs_of, truth_of, weighted_over_lengths
from experiments.page import Page


@pytest.fixture(scope="module")
def generated() -> Truth:
    return truth_of("generated", quest("T10.I4.D1M.N1K", random_state=1), MIN_SUPPORT)


def as_the_paper_has_it(run: Runs, row: Row) -> None:
    assert run.basic_privacy == pytest.approx(row.basic_privacy, abs=0.5)
    assert run.privacy[0] == pytest.approx(row.reinterrogated_privacy, abs=5)
    for figure in ("false_positives", "false_negatives", "support_error"):
        assert 0.5 <= run.of(figure)[0] / getattr(row, figure) <= 2, figure


@pytest.mark.parametrize("row", TABLE_3[::3], ids=lambda row: f"{row.p}-{row.q}")
def test_table_3(generated: Truth, row: Row) -> None:
    as_the_paper_has_it(runs_of(generated, row.p, row.q, [1]), row)


@pytest.fixture(scope="module")
def real(shared_data: Path) -> Truth:
    baskets = read_baskets(shared_data / "bms-webview-1" / "BMS-WebView-1.dat.gz")
    return truth_of("real", baskets.take(np.tile(np.arange(len(baskets)), 10)), MIN_SUPPORT)


@pytest.mark.parametrize("row", TABLE_6[::3], ids=lambda row: f"{row.p}-{row.q}")
def test_table_6(real: Truth, row: Row) -> None:
    as_the_paper_has_it(runs_of(real, row.p, row.q, [1]), row)


@pytest.mark.parametrize(
    ("table", "wanted"), [(TABLE_4, (3.23, 6.84, 0.28)), (TABLE_5, (7.61, 137.21, 120.23))]
)
def test_weighted_figures_of_the_paper_s_own_tables(table, wanted: tuple[float, ...]) -> None:
    names = ("false_positives", "false_negatives", "support_error")
    assert [weighted_over_lengths(table, name)[1] for name in names] == pytest.approx(wanted, abs=0.012)
    if table is TABLE_5:
        assert weighted_over_lengths(table, "support_error")[0] == pytest.approx(10.19, abs=0.005)


def by_codes(levels: Iterable[CountedSets]) -> dict[tuple[int, ...], float]:
    return {
        tuple(codes): count
        for level in levels
        for codes, count in zip(level.sets.tolist(), level.counts.tolist(), strict=True)
    }


@given(seed=st.integers(0, 1000), least=st.sampled_from([0.02, 0.05, 0.2]))
@settings(max_examples=15)
def test_counting_by_classes_is_mask_and_finds_what_ours_finds(seed: int, least: float) -> None:
    baskets = quest("T6.I3.D400.N30", random_state=seed)
    mask = EMask(0.9, 0.9)
    distorted = mask.perturb(baskets, random_state=seed)
    found = MaskedItemsets(mask, least).mine(distorted)
    expected = dict(zip(map(tuple, itemsets(found)), found.estimates.tolist(), strict=True))
    counted = by_codes(by_classes(distorted, mask, least))
    assert set(counted) == set(expected)
    assert all(counted[codes] == pytest.approx(expected[codes], abs=1e-6) for codes in counted)
    truth = Itemsets(least).mine(baskets)
    assert by_codes(by_apriori(baskets, least)) == dict(
        zip(map(tuple, itemsets(truth)), truth.counts.tolist(), strict=True)
    )


def test_the_paper_s_matrix_turns_true_counts_into_distorted_ones() -> None:
    for n in (1, 2, 4):
        matrix = class_matrix(n, 0.7, 0.95)
        np.testing.assert_allclose(matrix.sum(axis=0), 1)
        assert matrix[n, n] == pytest.approx(0.7**n)
        assert matrix[0, 0] == pytest.approx(0.95**n)


def test_the_estimator_with_p_and_q_of_one_finds_the_truth() -> None:
    truth = truth_of("small", quest("T8.I3.D5K.N80", random_state=2), 0.01)
    run = runs_of(truth, 1.0, 1.0, [1])
    error = run.errors[0]
    assert (error.false_positives, error.false_negatives) == (0, 0)
    assert error.support_error == pytest.approx(0, abs=1e-9)


def test_a_page_escapes_what_it_shows(tmp_path: Path) -> None:
    page = Page(tmp_path, command="x")
    page.introduce("<b>", "a & b")
    page.table("t", "<i>", ["a|b"], [["<u>"], [None], [float("nan")]], note="<s>")
    shown = page.finish().read_text(encoding="utf-8")
    assert not {"<b>", "<i>", "<u>", "<s>"} & {shown[at : at + 3] for at in range(len(shown))}
    assert (tmp_path / "t.csv").read_text(encoding="utf-8") == 'a|b\n<u>\n""\n""\n'
    assert "a&#124;b" in (tmp_path / "t.md").read_text(encoding="utf-8")
