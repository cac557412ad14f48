"""What travels when parties learn together: declared shapes, bytes that do not depend on inputs, and drop-outs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp
from tests.parties.inspector import assert_absent, assert_indistinguishable, view_bytes, views
from tests.parties.open_protocols import (
    AnonymizeTogether,
    HorizontalKMeans,
    HorizontalLogistic,
    HorizontalNaiveBayes,
    HorizontalQuantiles,
    HorizontalRidge,
    HorizontalStatistics,
    HorizontalTree,
    VerticalKMeans,
    VerticalNaiveBayes,
    VerticalRidge,
    VerticalStatistics,
    VerticalTree,
)
from tests.parties.views_by_kind import require_alike, views_of

from discreet.parties import PartyError, simulate
from discreet.parties.network.session import protocol_class, protocol_names

XY = ("x", "y")
UNIT = {"x": (0, 8), "y": (0, 8)}


def _rows(*pairs: tuple[float, float]) -> dict[str, Any]:
    return {"x": [pair[0] for pair in pairs], "y": [pair[1] for pair in pairs]}


ONE, TWO, THREE, FOUR = (1.0, 0.0), (7.0, 1.0), (2.0, 0.0), (6.0, 1.0)
FIRST = {"a": _rows(ONE), "b": _rows(TWO, THREE), "c": _rows(FOUR)}
SECOND = {"a": _rows(ONE), "b": _rows(FOUR), "c": _rows(THREE, TWO)}
"""The same rows in all, and at party a; b and c hold others, and different numbers of them."""

HORIZONTAL = [
    HorizontalKMeans(columns=XY, k=2, init="given", centers=((0, 0), (8, 1)), max_rounds=3),
    HorizontalNaiveBayes(columns=("x",), target="y", classes=(0, 1)),
    HorizontalTree(columns=("x",), target="y", classes=(0, 1), ranges={"x": (0, 8)}, bins=4, max_depth=2),
    HorizontalRidge(columns=("x",), target="y"),
    HorizontalLogistic(columns=("x",), target="y", classes=(0, 1), max_rounds=3),
    HorizontalStatistics(columns=XY, ranges=UNIT, bins=4),
]


def _integers(inputs: dict[str, Any]) -> dict[str, Any]:
    return {name: {"x": rows["x"], "y": np.array(rows["y"], int)} for name, rows in inputs.items()}


@pytest.mark.parametrize("protocol", HORIZONTAL, ids=lambda protocol: protocol.name)
def test_rows_that_change_hands_between_others_do_not_show(protocol: Any) -> None:
    """To c, which does not collect, all but results is the same bit for bit under the same coins.

    Results of integers of several words have random carries. To the collector a all of it looks alike.
    """
    moved = {"a": FIRST["b"], "b": FIRST["a"], "c": FIRST["c"]}
    runs = [simulate(protocol, _integers(inputs), coins=b"same") for inputs in (FIRST, moved)]
    rest = [
        sorted((f.shape.sender, f.payload) for f in run.transcript.view("c") if f.shape.kind != "result")
        for run in runs
    ]
    assert rest[0] == rest[1]
    for party, other in (("c", moved), ("a", SECOND)):
        one = views(protocol, _integers(FIRST), party, 30, coins="one")
        assert_indistinguishable(one, views(protocol, _integers(other), party, 30, coins="other"))


def test_signs_and_carries_of_others_do_not_show() -> None:
    """The same sums from negative values at one party, from values that carry into the next word, and from zeros."""
    protocol = HorizontalStatistics(columns=("x",), fraction_bits=0)
    inputs = [
        {"a": {"x": [1]}, "b": {"x": [-5, 5]}, "c": {"x": [0, 0]}},
        {"a": {"x": [1]}, "b": {"x": [-5, 0]}, "c": {"x": [5, 0]}},
    ]
    one, other = (views(protocol, each, "a", 40, coins=str(at)) for at, each in enumerate(inputs))
    assert_indistinguishable(one, other)
    words = []
    for each in inputs:
        opened = [
            np.frombuffer(f.payload[1:], np.int64)
            for number in range(40)
            for f in simulate(protocol, each, coins=f"w{number}".encode()).transcript.view("b")
            if f.shape.kind == "result"
        ]
        words.append(np.array(opened))
    for column in range(words[0].shape[1]):
        if column % 8 != 7:
            assert ks_2samp(words[0][:, column], words[1][:, column]).pvalue > 1e-5
            assert np.abs(words[0][:, column]).min() > 2**30
    totals = [
        [sum(int(word) << 16 * at for at, word in enumerate(row[8:16])) for row in each] for each in words
    ]
    assert set(totals[0]) == set(totals[1]) == {1}


def test_seeds_do_not_show_whose_they_are() -> None:
    """Three parties with one candidate each at the same place: whoever is picked, the view of a is the same."""
    protocol = HorizontalKMeans(columns=("x",), k=1, min_rows=2, max_rounds=1)
    first = {"a": {"x": [3.0]}, "b": {"x": [1.0, 3.0]}, "c": {"x": [2.0]}}
    second = {"a": {"x": [3.0]}, "b": {"x": [2.0]}, "c": {"x": [1.0, 3.0]}}
    one = views(protocol, first, "a", 30, coins="one")
    assert_indistinguishable(one, views(protocol, second, "a", 30, coins="other"))


BITS = np.arange(40) % 2
SWAPPED = 1 - BITS
VERTICAL: list[tuple[Any, dict[str, Any], dict[str, Any], str]] = [
    (
        VerticalStatistics(columns={"a": ("x",), "b": ("y",)}, ranges=UNIT, bits=8),
        {"a": {"x": np.full(40, 4.0)}, "b": {"y": 4.0 * BITS}},
        {"a": {"x": np.full(40, 4.0)}, "b": {"y": 4.0 * SWAPPED}},
        "a",
    ),
    (
        VerticalRidge(columns={"a": ("x",), "b": ("y",)}, target="y", ranges=UNIT, bits=8),
        {"a": {"x": 4.0 * BITS}, "b": {"y": np.full(40, 3.0)}},
        {"a": {"x": 4.0 * SWAPPED}, "b": {"y": np.full(40, 3.0)}},
        "b",
    ),
    (
        VerticalNaiveBayes(
            columns={"a": ("x",), "b": ()}, target="t", holder="b", classes=(0, 1), ranges={"x": (0, 8)}, bits=8
        ),
        {"a": {"x": np.tile([1.0, 1.0, 3.0, 3.0], 10)}, "b": {"t": BITS}},
        {"a": {"x": np.tile([3.0, 3.0, 1.0, 1.0], 10)}, "b": {"t": BITS}},
        "b",
    ),
    (
        VerticalTree(
            columns={"a": ("x",), "b": ()}, target="t", holder="b", classes=(0, 1), ranges={"x": (0, 8)}, bins=2,
            max_depth=1,
        ),
        {"a": {"x": np.tile([1.0, 1.0, 7.0, 7.0], 10)}, "b": {"t": BITS}},
        {"a": {"x": np.tile([7.0, 7.0, 1.0, 1.0], 10)}, "b": {"t": BITS}},
        "b",
    ),
    (
        VerticalKMeans(
            columns={"a": ("x",), "b": ("y",)}, k=2, ranges=UNIT, init="given", seeds=(0, 1), max_rounds=2, bits=8,
            open_centers=False,
        ),
        {"a": {"x": 8.0 * BITS}, "b": {"y": 1.0 * BITS}},
        {"a": {"x": 8.0 * BITS}, "b": {"y": 2.0 * BITS}},
        "a",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", VERTICAL, ids=lambda case: case[0].name)
def test_columns_with_the_same_declared_facts_look_alike(case: Any) -> None:
    """Two inputs of the other party that give the same output, to a party whose own input stays the same."""
    protocol, first, second, party = case
    _require_alike(protocol, first, second, party)


def _require_alike(protocol: Any, first: Any, second: Any, party: str) -> None:
    """Views are ordered by sender, as senders race."""
    both = [views_of(lambda x=x: simulate(protocol, x), party, 3) for x in (first, second)]
    require_alike(*([sorted(view, key=lambda one: one.shape.sender) for view in one] for one in both))


@pytest.mark.parametrize("names", ["ab", "abc"])
def test_quantiles_and_generalizations_show_only_comparisons(names: str) -> None:
    """The same quantiles, and the same published classes, from different rows of the others."""
    quantiles = HorizontalQuantiles(columns=("x",), q=(0.5,), ranges={"x": (0, 15)}, bits=4)
    first = {name: {"x": [5, 6, 7]} for name in names}
    second = {**first, "b": {"x": [0, 6, 15]}}
    for party in names.replace("b", ""):
        _require_alike(quantiles, first, second, party)
    anonymize = AnonymizeTogether(
        k=4, domain={"x": tuple(range(8))}, hierarchies={"x": {"kind": "intervals", "widths": (4, 8)}}
    )
    first = {name: {"x": [0, 1, 4, 5]} for name in names}
    second = {**first, "b": {"x": [2, 3, 6, 7]}}
    for party in names.replace("b", ""):
        _require_alike(anonymize, first, second, party)


def test_a_third_party_sees_results_alone() -> None:
    """Of what the first two compute, the third receives the opened results, bit for bit the same for other rows."""
    quantiles = HorizontalQuantiles(columns=("x",), q=(0.5,), ranges={"x": (0, 15)}, bits=4)
    found = []
    for rows in ([5, 6, 7], [0, 6, 15]):
        run = simulate(quantiles, {"a": {"x": rows}, "b": {"x": [6]}, "c": {"x": [6, 6]}})
        assert {frame.shape.kind for frame in run.transcript.view("c")} == {"pair.result"}
        found.append(view_bytes(run.transcript.view("c")))
    assert found[0] == found[1]


def test_many_rows_of_large_values_do_not_stop_a_run_in_the_middle() -> None:
    """A party that met an error after the start would show the others that its sums are large."""
    rows = {"x": np.full(3000, 2.0**38 - 1)}
    protocol = HorizontalKMeans(columns=("x",), k=1, init="given", centers=((0,),), fraction_bits=0)
    run = simulate(protocol, {"a": rows, "b": rows, "c": rows})
    assert run.outputs["a"].model.cluster_centers_.tolist() == [[2.0**38 - 1]]


def test_no_canary_travels() -> None:
    canary = 4711
    rows = {name: _rows((canary, 1), (canary + 2, 0)) for name in "abc"}
    for protocol in (HORIZONTAL[0], HORIZONTAL[3]):
        run = simulate(protocol, {**rows, "a": _rows((1, 0))})
        assert_absent(canary << 16, view_bytes(run.transcript.frames))


# Drop-outs.

FIVE = {name: {"x": [float(at)], "y": [at % 2]} for at, name in enumerate("abcde")}


@pytest.mark.parametrize("kind", ["shares", "masked", "reveal"])
def test_a_party_that_drops_out_of_a_sum_does_not_stop_it(kind: str) -> None:
    protocol = HorizontalStatistics(columns=("x",))
    run = simulate(protocol, FIVE, drop={"c": kind}, timeout=4.0)
    assert set(run.outputs) == set("abde")
    left = [0.0, 1.0, 3.0, 4.0] if kind != "reveal" else [0.0, 1.0, 2.0, 3.0, 4.0]
    for output in run.outputs.values():
        assert output.model.mean[0] == pytest.approx(np.mean(left))
        assert protocol.covers(output, tuple("abcde")) == tuple("abcde" if kind == "reveal" else "abde")


def test_a_party_that_drops_out_between_rounds_stops_all() -> None:
    """The difference of two sums over different parties would be what the lost one added."""
    protocol = HorizontalKMeans(columns=("x",), k=1, init="given", centers=((0,),), max_rounds=3)
    with pytest.raises(PartyError, match=r"Lost: e\. The sums of this run need all who are in the first one"):
        simulate(protocol, FIVE, drop={"e": ("masked", 2)}, timeout=4.0)


def test_below_the_threshold_all_stop_and_nothing_is_opened() -> None:
    protocol = HorizontalNaiveBayes(columns=("x",), target="y", classes=(0, 1))
    with pytest.raises(PartyError, match=r"parties remain|stopped|Lost"):
        simulate(protocol, FIVE, drop={"c": "masked", "d": "masked", "e": "masked"}, timeout=4.0)


def test_noise_is_whole_although_parties_drop_out() -> None:
    """Two of five leave; toward each of the three that remain the noise of two others suffices, as declared."""
    protocol = HorizontalStatistics(columns=("x",), ranges={"x": (0, 4)}, bins=50, epsilon=0.1, min_honest=2)
    many = {name: {"x": np.full(4000, rows["x"][0])} for name, rows in FIVE.items()}
    run = simulate(protocol, many, drop={"c": "masked", "d": "masked"}, timeout=4.0)
    assert set(run.outputs) == set("abe")
    counts = run.outputs["a"].model.histograms["x"][1]
    assert abs(run.outputs["a"].model.n - 12_000) < 3_000
    assert 5 < np.median(counts[counts > 0]) < 200


@pytest.mark.parametrize(("min_honest", "lost"), [(3, "cd"), (4, "c"), (1, "bcd")])
def test_with_too_little_noise_nothing_is_opened(min_honest: int, lost: str) -> None:
    protocol = HorizontalStatistics(columns=("x",), ranges={"x": (0, 4)}, epsilon=0.5, min_honest=min_honest)
    needed = max(3, min_honest + 1)
    with pytest.raises(
        PartyError, match=f"{5 - len(lost)} of 5 parties remain; the secure sum needs {needed}"
    ):
        simulate(protocol, FIVE, drop=dict.fromkeys(lost, "masked"), timeout=4.0)


# Leaks that are declared.


def test_of_two_parties_each_learns_the_other_part_as_declared() -> None:
    protocol = HorizontalStatistics(columns=("x",))
    run = simulate(protocol, {"a": {"x": [1.0, 2.0]}, "b": {"x": [7.0]}})
    found = run.outputs["a"].model
    assert found.mean[0] * found.n - 3.0 == pytest.approx(7.0)
    assert any("two parties" in sentence for sentence in protocol.leaks)


@pytest.mark.parametrize(
    "name", [n for n in protocol_names() if ".mining.models" in protocol_class(n).__module__]
)
def test_every_protocol_declares_what_it_leaks_and_how_many_may_collude(name: str) -> None:
    found = protocol_class(name)
    assert found.__doc__
    assert found.leaks is not None
    known = [p for p in (*HORIZONTAL, *(case[0] for case in VERTICAL)) if p.name == name]
    for protocol in known:
        assert all(sentence.endswith(".") for sentence in protocol.leaks)
        verdict = protocol.verdict(("a", "b", "c") if not name.startswith("vertical") else ("a", "b"))
        assert verdict.basis.value == "assumed"
        assert verdict.worst >= 1
