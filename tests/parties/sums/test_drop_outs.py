"""Drop-outs before every round of every protocol: a right result of enough parties, or nothing opened.

Each protocol of the registry runs once whole on small inputs. Then every party is ended before each of its rounds. What
is left must be the whole result of an allowed set of parties, or no output at all, and no party may have seen what
another one put in. The next protocol of the registry needs an entry here.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.parties import (
    CandidateUnion,
    Comparison,
    IntersectionSize,
    KOfNTransfer,
    ObliviousTransfer,
    Protocol,
    ScalarProduct,
    SecureSum,
    SetIntersection,
    SetUnion,
    Simulation,
    simulate,
)
from discreet.parties.mining import (
    AnonymizeTogether,
    AssociationRules,
    HorizontalKMeans,
    HorizontalLogistic,
    HorizontalNaiveBayes,
    HorizontalQuantiles,
    HorizontalRidge,
    HorizontalStatistics,
    HorizontalTree,
    PeopleMatching,
    VerticalKMeans,
    VerticalNaiveBayes,
    VerticalRidge,
    VerticalRules,
    VerticalStatistics,
    VerticalTree,
)
from discreet.parties.network.session import protocol_names
from discreet.parties.simulation import attempted

SECRET = 0x0123456789ABCDEF
"""What party b puts in, where a protocol takes large integers."""
FOUR = tuple("abcd")
ROWS = {
    name: {"x": [float(1 + at), 5.0, 7.0 - at], "y": [0, 1, at % 2], "c": ["r", "s", "r"]}
    for at, name in enumerate(FOUR)
}
PEOPLE = {name: {"id": list("uvw"), f"x{name}": [1, 0, 1]} for name in "ab"}
COLUMNS = {"a": {"x": [1.0, 2.0, 6.0, 7.0] * 2}, "b": {"z": [2.0, 1.0, 7.0, 6.0] * 2, "t": [0, 0, 1, 1] * 2}}
BOTH = {"columns": {"a": ("x",), "b": ("z",)}, "ranges": {"x": (0, 8), "z": (0, 8)}, "min_count": 2}
RANGE = {"x": (0, 8)}

CASES: dict[str, tuple[Protocol, dict[str, Any]]] = {
    "secure-sum": (SecureSum(length=2), {name: [SECRET + at, at] for at, name in enumerate(FOUR)}),
    "set-union": (SetUnion(max_items=2), {"a": ["x"], "b": ["secret"], "c": ["x", "y"]}),
    "candidate-union": (
        CandidateUnion(candidates=("x", "y", "z")),
        {"a": (), "b": ["x"], "c": ["x", "y"], "d": [], "e": ["y"]},
    ),
    "set-intersection": (
        SetIntersection(max_first=3, max_second=3, output="both"),
        {"a": ["x", "y"], "b": ["y", "secret"]},
    ),
    "intersection-size": (
        IntersectionSize(max_first=2, max_second=2, output="both"),
        {"a": ["x", "y"], "b": ["y", "secret"]},
    ),
    "scalar-product": (
        ScalarProduct(n=2, first_bits=16, second_bits=8),
        {"a": [3, 5], "b": [7, 11]},
    ),
    "comparison": (Comparison(n=2, of="values"), {"a": [3, 9], "b": [SECRET >> 4, 2]}),
    "oblivious-transfer": (
        ObliviousTransfer(n=2, message_bytes=8),
        {"a": [[b"sec-ret0", b"sec-ret1"]] * 2, "b": [0, 1]},
    ),
    "k-of-n-transfer": (
        KOfNTransfer(k=1, n=3, message_bytes=8),
        {"a": [b"sec-ret0", b"sec-ret1", b"sec-ret2"], "b": [1]},
    ),
    "matching": (PeopleMatching(key="id", max_people=4), PEOPLE),
    "rules": (
        AssociationRules(2, items=("beer", "milk", "soap"), min_count=2, threshold=3),
        {
            "a": [["beer", "milk"]],
            "b": [["beer"], ["milk", "beer"]],
            "c": [["milk"]],
            "d": [["beer", "soap"]],
        },
    ),
    "vertical-rules": (
        VerticalRules(
            {name: [f"x{name}"] for name in "ab"}, key="id", max_people=4, min_support=2, min_count=2
        ),
        PEOPLE,
    ),
    "k-means": (
        HorizontalKMeans(columns=("x",), k=2, init="given", centers=((0,), (8,)), max_rounds=2, min_count=2),
        ROWS,
    ),
    "naive-bayes": (
        HorizontalNaiveBayes(columns=("x",), target="y", classes=(0, 1), min_count=4),
        ROWS,
    ),
    "decision-tree": (
        HorizontalTree(
            columns=("x",), target="y", classes=(0, 1), ranges=RANGE, bins=4, max_depth=2, min_count=2
        ),
        ROWS,
    ),
    "ridge": (HorizontalRidge(columns=("x",), target="y"), ROWS),
    "logistic-regression": (
        HorizontalLogistic(columns=("x",), target="y", classes=(0, 1), max_rounds=1, min_count=2),
        ROWS,
    ),
    "statistics": (HorizontalStatistics(columns=("x",), ranges=RANGE, bins=4, min_count=2), ROWS),
    "quantiles": (HorizontalQuantiles(columns=("x",), q=(0.5,), ranges=RANGE, bits=3, min_count=2), ROWS),
    "vertical-k-means": (
        VerticalKMeans(**BOTH, k=2, bits=6, init="given", seeds=(0, 3), max_rounds=2),
        COLUMNS,
    ),
    "vertical-naive-bayes": (
        VerticalNaiveBayes(**(BOTH | {"min_count": 4}), target="t", holder="b", classes=(0, 1), bits=6),
        COLUMNS,
    ),
    "vertical-decision-tree": (
        VerticalTree(**BOTH, target="t", holder="b", classes=(0, 1), bins=2, max_depth=1),
        COLUMNS,
    ),
    "vertical-ridge": (VerticalRidge(**BOTH, target="z", bits=6), COLUMNS),
    "vertical-statistics": (VerticalStatistics(**BOTH, bits=6), COLUMNS),
    "anonymize": (
        AnonymizeTogether(
            k=2, domain={"x": tuple(range(4))}, hierarchies={"x": {"kind": "intervals", "widths": (2, 4)}}
        ),
        {"a": {"x": [0, 1]}, "b": {"x": [2, 3]}, "c": {"x": [0, 3]}},
    ),
}
NEEDED = {"candidate-union": 4}
"""The least parties in a result; 3 of those that take three or more, and all of two."""


def test_every_protocol_of_the_registry_is_ended_here() -> None:
    assert set(CASES) == set(protocol_names())


def rounds(run: Simulation, name: str) -> Iterator[tuple[str, int]]:
    """The frames of a party that begin a round: its kind, and its number among those of the kind.

    Of many rounds of one kind the first and the last are taken, as those between have the same code behind them.
    """
    numbers: dict[str, int] = {}
    starts: dict[str, list[int]] = {}
    for kind, frames in groupby(shape.kind for shape in run.transcript.shapes(name)):
        starts.setdefault(kind, []).append(numbers.get(kind, 0) + 1)
        numbers[kind] = numbers.get(kind, 0) + len(list(frames))
    for kind, listed in starts.items():
        yield from ((kind, number) for number in sorted({listed[0], listed[-1]}))


def same(one: Any, other: Any) -> bool:
    """Whether two outputs have the same results."""
    return plain(one) == plain(other)


def plain(output: Any) -> Any:
    """An output as numbers and texts that can be compared."""
    if hasattr(output, "itemsets"):
        return list(output.itemsets), output.itemsets.n
    if hasattr(output, "levels"):
        return dict(output.levels), dict(output.classes)
    if hasattr(output, "to_pydict"):
        return sorted(map(str, output.to_pydict().items()))
    if hasattr(output, "model"):
        model = output.model
        if hasattr(model, "describe"):
            return model.describe()
        learned = model if isinstance(model, dict) else vars(model)
        numbers = {key: value for key, value in learned.items() if key != "labels_" and numeric(value)}
        assert numbers
        return {key: np.round(np.asarray(value, float), 9).tolist() for key, value in numbers.items()}
    values = getattr(output, "values", getattr(output, "items", output))
    return np.asarray(values, object).tolist()


def numeric(value: Any) -> bool:
    return np.asarray(value).dtype.kind in "iuf"


def allowed(protocol: Protocol, inputs: dict[str, Any], covered: tuple[str, ...]) -> bool:
    """Whether a result may have these parties alone."""
    n = len(inputs)
    least = n if protocol.max_parties == 2 or n == 2 else NEEDED.get(protocol.name, max(3, n // 2 + 1))
    return least <= len(covered) <= n


_WHOLE: dict[tuple[str, tuple[str, ...]], Any] = {}


def whole(name: str, covered: tuple[str, ...]) -> Any:
    """The output of a whole run among some of the parties."""
    if (name, covered) not in _WHOLE:
        protocol, inputs = CASES[name]
        run = simulate(protocol, {party: inputs[party] for party in covered}, coins=b"whole")
        _WHOLE[name, covered] = run.outputs[covered[0]]
    return _WHOLE[name, covered]


def assert_nothing_plain(run: Simulation, name: str) -> None:
    """No party received another one's integers or texts as they are, but in the result that all learn."""
    for sender in CASES[name][1]:
        for frame in run.transcript.frames:
            if frame.shape.sender == sender and frame.shape.kind not in (
                "result",
                "union",
                "share",
                "counts",
            ):
                assert SECRET.to_bytes(8, "little") not in frame.payload
                assert (SECRET + 1).to_bytes(8, "little") not in frame.payload
                assert b"secret" not in frame.payload
                assert b"sec-ret" not in frame.payload


@pytest.mark.parametrize("name", list(CASES))
def test_whoever_drops_out_a_result_is_right_or_absent(name: str) -> None:
    protocol, inputs = CASES[name]
    first = simulate(protocol, inputs, coins=b"first")
    for lost in inputs:
        for before in rounds(first, lost):
            run, failures = attempted(protocol, inputs, drop={lost: before}, coins=b"first", timeout=20.0)
            where = f"{name}: {lost} before {before}"
            assert lost not in run.outputs, where
            assert set(run.outputs) | set(failures) == set(inputs) - {lost}, where
            assert_nothing_plain(run, name)
            for output in run.outputs.values():
                covered = protocol.covers(output, tuple(inputs))
                assert allowed(protocol, inputs, covered), where
                if hasattr(output, "parties"):
                    assert same(output, whole(name, covered)), where
            assert not any("SECRET" in str(error) or str(SECRET) in str(error) for error in failures.values())


SUMS = ["secure-sum", "candidate-union", "rules", "statistics", "naive-bayes", "k-means"]


@pytest.mark.parametrize("name", SUMS)
def test_a_late_party_is_not_silently_a_lost_one(name: str) -> None:
    """One that is late is named as late, by the party that waited and by those that heard of it."""
    protocol, inputs = CASES[name]
    late = list(inputs)[-1]
    run = simulate(protocol, inputs, delay={late: "masked"}, timeout=2.0)
    assert set(run.outputs) == set(inputs) - {late}
    for party, output in run.outputs.items():
        assert late not in protocol.covers(output, tuple(inputs))
        assert (
            f"Party '{late}' did not answer in time, and may still be running; its data is not in the result."
            in (run.cautions[party])
        )
        assert getattr(output, "late", (late,)) == (late,)
    gone = simulate(protocol, inputs, drop={late: "masked"}, timeout=2.0)
    for party, output in gone.outputs.items():
        assert f"Party '{late}' closed its connection; its data is not in the result." in gone.cautions[party]
        assert getattr(output, "late", ()) == ()


@pytest.mark.parametrize("name", [*SUMS, "decision-tree", "ridge", "logistic-regression"])
def test_three_never_become_two(name: str) -> None:
    protocol, inputs = CASES[name]
    three = dict(list(inputs.items())[: 4 if name == "candidate-union" else 3])
    for lost in list(three)[1:]:
        run, failures = attempted(protocol, three, drop={lost: "masked"}, timeout=5.0)
        assert not run.outputs
        assert failures
        assert not [
            frame for frame in run.transcript.frames if frame.shape.kind in ("reveal", "result", "union")
        ]


@pytest.mark.parametrize("name", [name for name, (_, inputs) in CASES.items() if inputs is ROWS])
def test_no_model_over_the_rows_of_two_runs_without_consent(name: str) -> None:
    with pytest.raises(ParameterError, match="two_parties_see_each_other"):
        CASES[name][0].check_parties(("a", "b"))


def test_two_parties_are_refused_unless_both_agreed() -> None:
    for name, (protocol, inputs) in CASES.items():
        two = tuple(inputs)[: 2 + protocol.n_without_input]
        if not protocol.two_parties_reveal:
            assert "two_parties_see_each_other" not in protocol.parameters(), name
            continue
        with pytest.raises(Exception, match="two_parties_see_each_other"):
            simulate(protocol, {party: inputs[party] for party in two})
        reset = {key: 0 for key in ("threshold",) if key in protocol.parameters()}
        agreed = type(protocol)(**{**_parameters(protocol), **reset, "two_parties_see_each_other": True})
        agreed.check_parties(two)
        assert any("two " in sentence for sentence in agreed.leaks), name
        assert not any("Of two" in sentence for sentence in protocol.leaks), name


def _parameters(protocol: Protocol) -> dict[str, Any]:
    return {key: getattr(protocol, key) for key in protocol.parameters()}


@pytest.mark.parametrize("name", ["secure-sum", "rules", "statistics", "naive-bayes", "k-means", "ridge"])
def test_results_of_different_parties_differ(name: str) -> None:
    """The check above is able to fail: sums over other parties than a result names would show."""
    assert not same(whole(name, tuple("abc")), whole(name, tuple("abd")))
