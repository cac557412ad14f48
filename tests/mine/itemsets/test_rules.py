"""Rules: the columns and the values of mlxtend, and the definition on small baskets."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import itemsets as oracles

from discreet.core.errors import InputError, ParameterError
from discreet.mine import Itemsets, MaskedItemsets, rules

COLUMNS = [
    "antecedents",
    "consequents",
    "antecedent support",
    "consequent support",
    "support",
    "confidence",
    "lift",
    "representativity",
    "leverage",
    "conviction",
    "zhangs_metric",
    "jaccard",
    "certainty",
    "kulczynski",
]
METRICS = COLUMNS[2:]
ROWS = st.lists(st.lists(st.integers(0, 5), max_size=6), min_size=1, max_size=25)


def keyed(frame: pd.DataFrame) -> pd.DataFrame:
    """Bring rules into one order."""
    key = [
        (tuple(sorted(a)), tuple(sorted(c)))
        for a, c in zip(frame["antecedents"], frame["consequents"], strict=True)
    ]
    return frame.set_index(pd.Index(key, tupleize_cols=False))[METRICS].astype(float).sort_index()


@settings(max_examples=60)
@given(rows=ROWS, least=st.integers(1, 4), metric=st.sampled_from(METRICS), step=st.integers(-50, 150))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_mlxtend_agrees(rows: list[list[int]], least: int, metric: str, step: int) -> None:
    """The thresholds are no measure of so few baskets: at the very border ours keeps what rounding loses."""
    threshold = step / 100 + 0.000314159
    mlxtend = pytest.importorskip("mlxtend.frequent_patterns")
    found = Itemsets(least).mine(oracles.baskets_of(rows, 6))
    ours = rules(found, metric=metric, min_threshold=threshold)
    assert ours.column_names == COLUMNS
    if not len(found):
        assert ours.num_rows == 0
        return
    frame = pd.DataFrame({"support": found.supports, "itemsets": [frozenset(items) for items, _ in found]})
    theirs = mlxtend.association_rules(frame, metric=metric, min_threshold=threshold)
    if theirs.empty:
        assert ours.num_rows == 0
        return
    assert list(theirs.columns) == COLUMNS
    pd.testing.assert_frame_equal(keyed(ours.to_pandas()), keyed(theirs), rtol=1e-12)


@given(rows=ROWS, least=st.integers(1, 3))
def test_every_split_of_every_set_is_a_rule(rows: list[list[int]], least: int) -> None:
    counts = oracles.frequent(rows, least)
    table = rules(Itemsets(least).mine(oracles.baskets_of(rows, 6)), min_threshold=0.0)
    ours = {
        (frozenset(row["antecedents"]), frozenset(row["consequents"])): row["confidence"]
        for row in table.to_pylist()
    }
    expected = {
        (frozenset(left), items - frozenset(left)): counts[items] / counts[frozenset(left)]
        for items in counts
        for left in chain.from_iterable(combinations(sorted(items), k) for k in range(1, len(items)))
    }
    assert ours.keys() == expected.keys()
    assert all(ours[rule] == pytest.approx(expected[rule], rel=1e-14) for rule in ours)


def test_closed_and_maximal_sets_are_refused() -> None:
    baskets = oracles.baskets_of([[0, 1], [0, 1], [0]])
    for kind in ("closed", "maximal"):
        with pytest.raises(InputError, match=f"{kind} itemsets leave most of them out; mine with kind='freq"):
            rules(Itemsets(1, kind=kind).mine(baskets))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="some of them were left out"):
        rules(Itemsets(1).mine(baskets).of_length(2))


def test_sets_too_long_to_split_are_refused() -> None:
    found = Itemsets(1, max_length=1).mine(oracles.baskets_of([range(3)]))
    longer = replace(found, indptr=np.array([0, 25]), codes=np.zeros(25, np.int32), counts=np.array([1]))
    longer.__dict__["subsets"] = np.zeros(25, np.int64)
    with pytest.raises(InputError, match="at most 24 items; mine with max_length"):
        rules(longer)


def test_bad_parameters_are_named() -> None:
    found = Itemsets(1).mine(oracles.baskets_of([[0, 1]]))
    with pytest.raises(ParameterError, match="'metric' parameter of rules must be one of"):
        rules(found, metric="strength")
    with pytest.raises(ParameterError, match="'min_threshold' parameter of rules"):
        rules(found, min_threshold=float("nan"))
    with pytest.raises(ParameterError, match="'found' parameter of rules"):
        rules(found.table)  # type: ignore[arg-type]


def test_rules_of_masked_sets_use_the_estimates() -> None:
    rng = np.random.default_rng(8)
    held = rng.random((4000, 5)) < 0.4
    held[:, 1] |= held[:, 0]
    flipped = np.where(held, rng.random(held.shape) < 0.9, rng.random(held.shape) < 0.05)
    rows = [np.flatnonzero(row).tolist() for row in flipped]
    found = MaskedItemsets(SimpleNamespace(p=0.9, q=0.95), 0.05).mine(oracles.baskets_of(rows, 5))
    table = rules(found, min_threshold=0.9)
    rule = next(row for row in table.to_pylist() if (row["antecedents"], row["consequents"]) == ([0], [1]))
    assert rule["confidence"] == pytest.approx(1, abs=0.1)
    shares = dict(zip(map(tuple, found.lists().to_pylist()), found.supports, strict=True))
    assert rule["support"] == shares[0, 1]
    assert rule["antecedent support"] == shares[(0,)]


def test_an_estimate_that_is_not_positive_makes_no_strong_rule() -> None:
    rows = [[0, 1], [0, 1], [0], [1], [2], [], [], []] * 3
    found = MaskedItemsets(SimpleNamespace(p=0.8, q=0.7), 2, margin=10.0).mine(oracles.baskets_of(rows))
    assert (found.estimates <= 0).any()
    table = rules(found, min_threshold=-100.0)
    positive = dict(zip(map(tuple, found.lists().to_pylist()), found.estimates > 0, strict=True))
    assert table.num_rows
    assert all(positive[tuple(a)] for a in table["antecedents"].to_pylist())


def test_text_names_come_out_as_text() -> None:
    baskets = oracles.baskets_of([[0, 1], [0, 1]])
    named = type(baskets)(baskets.indptr, baskets.items, pa.array(["bread", "milk"]))
    table = rules(Itemsets(1).mine(named))
    assert table["antecedents"].to_pylist() == [["milk"], ["bread"]]
    assert table["conviction"].to_pylist() == [float("inf")] * 2


@pytest.mark.parametrize("n", [7, 10, 11, 23, 1000])
def test_a_rule_just_at_the_threshold_is_kept(n: int) -> None:
    for left in range(1, 7):
        for both in range(1, left + 1):
            rows = [[0, 1]] * both + [[0]] * (left - both) + [[]] * (n - left)
            found = Itemsets(1).mine(oracles.baskets_of(rows, 2))
            for metric, exact in (("confidence", both / left), ("lift", n / left), ("jaccard", both / left)):
                kept = rules(found, metric=metric, min_threshold=exact)["antecedents"].to_pylist()
                assert [0] in kept, (metric, both, left, n)
                above = rules(found, metric=metric, min_threshold=1.000001 * exact)["antecedents"].to_pylist()
                assert [0] not in above


def test_measures_that_divide_by_an_estimate_that_is_not_positive_are_no_numbers() -> None:
    rows = [[0, 1], [0, 1], [0], [1], [2], [], [], []] * 3
    found = MaskedItemsets(SimpleNamespace(p=0.8, q=0.7), 2, margin=10.0).mine(oracles.baskets_of(rows))
    table = rules(found, metric="support", min_threshold=-100.0).to_pandas()
    lost = (table["antecedent support"] <= 0) | (table["consequent support"] <= 0)
    assert lost.any()
    assert not lost.all()
    divided = ["confidence", "lift", "conviction", "zhangs_metric", "jaccard", "certainty", "kulczynski"]
    assert table.loc[lost, divided].isna().all(axis=None)
    assert table.loc[~lost, divided].notna().all(axis=None)
    for metric in divided:
        judged = rules(found, metric=metric, min_threshold=-1e9).to_pandas()[metric]
        assert judged.notna().all()
        assert len(judged) == (~lost).sum()
