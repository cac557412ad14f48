"""Scalar products: right results, declared frames, views that can be simulated."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parties.inspector import assert_absent, assert_declared, view_bytes
from tests.parties.views_by_kind import require_alike, views_of

from discreet.core.errors import InputError, ParameterError
from discreet.parties import simulate
from discreet.parties.crypto.ristretto import ristretto
from discreet.parties.ot import extension
from discreet.parties.shares.scalar_product import ScalarProduct
from discreet.parties.transcript import FrameShape, RecordedFrame


def _ends(bits: int, signed: bool) -> tuple[int, int]:
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed and bits > 1 else (0, (1 << bits) - 1)


def _slow_product(first: list[list[int]], second: list[list[int]]) -> list[list[int]]:
    """The definition, with integers of any size."""
    return [
        [sum(a[i] * b[j] for a, b in zip(first, second, strict=True)) for j in range(len(second[0]))]
        for i in range(len(first[0]))
    ]


@settings(max_examples=25)
@given(st.data())
def test_products(data: st.DataObject) -> None:
    n, n_first, n_second = (data.draw(st.integers(1, top)) for top in (40, 5, 3))
    signed, malicious = data.draw(st.booleans()), data.draw(st.booleans())
    first_bits, second_bits = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 17))
    output = data.draw(st.sampled_from(["shares", "first", "second", "both"]))
    matrices = []
    for bits, columns in ((first_bits, n_first), (second_bits, n_second)):
        low, high = _ends(bits, signed)
        row = st.lists(st.integers(low, high), min_size=columns, max_size=columns)
        matrices.append(data.draw(st.lists(row, min_size=n, max_size=n)))
    protocol = ScalarProduct(
        n=n, first_bits=first_bits, second_bits=second_bits, signed=signed, n_first=n_first, n_second=n_second,
        output=output, malicious=malicious,
    )  # fmt: skip
    run = simulate(protocol, dict(zip("ab", matrices, strict=True)))
    assert_declared(run, protocol.frames(tuple(run.outputs)), tuple(run.outputs))
    expected = _slow_product(*matrices)
    if output == "shares":
        total = run.outputs["a"] + run.outputs["b"]
        assert total.view(np.int64).tolist() == expected
    for name, learns in (("a", ("first", "both")), ("b", ("second", "both"))):
        if output in learns:
            assert run.outputs[name].tolist() == expected
        elif output != "shares":
            assert run.outputs[name] is None


def test_extreme_values_do_not_overflow() -> None:
    protocol = ScalarProduct(n=2, first_bits=31, second_bits=31)
    low = -(1 << 30)
    run = simulate(protocol, {"a": [low, low], "b": [low, low]})
    assert run.outputs["a"].tolist() == [[2 * low * low]]
    with pytest.raises(ParameterError, match="may not fit"):
        ScalarProduct(n=3, first_bits=31, second_bits=31)
    one = ScalarProduct(n=1, first_bits=62, second_bits=1)
    run = simulate(one, {"a": [-(1 << 61)], "b": [1]})
    assert run.outputs["b"].tolist() == [[-(1 << 61)]]


def test_several_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extension, "BATCH", 256)
    monkeypatch.setattr(extension, "CHUNK", 1)
    rng = np.random.default_rng(0)
    first, second = rng.integers(-500, 500, (150, 5)), rng.integers(-8, 8, (150, 2))
    protocol = ScalarProduct(n=150, first_bits=10, second_bits=4, n_first=5, n_second=2)
    run = simulate(protocol, {"a": first, "b": second})
    assert np.array_equal(run.outputs["a"], first.T @ second)
    assert_declared(run, protocol.frames(tuple(run.outputs)), tuple(run.outputs))


def test_shares_are_fresh() -> None:
    protocol = ScalarProduct(n=3, output="shares")
    shares = {int(simulate(protocol, {"a": [1, 2, 3], "b": [1, 0, 1]}).outputs["a"][0, 0]) for _ in range(5)}
    assert len(shares) == 5


def test_two_inputs_with_the_same_output_look_alike() -> None:
    protocol = ScalarProduct(n=2000, first_bits=20, output="first")
    ones, zeros = np.ones(1000, np.int64), np.zeros(1000, np.int64)
    left = {"a": np.concatenate([ones, zeros]), "b": np.concatenate([zeros, ones])}
    right = {"a": np.concatenate([zeros, 7 * ones]), "b": np.concatenate([ones, zeros])}
    for name in ("a", "b"):
        require_alike(*(views_of(lambda x=x: simulate(protocol, x), name, 3) for x in (left, right)))


def _simulated(protocol: ScalarProduct, party: str, last: bytes) -> list[RecordedFrame]:
    """A view made from public parameters and the last frame, which output and own share determine."""
    group, view = ristretto(), []
    for shape in protocol.frames(("a", "b")):
        if shape.receiver == party:
            n = shape.size // 32
            data = secrets.token_bytes(shape.size)
            if shape.kind.startswith("ot.base"):
                data = b"".join(group.from_uniform(secrets.token_bytes(64)) for _ in range(n))
            view.append(RecordedFrame(shape, last if shape.kind == "share" else data))
    return view


@pytest.mark.parametrize("party", ["a", "b"])
def test_views_can_be_simulated(party: str) -> None:
    protocol = ScalarProduct(n=2000, first_bits=20, output="both")
    inputs = {"a": np.full(2000, 12345), "b": np.ones(2000, np.int64)}
    real = views_of(lambda: simulate(protocol, inputs), party, 3)
    made = [_simulated(protocol, party, secrets.token_bytes(8)) for _ in range(3)]
    require_alike(real, made)


def test_the_last_frame_is_determined_by_output_and_own_share() -> None:
    """Under fixed coins the share that arrives is, bit for bit, the output less the own share."""
    inputs = {"a": [5, -3, 8], "b": [1, 1, 0]}
    shares = simulate(ScalarProduct(n=3, output="shares"), inputs, coins=b"c").outputs
    opened = simulate(ScalarProduct(n=3, output="both"), inputs, coins=b"c")
    for name in ("a", "b"):
        expected = (opened.outputs[name].view(np.uint64) - shares[name]).tobytes()
        assert opened.transcript.view(name)[-1].payload == expected


def test_no_canary_travels() -> None:
    canary = 1_234_567_890_123
    run = simulate(ScalarProduct(n=64, first_bits=42), {"a": [canary] * 64, "b": [1, 0] * 32})
    assert_absent(canary, view_bytes(run.transcript.frames))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1, 2], [1, 0, 1]),
        ([1, 2, 3], [1, 0]),
        ([1, 2, 1 << 40], [1, 0, 1]),
        ([1, 2, 3], [1, 0, 2]),
        ([1, 2, 3], [1, 0, -1]),
        ([1.5, 2, 3], [1, 0, 1]),
        ([1, 2, 3], ["1", "0", "1"]),
        ([1, 2, None], [1, 0, 1]),
        ([1, 2, float("nan")], [1, 0, 1]),
        ([], []),
        ([[1, 2, 3]], [1, 0, 1]),
        ([1, 2, 1 << 70], [1, 0, 1]),
    ],
)
def test_bad_inputs(first: Any, second: Any) -> None:
    with pytest.raises(InputError) as error:
        simulate(ScalarProduct(n=3), {"a": first, "b": second}, timeout=5)
    assert str(1 << 40) not in str(error.value)


def test_too_many_products_are_refused() -> None:
    with pytest.raises(ParameterError, match="products"):
        ScalarProduct(n=2, n_first=1 << 12, n_second=1 << 12)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n": 0}, {"n": 2, "first_bits": 0}, {"n": 2, "second_bits": 63}, {"n": 2, "n_first": 0},
        {"n": 2, "n_second": 1 << 20}, {"n": 2, "output": "third"}, {"n": 2, "signed": "yes"},
    ],
)  # fmt: skip
def test_bad_parameters(parameters: Any) -> None:
    with pytest.raises(ParameterError, match="parameter of ScalarProduct"):
        ScalarProduct(**parameters)


def test_results_as_columns() -> None:
    protocol = ScalarProduct(n=1, n_first=2)
    columns = protocol.result_files(np.array([[3], [4]]))["result.csv"]
    assert [list(column) for column in columns.values()] == [[0, 1], [0, 0], [3, 4]]
    assert protocol.result_files(None)["result.csv"]["product"].size == 0
    shares = protocol.result_files(np.array([[2**64 - 1], [4]], np.uint64))["result.csv"]
    assert shares["product"].tolist() == [-1, 4]


def test_files(tmp_path: Any) -> None:
    (tmp_path / "m.csv").write_text("x,y\n1,2\n3,4\n")
    protocol = ScalarProduct(n=2, n_first=2)
    assert protocol.read_input(tmp_path / "m.csv").tolist() == [[1, 2], [3, 4]]


def test_frames_of_declared_shapes() -> None:
    frames = list(ScalarProduct(n=100).frames(("a", "b")))
    assert frames[0] == FrameShape("b", "a", "ot.base.point", 32)
