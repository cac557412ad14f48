"""Anonymizing together: the common generalization is the pooled one, and the parts keep the promise together."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.mining.models.pooled import checked
from tests.parties.open_protocols import AnonymizeTogether
from tests.parties.splits import by_party, n_of, split_rows

from discreet import intervals
from discreet.core.errors import HierarchyError, InfeasibleError, ParameterError
from discreet.parties import simulate

AGES = tuple(range(16))
PLAIN = intervals(4, 8, 16).to_dict()


def _protocol(**options: Any) -> AnonymizeTogether:
    return AnonymizeTogether(
        domain={"age": AGES, "sex": ("f", "m")}, hierarchies={"age": PLAIN}, **{"k": 3, **options}
    )


def _label(age: int, level: int) -> str:
    width = (1, 4, 8, 16, None)[level]
    return "*" if width is None else f"{age // width}"


def _pooled(rows: Any, parts: Any, k: int, share: float, height: int, origin_known: bool) -> set[Any]:
    """The definition: the nodes of the least height whose classes below k hold at most a share of the rows."""
    n = len(rows["age"])
    for total in range(height + 2):
        good = set()
        for node in product(range(height + 1), range(2)):
            if sum(node) != total:
                continue
            classes: dict[Any, list[int]] = {}
            for row in range(n):
                key = (_label(int(rows["age"][row]), node[0]), "*" if node[1] else rows["sex"][row])
                owner = next(at for at, part in enumerate(parts) if row in part)
                classes.setdefault(key, [0] * len(parts))[owner] += 1
            if origin_known:
                lost = sum(sum(one) for one in classes.values() if any(0 < count < k for count in one))
            else:
                lost = sum(sum(one) for one in classes.values() if sum(one) < k)
            if lost <= share * n + 1e-9:
                good.add(node)
        if good:
            return good
    return set()


@settings(max_examples=8)
@given(split_rows(n_parties=(2, 3), min_rows=3, max_rows=40), st.sampled_from([0.0, 0.2]), st.booleans())
def test_the_generalization_is_minimal_for_the_pooled_rows(
    split: Any, share: float, origin_known: bool
) -> None:
    rng, parts = split
    n = n_of(parts)
    rows = {"age": rng.integers(0, 16, n), "sex": np.array(["f", "m"])[rng.integers(0, 2, n)]}
    protocol = _protocol(max_suppressed=share, origin_known=origin_known)
    height = next(iter(protocol._trees.values())).height
    good = _pooled(rows, parts, 3, share, height, origin_known)
    inputs = by_party(rows, parts)
    if not good:
        with pytest.raises(InfeasibleError):
            simulate(protocol, inputs)
        return
    run = checked(protocol, inputs)
    outputs = list(run.outputs.values())
    assert tuple(outputs[0].levels.values()) in good
    released = [pair for one in outputs if one.release is not None for pair in _pairs(one.release.frame)]
    counts = {pair: released.count(pair) for pair in released}
    classes = outputs[0].classes
    sizes = {
        pair: size
        for *pair, size in zip(classes["age"], classes["sex"], classes["size"], strict=True)
        for pair in [tuple(pair)]
    }
    assert counts == sizes
    assert all(count >= 3 for count in counts.values())
    assert sum(one.n_suppressed for one in outputs) + len(released) == n
    assert all(one.release is None or one.release.verdict.ok for one in outputs)
    if origin_known:
        for one in outputs:
            own = [] if one.release is None else _pairs(one.release.frame)
            assert all(own.count(pair) >= 3 for pair in own)


def _pairs(frame: Any) -> list[tuple[Any, Any]]:
    texts = [
        [None if one is None else str(one) for one in frame[name].to_pylist()] for name in ("age", "sex")
    ]
    return list(zip(*texts, strict=True))


def test_a_part_is_written_as_an_ordinary_release(tmp_path: Path) -> None:
    protocol = _protocol(k=2, sensitive=("disease",))
    inputs = {
        "north": {"age": [1, 9], "sex": ["f", "m"], "disease": ["flu", "cold"]},
        "south": {"age": [2, 10, 11], "sex": ["f", "m", "m"], "disease": ["flu", "flu", "cold"]},
    }
    run = checked(protocol, inputs)
    release = run.outputs["north"].release
    assert release.verdict.ok
    release.write(tmp_path / "north", report=False)
    plain = json.loads((tmp_path / "north" / "release.json").read_text())
    assert plain["recipe"]["levels"] if "recipe" in plain else plain
    files = protocol.result_files(run.outputs["south"])
    assert set(files) == {"anonymization.json", "classes.csv", "part"}
    assert files["part"] is run.outputs["south"].release
    assert run.outputs["north"].smallest == 1
    assert "one table" in run.outputs["north"].caution
    alone = checked(_protocol(k=2, origin_known=True), inputs)
    assert all(one.caution == "" for one in alone.outputs.values())


def test_values_outside_the_domain_are_refused_without_naming_them() -> None:
    with pytest.raises(HierarchyError, match="not among") as error:
        simulate(
            _protocol(), {"a": {"age": [4711], "sex": ["f"]}, "b": {"age": [1], "sex": ["f"]}}, timeout=5
        )
    assert "4711" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k": 0}, "'k'"),
        ({"max_suppressed": 2.0}, "'max_suppressed'"),
        ({"sensitive": ("age",)}, "'domain'"),
    ],
)
def test_parameters_are_checked_by_name(options: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        _protocol(**options)
    with pytest.raises(ParameterError, match="cells"):
        AnonymizeTogether(k=2, domain={"a": tuple(range(2000)), "b": tuple(range(2000))})


def test_more_rows_may_be_lost_at_greater_heights_where_the_origin_is_known() -> None:
    protocol = AnonymizeTogether(
        domain={"age": (0, 1, 2, 3)},
        hierarchies={"age": intervals(2).to_dict()},
        k=5,
        max_suppressed=1,
        origin_known=True,
    )
    # At level 0 the one row of b is left out; merged with a's rows it would take them with it.
    run = simulate(protocol, {"a": {"age": [0] * 5}, "b": {"age": [1]}}, timeout=30)
    assert {tuple(output.levels.items()) for output in run.outputs.values()} == {(("age", 0),)}
    assert [output.n_suppressed for output in run.outputs.values()] == [0, 1]
