"""Every way to hide rules, judged by brute force on small random baskets."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.oracles import hiding as oracle

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.sensitive_rules import SensitiveRule
from discreet.core.errors import InfeasibleError, InputError, ParameterError
from discreet.guarantees import RulesHidden
from discreet.output import hiding
from discreet.output.hiding import (
    Blocking,
    BorderHiding,
    ExactHiding,
    HeuristicHiding,
    confidence_interval,
    hiding_quality,
    support_interval,
)
from discreet.output.hiding.hider import Hider
from discreet.output.hiding.strategies import Strategy

ITEMS = "abcdef"
Make = Callable[..., Hider]
BY_CONFIDENCE = ("1.a", "1.b", "wsda")
MAKERS: dict[str, Make] = {
    **{
        name: lambda rules, name=name, **more: HeuristicHiding(rules, strategy=name, window=3, **more)
        for name in get_args(Strategy)
    },
    **{
        name: lambda rules, name=name, **more: BorderHiding(rules, method=name, **more)
        for name in ("bba", "maxmin1", "maxmin2")
    },
    "aggregated": lambda rules, **more: ExactHiding(rules, **more),
    "blocking": lambda rules, **more: Blocking(rules, **more),
    "inline": lambda rules, **more: ExactHiding(rules, formulation="inline", **more),
    "menon": lambda rules, **more: ExactHiding(rules, formulation="menon", **more),
    "aggregated border": lambda rules, **more: ExactHiding(rules, objective="border", **more),
}
every = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)

rows_of = st.lists(st.frozensets(st.sampled_from(ITEMS), max_size=5), min_size=2, max_size=14)
names = st.frozensets(st.sampled_from(ITEMS), min_size=1, max_size=3)


@st.composite
def rules_of(draw: st.DrawFn) -> tuple[frozenset[str], frozenset[str]]:
    items = draw(st.lists(st.sampled_from(ITEMS), min_size=2, max_size=3, unique=True))
    cut = draw(st.integers(1, len(items) - 1))
    return frozenset(items[:cut]), frozenset(items[cut:])


def as_rows(baskets: Baskets) -> list[frozenset[str]]:
    return [frozenset(one) for one in baskets.lists()]


def as_rule(rule: oracle.Rule) -> SensitiveRule:
    return SensitiveRule(tuple(sorted(rule[0])), tuple(sorted(rule[1])))


def known(rows: list[frozenset[str]], rules: list[Any]) -> bool:
    held = frozenset().union(*rows)
    return all(left | right <= held for left, right in rules)


def judge(
    make: Make, rows: list[frozenset[str]], rules: list[oracle.Rule], least: int, confidence: str | None
) -> None:
    """Hide rules, and see that none is found in what is published, and that the figures are as defined."""
    baskets = Baskets.from_lists([sorted(row) for row in rows])
    shown = None if confidence is None else float(confidence)
    guarantee = RulesHidden(tuple(map(as_rule, rules)), least, shown)
    hider = make(guarantee, random_state=0)
    try:
        release = hider.hide(baskets)
    except InfeasibleError:
        leaves_out = getattr(hider, "strategy", "") in ("remove_transactions", "1.a")
        assert leaves_out or frozenset().union(*rows) <= frozenset().union(
            *(left | right for left, right in rules)
        )
        return
    after = as_rows(release.data)
    assert not any(oracle.is_found(after, rule, least, confidence) for rule in rules)
    assert release.verdict.ok
    after = [frozenset(item for item in row if "?" not in item) for row in after]
    if not any(oracle.is_found(rows, rule, least, confidence) for rule in rules):
        assert sorted(map(sorted, after)) == sorted(map(sorted, rows))
    quality = hiding_quality(baskets, release, guarantee)
    secrets = [left | right for left, right in rules if not right or confidence is None]
    before, now = oracle.frequent(rows, least), oracle.frequent(after, least)
    keep = oracle.others(rows, secrets, least)
    assert quality.hiding_failure == 0
    assert quality.lost_itemsets == len(keep - now.keys())
    assert quality.ghost_itemsets == len(now.keys() - before.keys())
    assert quality.n_itemsets == len(keep)
    if "lost" in release.evidence.details and getattr(hider, "objective", "") == "itemsets":
        assert release.evidence.details["lost"] == quality.lost_itemsets


@every
@given(rows=rows_of, sets=st.lists(names, min_size=1, max_size=3), least=st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_itemsets_are_not_found_in_what_is_published(
    make: Make, rows: list[frozenset[str]], sets: list[frozenset[str]], least: int
) -> None:
    rules = [(one, frozenset()) for one in sets]
    assume(known(rows, rules))
    if make in [MAKERS[name] for name in BY_CONFIDENCE]:
        return
    judge(make, rows, rules, least, None)


@every
@given(
    rows=rows_of,
    rules=st.lists(rules_of(), min_size=1, max_size=3),
    least=st.integers(1, 4),
    confidence=st.sampled_from(["0.2", "0.5", "0.6", "0.75", "1.0"]),
)
@settings(max_examples=60, deadline=None)
def test_rules_are_not_found_in_what_is_published(
    make: Make, rows: list[frozenset[str]], rules: list[oracle.Rule], least: int, confidence: str
) -> None:
    assume(known(rows, rules))
    judge(make, rows, rules, least, confidence)


@given(
    rows=rows_of, sets=st.lists(names, min_size=1, max_size=2), share=st.sampled_from([0.2, 0.4, 0.5, 0.7])
)
@settings(max_examples=100, deadline=None)
def test_the_hybrid_appends_and_changes_nothing(
    rows: list[frozenset[str]], sets: list[frozenset[str]], share: float
) -> None:
    assume(known(rows, [(one, frozenset()) for one in sets]))
    baskets = Baskets.from_lists([sorted(row) for row in rows])
    guarantee = RulesHidden(tuple(sorted(one) for one in sets), share)
    try:
        made = (
            ExactHiding(guarantee, formulation="hybrid").sanitize(baskets, np.random.default_rng(0)).baskets
        )
    except InfeasibleError:
        return
    after = as_rows(made)
    assert after[: len(rows)] == rows
    least = guarantee.least_support(len(after))
    assert not any(oracle.support(after, one) >= least for one in sets)
    quality = hiding_quality(baskets, made, guarantee)
    before = oracle.others(rows, sets, guarantee.least_support(len(rows)))
    assert quality.lost_itemsets == len(before - oracle.frequent(after, least).keys())


def test_the_hybrid_needs_a_share() -> None:
    with pytest.raises(ParameterError, match="must be a share"):
        ExactHiding(["a"], min_support=1, formulation="hybrid").hide(Baskets.from_lists([["a", "b"], ["a"]]))


small = st.lists(st.frozensets(st.sampled_from("abcd"), min_size=1), min_size=2, max_size=5)


@given(rows=small, sets=st.lists(st.frozensets(st.sampled_from("abc"), min_size=1, max_size=2), min_size=1, max_size=2),
       least=st.integers(1, 3))  # fmt: skip
@settings(max_examples=80, deadline=None)
def test_exact_is_the_best_of_all_deletions_of_itemsets(
    rows: list[frozenset[str]], sets: list[frozenset[str]], least: int
) -> None:
    _is_best(rows, [(one, frozenset()) for one in sets], least, None)


@given(
    rows=small,
    rule=st.sampled_from(["ab", "ba", "ac"]),
    more=st.sampled_from(["", "bc", "cb"]),
    least=st.integers(1, 2),
    confidence=st.sampled_from(["0.4", "0.5", "0.7", "1.0"]),
)
@settings(max_examples=80, deadline=None)
def test_exact_is_the_best_of_all_deletions_of_rules(
    rows: list[frozenset[str]], rule: str, more: str, least: int, confidence: str
) -> None:
    _is_best(rows, [(frozenset(one[0]), frozenset(one[1])) for one in (rule, more) if one], least, confidence)


def _is_best(
    rows: list[frozenset[str]], rules: list[oracle.Rule], least: int, confidence: str | None
) -> None:
    assume(known(rows, rules))
    items = frozenset().union(*(left | right for left, right in rules))
    assume(sum(len(row & items) for row in rows) <= 11)
    assume(any(oracle.is_found(rows, rule, least, confidence) for rule in rules))
    guarantee = RulesHidden(
        tuple(map(as_rule, rules)), least, None if confidence is None else float(confidence)
    )
    baskets = Baskets.from_lists([sorted(row) for row in rows])
    wanted = oracle.best(rows, rules, least, confidence)
    try:
        details = ExactHiding(guarantee).hide(baskets).evidence.details
    except InfeasibleError:
        assert wanted[1] == sum(map(len, rows))
        return
    assert details["optimal"]
    assert (details["lost"], details["removed_items"]) == wanted
    assert (details["lost_bound"], details["removals_bound"]) == wanted


@given(rows=rows_of, sets=st.lists(names, min_size=1, max_size=3), least=st.integers(2, 5))
@settings(max_examples=60, deadline=None)
def test_exact_never_loses_more_than_the_others(
    rows: list[frozenset[str]], sets: list[frozenset[str]], least: int
) -> None:
    assume(known(rows, [(one, frozenset()) for one in sets]))
    baskets = Baskets.from_lists([sorted(row) for row in rows])
    guarantee = RulesHidden(tuple(sorted(one) for one in sets), least)
    lost = {}
    for name, make in MAKERS.items():
        if name in (*BY_CONFIDENCE, "remove_transactions"):
            continue
        try:
            release = make(guarantee).hide(baskets)
        except InfeasibleError:
            continue
        lost[name] = hiding_quality(baskets, release, guarantee).lost_itemsets
    if "aggregated" in lost:
        assert lost["aggregated"] == min(lost.values())


def test_every_exported_hider_is_checked() -> None:
    exported = {
        name
        for name in hiding.__all__
        if inspect.isclass(kind := getattr(hiding, name)) and issubclass(kind, Hider)
    }
    made = {type(make(["a"], min_support=1)).__name__ for make in MAKERS.values()}
    assert exported == made


@every
def test_same_seed_same_baskets_and_the_input_stays(make: Make) -> None:
    rng = np.random.default_rng(3)
    lists = [[item for item in ITEMS if rng.random() < 0.4] for _ in range(60)]
    baskets = Baskets.from_lists(lists)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    one, two, other = (
        make(["a => b"], min_support=5, min_confidence=0.4, random_state=seed).hide(baskets).data
        for seed in (7, 7, 8)
    )
    assert one.equals(two)
    assert not one.equals(other)
    assert baskets.lists() == [sorted(one) for one in lists]
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


@every
def test_a_margin_hides_further(make: Make) -> None:
    baskets = Baskets.from_lists([list("ab")] * 20 + [["a"]] * 10 + [["c"]] * 80)
    for margin, most in ((0.0, 9), (0.5, 4)):
        guarantee = RulesHidden(["a => b"], 10, 0.5, margin)
        release = make(guarantee).hide(baskets)
        rows = as_rows(release.data)
        both, left = oracle.support(rows, "ab"), oracle.support(rows, "a")
        assert both <= most or both < 0.5 * (1 - margin) * left
        assert release.verdict.ok


def test_bad_rules_are_refused_in_clear_words() -> None:
    baskets = Baskets.from_lists([["a", "b"], ["a", "b", "c"], ["c"]])
    for rules, words in (
        ([], "No sensitive rule"),
        ([""], "empty"),
        (["a =>"], "lacks one of its sides"),
        (["=> a"], "lacks one of its sides"),
        (["a => b => c"], "more than one arrow"),
        (["a => a"], "overlap"),
        ([[]], "empty"),
        ([[["a"], []]], "lacks one of its sides"),
        ([None], "text or a list"),
        ([[1.5]], "whole numbers or text"),
        (7, "must be a list"),
    ):
        with pytest.raises(ParameterError, match=words):
            ExactHiding(rules, min_support=1).hide(baskets)
    with pytest.raises(InputError, match=r"^Sensitive rule 2 names an item that no basket holds"):
        ExactHiding(["a", "zebra => a"], min_support=1).hide(baskets)
    with pytest.raises(ParameterError, match=r"^Sensitive rule 2: The two sides of a sensitive rule overlap"):
        ExactHiding(["a", "zebra => zebra"], min_support=1).hide(baskets)
    for bad in (0, 0.0, -1, 1.5, True, "1", None, float("nan")):
        with pytest.raises(ParameterError, match="'min_support' parameter"):
            ExactHiding(["a"], min_support=bad).hide(baskets)
    for bad in (0, -0.1, 1.1, "x"):
        with pytest.raises(ParameterError, match="'min_confidence' parameter"):
            ExactHiding(["a => b"], min_support=1, min_confidence=bad).hide(baskets)
    for bad in (-0.1, 1.0, "x", None):
        with pytest.raises(ParameterError, match="'margin' parameter"):
            ExactHiding(["a => b"], min_support=1, margin=bad).hide(baskets)
    with pytest.raises(ParameterError, match="name them once"):
        ExactHiding(RulesHidden(["a"], 1), min_support=1).hide(baskets)
    with pytest.raises(InputError, match="no baskets"):
        ExactHiding(["a"], min_support=1).hide(baskets.take(np.array([], np.int64)))
    with pytest.raises(ParameterError, match="'data' parameter"):
        ExactHiding(["a"], min_support=1).hide([["a"]])


def test_what_cannot_be_hidden_says_what_would_do() -> None:
    with pytest.raises(InfeasibleError, match=r"emptying the data.*raise min_support"):
        ExactHiding(["a"], min_support=1).hide(Baskets.from_lists([["a"], ["a"]]))
    same = Baskets.from_lists([["a", "b"]] * 4)
    with pytest.raises(InfeasibleError, match="deletes items"):
        HeuristicHiding(["a"], min_support=0.5, strategy="remove_transactions").hide(same)
    with pytest.raises(InfeasibleError, match=r"1\.b"):
        HeuristicHiding(["a => b"], min_support=1, min_confidence=0.5, strategy="1.a").hide(same)
    with pytest.raises(ParameterError, match="lowers the confidence"):
        HeuristicHiding(["a, b"], min_support=1, strategy="1.b").hide(same)


def test_rules_that_are_hidden_already_or_contain_others_are_counted() -> None:
    baskets = Baskets.from_lists([["a", "b", "c"]] * 4 + [["d"], ["d", "e"]])
    release = ExactHiding(["a, b", "a, b, c", "d, e", "b, a"], min_support=3).hide(baskets)
    assert release.evidence.details["already_hidden"] == 1
    assert release.evidence.details["covered"] == 2
    untouched = ExactHiding(["d, e"], min_support=3).hide(baskets)
    assert sorted(untouched.data.lists()) == sorted(baskets.lists())
    assert untouched.evidence.details["changed_baskets"] == 0


def test_everything_sensitive_is_hidden() -> None:
    rng = np.random.default_rng(1)
    rows = [frozenset(item for item in ITEMS if rng.random() < 0.5) for _ in range(30)]
    baskets = Baskets.from_lists([sorted(row) for row in rows])
    every_set = [sorted(one) for one in oracle.frequent(rows, 5)]
    release = ExactHiding(every_set, min_support=5).hide(baskets)
    assert not oracle.frequent(as_rows(release.data), 5)


def test_numbers_are_named_as_numbers_or_text() -> None:
    baskets = Baskets.from_lists([[1, 22, 3]] * 5 + [[3]])
    for rule in ("1, 22", [1, 22], ["1", "22"], SensitiveRule((22,), (1,))):
        release = HeuristicHiding([rule], min_support=3).hide(baskets)
        assert oracle.support([frozenset(map(str, one)) for one in release.data.lists()], ["1", "22"]) == 2


@given(rows=rows_of, rule=rules_of(), least=st.integers(1, 4), camouflage=st.sampled_from([0, 0.5, 1, 2]))
@settings(max_examples=100, deadline=None)
def test_intervals_of_blocked_baskets_hold_the_truth(
    rows: list[frozenset[str]], rule: oracle.Rule, least: int, camouflage: float
) -> None:
    assume(known(rows, [rule]))
    baskets = Baskets.from_lists([sorted(row) for row in rows])
    hider = Blocking([as_rule(rule)], min_support=least, min_confidence=0.5, camouflage=camouflage)
    try:
        made = hider.sanitize(baskets, np.random.default_rng(0)).baskets
    except InfeasibleError:
        return
    after = [frozenset(map(str, one)) for one in made.lists()]
    for before, now in zip(rows, after, strict=True):
        assert {item for item in now if "?" not in item} <= before
        assert before <= {item.removeprefix("?") for item in now}
    items = rule[0] | rule[1]
    low, high = support_interval(made, as_rule(rule))
    maybe = [frozenset(item.removeprefix("?") for item in row) for row in after]
    assert low == oracle.support(after, items) <= oracle.support(rows, items) <= high
    assert high == oracle.support(maybe, items)
    least_, most = confidence_interval(made, as_rule(rule))
    if oracle.support(maybe, rule[0]):
        assert least_ == oracle.support(after, items) / oracle.support(maybe, rule[0])
    if oracle.support(after, rule[0]):
        assert most == min(high / oracle.support(after, rule[0]), 1)


def test_the_middle_of_an_interval_is_not_the_true_support() -> None:
    """As many unknown entries to no purpose as with one would give the support of a hidden rule away."""
    baskets = Baskets.from_lists([["a", "b"]] * 60 + [["a"]] * 150 + [["b"]] * 150 + [["c"]] * 40)
    off = []
    for seed in range(20):
        release = Blocking(["a, b"], min_support=20, random_state=seed).hide(baskets)
        low, high = support_interval(release.data, "a, b")
        assert low < 20
        assert high >= 60
        off.append((low + high) / 2 - 60)
    assert sum(one == 0 for one in off) <= 4
    assert max(off) > 3
    assert min(off) < -3
