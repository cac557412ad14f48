"""Publish baskets as keyed sketches, and estimate from them how alike two baskets are."""

from __future__ import annotations

import secrets

import numpy as np

from discreet.datasets import quest
from discreet.measure import guess_attributes, neighbor_overlap
from discreet.publish import DeltaSketch, SketchFamily


def main() -> None:
    """Sketch generated baskets, compare estimated with true dot products, and guess as an attacker would."""
    baskets = quest("T20.I4.D1K.N500", random_state=1)
    family = SketchFamily(secrets.token_bytes(32), components=200)
    release = DeltaSketch(0.4, family=family).release(baskets)
    print(release.verdict)
    kept = baskets.take(release.order)
    matrix = kept.to_sparse()[:200].astype(float)
    true = (matrix @ matrix.T).toarray()
    error = np.abs(np.asarray(release.data.dot(release.data))[:200, :200] - true).mean()
    print(f"mean error of a dot product: {error:.1f}, of baskets with {kept.lengths.mean():.0f} items")
    print("an attacker with the key:", guess_attributes(kept, release.data, family))
    print("neighbors found again:", neighbor_overlap(kept, release.data))


if __name__ == "__main__":
    main()
