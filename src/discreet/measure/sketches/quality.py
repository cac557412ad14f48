"""What sketches keep: how far reconstructed values are off, whose neighbors stay, how well clusters hold together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.arrays import BoolArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import IntIn, require
from discreet.core.records.sketches import Signs, Sketches
from discreet.core.records.sparse_rows import SparseRows
from discreet.core.rng import RandomState, generator

_CELLS = 4_000_000


@public
@dataclass(frozen=True)
class ReconstructionError:
    """How far reconstructed values are from the true ones, as roots of mean squares.

    ``observed`` is measured; ``predicted`` follows from the formula (‖X‖² − x²)/m for the same values. ``n_values``
    counts what was compared.
    """

    observed: float
    predicted: float
    n_values: int

    @property
    def ratio(self) -> float:
        """The observed error over the predicted one: about 1."""
        return self.observed / self.predicted if self.predicted else float("nan")


@public
@dataclass(frozen=True)
class DistanceError:
    """How far estimated distances are off, by the lengths of published sketches alone.

    ``shared`` is the number of components that half of all pairs share at least, ``relative`` the standard error of an
    estimated squared distance beside its true value, at the most: √(2/shared).
    """

    shared: int
    relative: float


@public
def distance_error(lengths: ArrayLike) -> DistanceError:
    """Compute the expected error of squared distances between sketches of these lengths.

    Two sketches are compared by the components that both have, so the shorter of the two counts. The variance of a
    squared distance D from m components is 2(D² − Σd⁴)/m, hence at most 2D²/m.

    >>> distance_error([128] * 10)
    DistanceError(shared=128, relative=0.125)
    """
    positive = np.sort(np.asarray(lengths, np.int64))
    positive = positive[positive > 0]
    if not positive.size:
        return DistanceError(0, float("nan"))
    # Both of a pair are at least so long with a chance of one half: (1 - share)^2 = 1/2.
    shared = int(positive[int(np.floor((1 - 0.5**0.5) * positive.size))])
    return DistanceError(shared, float(np.sqrt(2 / shared)))


@public
def reconstruction_error(
    rows: Any,
    sketches: Sketches,
    family: Signs,
    *,
    items: Sequence[Any] | None = None,
    names: Iterable[Any] | None = None,
) -> ReconstructionError:
    """Compare the values reconstructed from sketches with those of the records they were made of, in the same order.

    Parameters
    ----------
    rows, names
        The records, and the names of their columns, as ``SketchFamily.sketch`` takes them.
    sketches, family
        Their sketches, and the family that made them. Suppressed records are left out.
    items
        The items to look at; by default all that some record holds.

    Examples
    --------
    >>> from discreet.publish import SketchFamily
    >>> family = SketchFamily("shared key", components=50)
    >>> rows = np.random.default_rng(0).poisson(0.3, (500, 40))
    >>> 0.9 < reconstruction_error(rows, family.sketch(rows), family).ratio < 1.1
    True
    """
    if isinstance(items, str | bytes):
        raise InputError("'items' must be a sequence of names, and not a single one.")
    records = beside(rows, names, sketches)
    position = {name: at for at, name in enumerate(records.names)}
    names_of_items = list(records.names) if items is None else list(items)
    columns = np.array([position.get(name, -1) for name in names_of_items], np.int64)
    matrix = records.to_sparse()
    observed = predicted = 0.0
    count = 0
    for batch in batches(np.flatnonzero(~sketches.suppressed), max(len(names_of_items), len(records.names))):
        # Items that no record holds, at -1, read the column of zeros.
        true = np.hstack([matrix[batch].toarray(), np.zeros((batch.size, 1))])[:, columns]
        published = sketches.take(batch)
        estimates = published.reconstruct(names_of_items, family).values
        variance = (records.squared_norms[batch, None] - true**2) / published.lengths[:, None]
        observed += float(((estimates - true) ** 2).sum())
        predicted += float(variance.sum())
        count += true.size
    if not count:
        raise InputError("There is no value to compare.")
    return ReconstructionError(float(np.sqrt(observed / count)), float(np.sqrt(predicted / count)), count)


@public
def neighbor_overlap(
    rows: Any,
    sketches: Sketches,
    *,
    k: int = 10,
    sample: int | None = 1000,
    names: Iterable[Any] | None = None,
    random_state: RandomState = None,
) -> float:
    """Return the share of a record's k nearest neighbors, by cosine, that are also nearest by the sketches.

    Parameters
    ----------
    rows, names, sketches
        The records and their sketches, in the same order; suppressed records are left out, as neighbors too.
    k
        The number of neighbors.
    sample
        Of how many records, drawn at random, the neighbors are looked for; None for all.
    random_state
        The seed of that draw.

    Examples
    --------
    >>> from discreet.publish import SketchFamily
    >>> rows = np.random.default_rng(0).poisson(0.3, (300, 40))
    >>> short, long = (neighbor_overlap(rows, SketchFamily("key", components=m).sketch(rows)) for m in (10, 1000))
    >>> short < 0.5 < long
    True
    """
    from discreet.kernels.sketches.distances import nearest_by_distance

    records = beside(rows, names, sketches)
    present = np.flatnonzero(~sketches.suppressed)
    if present.size < 2:
        raise InputError("There is no record with a neighbor; two sketches are the least.")
    require("neighbor_overlap", "k", k, IntIn(1, present.size - 1))
    chosen = drawn_pairs(present.size, sample, random_state, owner="neighbor_overlap")
    published = sketches.take(present)
    _, neighbors = nearest_by_distance(
        *_part(published, chosen), published.values, published.indptr, "cosine", min(k + 1, present.size)
    )
    unit = _unit(records.take(present))
    shared = 0
    for batch in batches(np.arange(chosen.size), present.size):
        cosines = (unit[chosen[batch]] @ unit.T).toarray()
        cosines[np.arange(batch.size), chosen[batch]] = -np.inf
        true = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
        for row, record, near in zip(true, chosen[batch], neighbors[batch], strict=True):
            shared += np.isin(near[near != record][:k], row).sum()
    return float(shared / (chosen.size * k))


@public
def cluster_cohesion(
    rows: Any, labels: ArrayLike, *, names: Iterable[Any] | None = None, random_state: RandomState = None
) -> float:
    """Return the mean cosine of the records, as they truly are, to the centroid of their cluster.

    Records labeled −1 (suppressed ones) are put into clusters at random, in proportion to the clusters' sizes.

    Examples
    --------
    >>> rows = np.array([[1, 0], [2, 0], [0, 1], [0, 3]])
    >>> cluster_cohesion(rows, [0, 0, 1, 1]), round(cluster_cohesion(rows, [0, 1, 0, 1]), 3)
    (1.0, 0.7)
    """
    from scipy.sparse import csr_array

    records = SparseRows.of(rows, names=names)
    clusters = np.array(labels)
    if clusters.shape != (len(records),) or clusters.dtype.kind not in "iu" or not (clusters >= 0).any():
        raise InputError(
            f"'labels' must be a cluster for each of the {len(records)} records, not all of them −1."
        )
    loose = clusters < 0
    shares = np.bincount(clusters[~loose]) / (~loose).sum()
    rng = generator(random_state, owner="cluster_cohesion")
    clusters[loose] = rng.choice(shares.size, int(loose.sum()), p=shares)
    members = csr_array(
        (np.ones(clusters.size), (clusters, np.arange(clusters.size))), shape=(shares.size, clusters.size)
    )
    matrix = records.to_sparse()
    centroids = (members @ matrix).toarray()
    sizes = np.sqrt((centroids**2).sum(axis=1))[clusters] * np.sqrt(records.squared_norms)
    dots = np.concatenate(
        [
            np.asarray(matrix[batch].multiply(centroids[clusters[batch]]).sum(axis=1)).ravel()
            for batch in batches(np.arange(clusters.size), max(len(records.names), 1))
        ]
    )
    return float(np.divide(dots, sizes, out=np.zeros_like(dots), where=sizes > 0).mean())


@public
def accuracy_by_prior(
    truth: ArrayLike, predicted: ArrayLike, *, suppressed: BoolArray | None = None, training: ArrayLike
) -> float:
    """Return the accuracy of predicted classes, suppressed records being labeled at random.

    The chance is not drawn: a suppressed record counts with the share of its true class among the training classes.

    >>> accuracy_by_prior(["a", "b", "b"], ["a", "a", "b"], suppressed=np.array([0, 0, 1], bool), training=["a", "b"])
    0.5
    """
    sizes = {np.shape(labels) for labels in (truth, predicted, suppressed) if labels is not None}
    if len(sizes) > 1 or not np.size(truth):
        raise InputError(
            "The classes that are true, predicted and suppressed must be as many, and there must be some."
        )
    right = np.asarray(truth) == np.asarray(predicted)
    if suppressed is None:
        return float(right.mean())
    classes, counts = np.unique(np.asarray(training), return_counts=True)
    share = dict(zip(classes.tolist(), (counts / counts.sum()).tolist(), strict=True))
    by_chance = np.array([share.get(label, 0.0) for label in np.asarray(truth).tolist()])
    return float(np.where(suppressed, by_chance, right).mean())


def beside(rows: Any, names: Iterable[Any] | None, sketches: Sketches) -> SparseRows:
    """Take records that belong to sketches, in the same order."""
    records = SparseRows.of(rows, names=names)
    if len(records) != len(sketches):
        raise InputError(f"There are {len(sketches)} sketches, but {len(records)} records.")
    return records


def batches(rows: IntArray, width: int) -> Iterator[IntArray]:
    """Cut rows into parts whose matrices of ``width`` columns stay small."""
    step = max(1, _CELLS // max(width, 1))
    return (rows[start : start + step] for start in range(0, rows.size, step))


def drawn_pairs(n: int, sample: int | None, random_state: RandomState, *, owner: str) -> IntArray:
    """Draw places without repetition, in order; all of them if there are no more."""
    require(owner, "sample", 1 if sample is None else sample, IntIn(1))
    if sample is None or sample >= n:
        return np.arange(n)
    return np.sort(generator(random_state, owner=owner).choice(n, sample, replace=False))


def _part(sketches: Sketches, rows: IntArray) -> tuple[Any, IntArray]:
    part = sketches.take(rows)
    return part.values, part.indptr


def _unit(records: SparseRows) -> Any:
    """Scale the records to length 1; those of zeros stay."""
    from scipy.sparse import diags_array

    sizes = np.sqrt(records.squared_norms)
    return (diags_array(1 / np.where(sizes > 0, sizes, 1)) @ records.to_sparse()).tocsr()
