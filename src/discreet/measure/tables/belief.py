"""Belief: what readers think of people before and after a release (Machanavajjhala et al., ICDE 2006)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError, SchemaError
from discreet.core.params import InstanceOf, OneOf, require
from discreet.core.release import Release
from discreet.core.tables.labels import texts
from discreet.core.tables.source import source_of
from discreet.core.tables.table import Table

_BLOCK = 1 << 22
"""How many beliefs, of a person's quasi-identifiers in a value, are computed in one go."""
_CERTAIN, _UNCERTAIN = 0.9, 0.5


@public
@dataclass(frozen=True)
class Belief:
    """How far a release moves what readers believe about a sensitive column. It compares with the original: private.

    Attributes
    ----------
    column
        The sensitive column.
    n_people
        The released rows.
    largest_gain
        The most that the belief in a value of a person rises: posterior less prior.
    largest_log_ratio
        The largest natural logarithm of posterior over prior.
    disclosed
        The share of people of whom some value is believed with more than 0.9 and was with less than 0.5.
    n_contradicted
        People about whom nothing is said, since the prior rules out every value of their class.
    """

    column: str
    n_people: int
    largest_gain: float
    largest_log_ratio: float
    disclosed: float
    n_contradicted: int

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return asdict(self)


@public
def belief(release: Release, prior: Table | str = "original", *, of: str | None = None) -> Belief:
    """Compare what readers believe about people before a release and after it, as Bayes-optimal privacy does.

    A reader knows everybody's quasi-identifiers, who is in the release, and how values are distributed among people
    with the same quasi-identifiers q: f(s|q). That a person in the class C has the value s, which they believed with
    the prior f(s|q), they then believe with the posterior n(C,s)·f(s|q)/f(s|C), scaled to 1, where n(C,s) counts the
    value in the class and f(s|C) is the mean prior of its people. Where all people have the same prior, that is the
    share of the value in the class.

    The reader is taken not to reason about how the classes were found.

    Parameters
    ----------
    release
        A release of a table, by a publisher that says which row became which.
    prior
        ``"original"``: f(s|q) as counted in the original. ``"table"``: the shares of the whole original, for everybody.
        A Table with the same columns: as counted there; of quasi-identifiers that it lacks, its whole shares.
    of
        The sensitive column, where there are several.

    References
    ----------
    A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam: ℓ-Diversity. ICDE 2006.

    Examples
    --------
    Three of seven people have HIV, and so has everybody in the younger class.

    >>> from discreet import Table, intervals, quasi, sensitive
    >>> from discreet.guarantees import KAnonymity
    >>> from discreet.publish import Generalization
    >>> patients = Table(pa.table({"age": [24, 25, 26, 35, 36, 37, 38], "disease": ["HIV"] * 3 + ["flu", "gout"] * 2}),
    ...     {"age": quasi(intervals(10)), "disease": sensitive()})
    >>> release = Generalization(KAnonymity(3), levels={"age": 1}).release(patients)
    >>> moved = belief(release, "table")
    >>> round(moved.largest_gain, 3), round(moved.disclosed, 3)
    (0.571, 0.429)
    """
    owner = "belief"
    require(owner, "release", release, InstanceOf((Release,), "a Release"))
    require(owner, "prior", prior, OneOf(("original", "table")), InstanceOf((Table,), "a Table"))
    original, recoding = release.original, release.evidence.recoding
    if release.kind != "table" or original is None or recoding is None:
        raise InputError("It is not known which of the original rows these released rows are.")
    column = _column(release, of)
    names = list(release.schema.quasi)
    lacking = [
        name for name in (*names, column) if isinstance(prior, Table) and name not in prior.schema.columns
    ]
    if lacking:
        raise SchemaError(f"The table of the prior lacks column '{lacking[0]}', which the release has.")
    # The same seed deals out and shuffles the rows as it did for the release, so that the two lie side by side.
    true = replace(recoding, columns=tuple(names), by_value={}, by_piece={}, pseudonyms={}, renamed={})
    people = source_of(original.source.recode(replace(true, spreadsheet_safe=False))).columns(names)
    released = source_of(release.frame).columns([*names, column])
    counted = source_of((prior if isinstance(prior, Table) else original).frame).columns([*names, column])
    n_rows = len(released[column])
    tuples = _rows_coded([pa.concat_arrays([_texts(people[name]), _texts(counted[name])]) for name in names])
    values = _rows_coded([pa.concat_arrays([_texts(released[column]), _texts(counted[column])])])
    shares = _shares(tuples[n_rows:], values[n_rows:], int(tuples.max()) + 1, int(values.max()) + 1)
    if prior == "table":
        tuples = np.full_like(tuples, -1)
    classes = _rows_coded([_texts(released[name]) for name in names])
    return _compared(column, classes, tuples[:n_rows], values[:n_rows], shares)


def _column(release: Release, of: str | None) -> str:
    sensitive = release.schema.sensitive
    if of is None and len(sensitive) == 1:
        return str(sensitive[0])
    if of is None or of not in sensitive:
        raise SchemaError(f"Name one of the {len(sensitive)} sensitive columns of the release with 'of'.")
    return of


def _texts(array: pa.Array) -> pa.Array:
    return texts(array if pa.types.is_dictionary(array.type) else array.dictionary_encode()).cast(pa.string())


def _rows_coded(columns: list[pa.Array]) -> IntArray:
    """Return the number of each row among the distinct rows of some columns; null is a value like any other."""
    codes = [column.dictionary_encode(null_encoding="encode").indices.to_numpy() for column in columns]
    number: IntArray = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)[1].ravel()
    return number


def _shares(tuples: IntArray, values: IntArray, n_tuples: int, n_values: int) -> Any:
    """Return the shares of values among people with the same quasi-identifiers, as sparse rows; of all people last."""
    from scipy import sparse

    counts: Any = sparse.csr_array((np.ones(tuples.size), (tuples, values)), shape=(n_tuples, n_values))
    overall: FloatArray = counts.sum(axis=0)
    is_missing = counts.sum(axis=1) == 0
    counts = sparse.vstack([counts, sparse.csr_array(overall[None])]).tocsr()
    # Quasi-identifiers that the prior's table lacks are those of anybody.
    counts = counts + sparse.csr_array(np.append(is_missing, False)[:, None]) @ sparse.csr_array(
        overall[None]
    )
    return sparse.diags_array(1 / counts.sum(axis=1)) @ counts


def _compared(column: str, classes: IntArray, tuples: IntArray, values: IntArray, shares: Any) -> Belief:
    """Compute prior and posterior of everybody, class by class."""
    gain, ratio, n_disclosed, n_contradicted = 0.0, 0.0, 0, 0
    for before, after, people in _beliefs(classes, tuples, values, shares):
        is_said = after.sum(axis=1) > 0
        before, after, people_ = before[is_said], after[is_said], people[is_said]
        n_contradicted += int(people.sum() - people_.sum())
        if people_.size:
            gain = max(gain, float((after - before).max()))
            ratio = max(ratio, float(np.log(after[after > 0] / before[after > 0]).max()))
            sure = ((after > _CERTAIN) & (before < _UNCERTAIN)).any(axis=1)
            n_disclosed += int(people_[sure].sum())
    return Belief(column, classes.size, gain, ratio, n_disclosed / classes.size, n_contradicted)


def _beliefs(
    classes: IntArray, tuples: IntArray, values: IntArray, shares: Any
) -> Iterator[tuple[FloatArray, FloatArray, IntArray]]:
    """Iterate over priors, posteriors and numbers of people with the same quasi-identifiers, some classes at a time."""
    n_values = shares.shape[1]
    pairs, people = np.unique(np.stack([classes, tuples], axis=1), axis=0, return_counts=True)
    class_counts = np.zeros((int(classes.max()) + 1, n_values), np.int32)
    np.add.at(class_counts, (classes, values), 1)
    start = np.searchsorted(pairs[:, 0], np.arange(len(class_counts) + 1))
    block = start[:-1] * n_values // _BLOCK
    for number in np.unique(block):
        first, last = np.searchsorted(block, [number, number + 1])
        here = slice(start[first], start[last])
        before = shares[pairs[here, 1]].toarray()
        weights, counts = people[here], class_counts[first:last]
        mean = np.add.reduceat(before * weights[:, None], start[first:last] - start[first], axis=0)
        mean /= counts.sum(axis=1, keepdims=True)
        factor = np.divide(counts, mean, out=np.zeros_like(mean), where=mean > 0)
        after = before * factor[pairs[here, 0] - first]
        total = after.sum(axis=1, keepdims=True)
        yield before, np.divide(after, total, out=np.zeros_like(after), where=total > 0), weights
