"""1M baskets of 20 items in 100 components, beside scipy's CSR times dense and SparseRandomProjection."""

from __future__ import annotations

import numpy as np

from itemsets import Took, together
from rows import Row, amount, faster, within

NAME, SEED, COMPONENTS = "T20.I4.D1M.N1K", 1, 100
LIMIT, FLOOR = 0.3, 5.0
TIMES = 5


def run() -> list[Row]:
    """Sketch baskets, and the same rows with weights, each in turn with the peers, which work with one thread."""
    from sklearn.random_projection import SparseRandomProjection

    from discreet.datasets import quest
    from discreet.publish import SketchFamily

    baskets = quest(NAME, random_state=SEED)
    family = SketchFamily("benchmark", components=COMPONENTS)
    matrix = baskets.to_sparse().astype(np.float64)
    weighted = matrix.copy()
    weighted.data = np.random.default_rng(SEED).random(weighted.data.size)
    bits = np.unpackbits(family.signs(baskets.names.to_pylist()).view(np.uint8), axis=1, bitorder="little")
    dense = 1.0 - 2.0 * bits[:, :COMPONENTS]
    projection = SparseRandomProjection(COMPONENTS, dense_output=True, random_state=SEED).fit(matrix)
    ours, on_weights, scipy, scikit_learn = together(
        lambda: family.sketch(baskets),
        lambda: family.sketch(weighted, names=baskets.names.to_pylist()),
        lambda: matrix @ dense,
        lambda: projection.transform(matrix),
        times=TIMES,
    )
    few = slice(0, 1000)
    same = np.array_equal(
        family.sketch(matrix[few], names=baskets.names.to_pylist()).dense(), matrix[few] @ dense
    )
    return [
        within(
            "sketching 1M baskets",
            ours.wall,
            LIMIT,
            "s",
            note=f"{ours.note}; the same as scipy's: {same}",
            clock=True,
        ),
        beside("scipy, CSR times dense", ours, scipy),
        beside("scikit-learn, SparseRandomProjection", ours, scikit_learn),
        beside("weighted rows, scipy", on_weights, scipy, floor=None),
    ]


def beside(what: str, ours: Took, peer: Took, *, floor: float | None = FLOOR) -> Row:
    """Compare wall seconds with a peer's."""
    note = f"{ours.note}, peer {amount(peer.cpu, 's')}"
    return faster(f"sketching, {what}", ours.wall, peer.wall, floor, note=note)
