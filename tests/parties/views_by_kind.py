"""Views compared kind of frame by kind of frame, by windows of bytes, as most frames are long."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from discreet.parties import Simulation
from discreet.parties.transcript import RecordedFrame

WINDOW = 32
"""The bytes of a sample, which is the length of a group element."""
MOST = 3000
"""The most samples of each kind that a classifier sees, one half to learn from and one to be judged by."""
Views = Sequence[Sequence[RecordedFrame]]


def require_alike(left: Views, right: Views) -> None:
    """Assert that two collections of views have the same shapes and bytes of the same distribution.

    Frames of one kind are compared by a χ² test of their bytes and by a trained classifier, whose AUC must lie within
    4.5 standard deviations of 0.5.
    """
    assert [one.shape for one in left[0]] == [one.shape for one in right[0]]
    samples = [_samples(views) for views in (left, right)]
    assert samples[0].keys() == samples[1].keys()
    for kind in samples[0]:
        one, other = samples[0][kind], samples[1][kind]
        assert byte_p_value(one, other) > 1e-6, kind
        half = min(len(one), len(other), MOST) // 2
        if half >= 200:
            assert abs(auc(one, other) - 0.5) < 4.5 * np.sqrt((2 * half + 1) / (12 * half**2)), kind


def byte_p_value(left: NDArray[np.uint8], right: NDArray[np.uint8]) -> float:
    """Return the p-value of a χ² test that two samples have the same bytes."""
    counts = np.array([np.bincount(one.reshape(-1), minlength=256) for one in (left, right)])
    counts = counts[:, counts.sum(axis=0) > 0]
    if counts.sum() < 5 * counts.size:
        bins = np.add.reduceat(counts, np.arange(0, counts.shape[1], 32), axis=1)
        counts = bins[:, bins.sum(axis=0) > 0]
    if counts.shape[1] < 2:
        return 1.0
    return float(chi2_contingency(counts).pvalue)


def auc(left: NDArray[np.uint8], right: NDArray[np.uint8]) -> float:
    """Return how well a classifier trained on half of the samples tells the other half apart."""
    size = min(len(left), len(right), MOST) // 2 * 2
    bits = [np.unpackbits(one[:size], axis=1).astype(np.float64) for one in (left, right)]
    half = size // 2
    train, test = (np.concatenate([one[part] for one in bits]) for part in (slice(half), slice(half, None)))
    labels = np.repeat([0, 1], half)
    model = LogisticRegression(C=0.01, max_iter=200).fit(train, labels)
    return float(roc_auc_score(labels, model.decision_function(test)))


def views_of(run: Callable[[], Simulation], party: str, times: int) -> Views:
    """Return the views of a party in several runs."""
    return [view_of(run(), party) for _ in range(times)]


def view_of(run: Simulation, party: str) -> Sequence[RecordedFrame]:
    """Return the view of a party, the frames of one sender after those of another, as senders race."""
    return sorted(run.transcript.view(party), key=lambda f: f.shape.sender)


def _samples(views: Views) -> dict[str, NDArray[np.uint8]]:
    """Return windows of bytes by the kind of frame."""
    found = defaultdict(list)
    for view in views:
        for frame in view:
            data = np.frombuffer(frame.payload, np.uint8)
            width = min(WINDOW, data.size)
            kind = frame.shape.kind if width == WINDOW else f"{frame.shape.kind} of {width} bytes"
            found[kind].append(data[: data.size // width * width].reshape(-1, width))
    return {kind: np.concatenate(parts) for kind, parts in found.items()}
