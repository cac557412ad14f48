"""The transcript inspector: what the frames of a protocol may show before encryption, and what they must not."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from discreet.parties import Protocol, Simulation, simulate
from discreet.parties.transcript import FrameShape, RecordedFrame, Transcript


def assert_declared(
    run: Simulation, declared: Iterable[FrameShape], names: Sequence[str], absent: Sequence[str] = ()
) -> None:
    """The number, order, kind and size of every sender's frames equal the declared formula."""
    listed = list(declared)
    for name in names:
        if name not in absent:
            assert run.transcript.shapes(name) == tuple(f for f in listed if f.sender == name)


def assert_as_revealed(run: Simulation, protocol: Protocol, names: Sequence[str]) -> None:
    """All parties know the same facts, and these and public parameters alone determine the frames."""
    facts = run.revealed[names[0]]
    assert all(run.revealed[name] == facts for name in names)
    assert_declared(run, protocol.frames(names, revealed=facts), names)  # type: ignore[call-arg]


def view_bytes(frames: Iterable[RecordedFrame]) -> bytes:
    return b"".join(frame.payload for frame in frames)


def views(
    protocol: Protocol, inputs: Mapping[str, Any], parties: str | Sequence[str], n: int, *, coins: str
) -> list[bytes]:
    """What parties receive in n runs, each with coins of its own."""
    runs = (simulate(protocol, inputs, coins=f"{coins} {number}".encode()) for number in range(n))
    return [received(run.transcript, *parties) for run in runs]


def received(transcript: Transcript, *parties: str) -> bytes:
    """What parties receive in a run, ordered by sender, as senders race."""
    frames = [frame for party in parties for frame in transcript.view(party)]
    return view_bytes(sorted(frames, key=lambda f: (f.shape.receiver, f.shape.sender)))


def chi_square(one: Sequence[bytes], other: Sequence[bytes]) -> float:
    """The p-value that the bytes of both come from one distribution: the χ² statistic among relabeled views.

    Bytes of one view need not be independent, a relayed one counts twice; views are.
    """
    counts = np.array([np.bincount(np.frombuffer(view, np.uint8), minlength=256) for view in (*one, *other)])
    labels = np.repeat([False, True], [len(one), len(other)])
    rng = np.random.default_rng(0)
    found = _statistic(counts, labels)
    relabeled = [_statistic(counts, rng.permutation(labels)) for _ in range(999)]
    return float((1 + np.sum(np.array(relabeled) >= found)) / 1000)


def _statistic(counts: np.ndarray[Any, Any], labels: np.ndarray[Any, Any]) -> float:
    table = np.array([counts[~labels].sum(axis=0), counts[labels].sum(axis=0)], float)
    table = table[:, table.sum(axis=0) > 0]
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return float(((table - expected) ** 2 / expected).sum())


def auc(one: Sequence[bytes], other: Sequence[bytes]) -> float:
    """How well a forest that was trained on half of the views tells the other half apart; 0.5 is not at all."""
    width = min(min(map(len, one)), min(map(len, other)), 1024)
    features = np.array([_features(view, width) for view in (*one, *other)])
    labels = np.repeat([0, 1], [len(one), len(other)])
    order = np.random.default_rng(0).permutation(len(labels))
    train, test = order[::2], order[1::2]
    forest = RandomForestClassifier(100, random_state=0).fit(features[train], labels[train])
    return float(roc_auc_score(labels[test], forest.predict_proba(features[test])[:, 1]))


def assert_indistinguishable(one: Sequence[bytes], other: Sequence[bytes]) -> None:
    assert {len(view) for view in one} == {len(view) for view in other}
    assert chi_square(one, other) > 0.002
    half = min(len(one), len(other)) / 2
    chance = ((2 * half + 1) / (12 * half * half)) ** 0.5
    assert abs(auc(one, other) - 0.5) < 3.3 * chance


def encodings_of(value: str | int) -> list[bytes]:
    """A canary in every encoding that could give it away."""
    if isinstance(value, int):
        raw = [value.to_bytes(8, order) for order in ("little", "big")]
        raw += [np.float64(value).tobytes(), str(value).encode()]
    else:
        raw = [value.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le")]
    hashed = [hashlib.new(name, one).digest() for one in raw for name in ("md5", "sha1", "sha256", "sha512")]
    text = [f(one) for one in (*raw, *hashed) for f in (_hex, _upper_hex, base64.b64encode, _reversed)]
    return [*raw, *hashed, *text]


def assert_absent(canary: str | int, where: bytes) -> None:
    for encoding in encodings_of(canary):
        assert encoding not in where


def _features(view: bytes, width: int) -> np.ndarray[Any, Any]:
    array = np.frombuffer(view, np.uint8)
    repeated = len(view) // 32 - len({view[at : at + 32] for at in range(0, len(view) - 31, 32)})
    return np.concatenate([array[:width], np.bincount(array >> 4, minlength=16), [repeated, array.mean()]])


def _hex(data: bytes) -> bytes:
    return data.hex().encode()


def _upper_hex(data: bytes) -> bytes:
    return data.hex().upper().encode()


def _reversed(data: bytes) -> bytes:
    return data[::-1]
