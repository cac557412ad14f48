"""Attack published sketches without the key: one by one by their shape, and all together by who is like whom.

The attacker has every record and wants to know which sketch is whose. A sketch by itself shows little of that. All
sketches together show how alike records are, which is what they are for, and that pattern is matched to the true one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment, quadratic_assignment
from sklearn.feature_extraction.text import TfidfVectorizer

from discreet.datasets import quest
from discreet.publish import DeltaSketch, SketchFamily, propose_delta

RECORDS, STEP, REACH = 200, 0.5, 20


def texts(fewest: int, most: int) -> Any:
    """Return the tf-idf weights of texts whose words are as unevenly frequent as in a language."""
    rng = np.random.default_rng(fewest)
    share = 1 / np.arange(1, 2001)
    sizes = rng.integers(fewest, most + 1, RECORDS)
    words = [rng.choice(2000, size, p=share / share.sum()) for size in sizes]
    return TfidfVectorizer().fit_transform(" ".join(f"word{one}" for one in text) for text in words)


def baskets() -> Any:
    """Return generated baskets of about 20 out of 500 items, as a matrix."""
    made = quest(f"T20.I4.D{RECORDS}.N500", random_state=1)
    matrix = np.zeros((len(made), made.n_items))
    matrix[made.rows(), made.items] = 1
    return matrix


def shapes(rows: Any) -> Any:
    """Return how likely each multiple of the grid's step is as a component of each record, whatever the signs."""
    rng = np.random.default_rng(0)
    signs = rng.choice([-1, 1], (rows.shape[1], 4096))
    shares = np.zeros((rows.shape[0], 2 * REACH + 1))
    for record, sums in enumerate(np.asarray(rows @ signs) / STEP):
        low = np.floor(sums)
        np.add.at(shares[record], (low + REACH).astype(int), 1 - (sums - low))
        np.add.at(shares[record], (low + REACH + 1).astype(int), sums - low)
    return np.log(shares / 4096 + 1e-6)


def alone(rows: Any, sketches: list[Any], lengths: Any, *, grid: bool) -> Any:
    """Score each record for each sketch by the sketch alone: its shape and its length."""
    scores = -4.0 * np.abs(np.array([len(one) for one in sketches])[:, None] - lengths[None, :]).clip(0, 5)
    if grid:
        places = [(np.rint(one / STEP) + REACH).astype(int) for one in sketches]
        counts = np.array([np.bincount(one, minlength=2 * REACH + 1) for one in places])
        scores += counts @ shapes(rows).T
    return scores


def together(rows: Any, sketches: list[Any], scores: Any) -> Any:
    """Match the dot products that sketches estimate to the true ones; returns the record of each sketch."""
    sizes = np.array([len(one) for one in sketches])
    dense = np.array([np.pad(one, (0, sizes.max() - len(one))) for one in sketches], float)
    shared = np.minimum.outer(sizes, sizes)
    estimated, true = dense @ dense.T / shared, np.asarray((rows @ rows.T).toarray())
    size = np.sqrt(np.outer(true.diagonal(), true.diagonal()))
    start = np.exp((scores - scores.max(axis=1, keepdims=True)).T / 2) + 0.01
    for _ in range(2000):
        start /= start.sum(axis=1, keepdims=True)
        start /= start.sum(axis=0, keepdims=True)
    off = ~np.eye(len(sizes), dtype=bool)
    options = {"maximize": True, "maxiter": 60, "P0": start, "rng": np.random.default_rng(0)}
    weighted = estimated * off * np.sqrt(shared / sizes.max())
    matched = quadratic_assignment(true * off, weighted, method="faq", options=options)
    found = np.argsort(matched.col_ind)
    for _ in range(6):
        fit = scores.copy()
        for record in range(len(sizes)):
            mean, spread = true[record][found], size[record][found] ** 2 + true[record][found] ** 2
            fit[:, record] -= (off * shared / 2 * (estimated - mean) ** 2 / spread).sum(axis=1)
        found = linear_sum_assignment(-fit)[1]
    return found


def attack(name: str, rows: Any, delta: float | None, components: int, *, grid: bool) -> None:
    """Publish records under a key that nobody keeps, attack them, and print the shares that were found."""
    from scipy.sparse import csr_array

    chosen = propose_delta(rows, components=components).delta if delta is None else delta
    method = DeltaSketch(chosen, family=SketchFamily("nobody keeps this key", components=components))
    release = method.release(rows)
    known = np.sort(release.order)
    truth, matrix = np.searchsorted(known, release.order), csr_array(rows)[known]
    sketches = np.split(release.data.values, release.data.indptr[1:-1])
    scores = alone(matrix, sketches, method.lengths(rows)[known], grid=grid)
    one_by_one = np.mean(scores.argmax(axis=1) == truth)
    matched = np.mean(together(matrix, sketches, scores) == truth)
    length = f"{np.median(release.data.lengths):g} components"
    print(f"{name:20} delta {chosen:<6g} {length:15} found alone {one_by_one:4.0%}, together {matched:4.0%}")


def main() -> None:
    """Attack short and longer texts, and baskets."""
    for fewest, most in ((3, 8), (9, 16), (30, 60)):
        rows = texts(fewest, most)
        for delta, components in ((None, 128), (0.005, 200)):
            attack(f"texts, {fewest} to {most} words", rows, delta, components, grid=True)
    for delta, components in ((0.2, 200), (1.0, 200)):
        attack("baskets", baskets(), delta, components, grid=False)
    print(f"by chance {1 / RECORDS:.1%}")


if __name__ == "__main__":
    main()
