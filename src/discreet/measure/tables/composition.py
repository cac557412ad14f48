"""Composition: what several releases of overlapping people show together (Ganta, Kasiviswanathan & Smith, KDD 2008)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray, CodeArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec
from discreet.core.params import InstanceOf, require
from discreet.core.tables.labels import texts
from discreet.core.tables.table import Table
from discreet.measure.tables.label_overlaps import LabelOverlaps, written_alike

_AT_ONCE = 1 << 24
_MOST = 1 << 22
"""How many combinations of classes are compared at most."""
_RELEASES = 8
"""How many releases are compared at most: every choice of two or more is, and each one more doubles these."""


@public
@dataclass(frozen=True)
class Composition:
    """What is left of the protection of people who are in all of several releases.

    Attributes
    ----------
    releases
        The numbers of the releases, from 1.
    n_combinations
        The combinations of classes, one of each release, that can hold the same person: their labels overlap in every
        common quasi-identifier, and a sensitive value is in all of them.
    smallest
        The fewest rows of one release, over all combinations, that may be the person's: what is left of k.
    values
        For each common sensitive column the fewest values over all combinations: what is left of distinct diversity.
    disclosed
        For each common sensitive column the combinations that leave one value.
    rows_at_risk
        For each common sensitive column the rows of the first release whose value they leave for certain, if the
        person is in the others and in those classes.
    differences
        For every two releases, what the counts of the later add to those of the earlier.
    parts
        The same figures for people who are in all of fewer releases: each choice of two or more, but not all. Larger
        choices with two releases of which nobody can be in both are left out.
    """

    releases: tuple[int, ...]
    n_combinations: int
    smallest: int
    values: Mapping[str, int]
    disclosed: Mapping[str, int]
    rows_at_risk: Mapping[str, int]
    differences: tuple[Difference, ...] = ()
    parts: tuple[Composition, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data for JSON."""
        return asdict(self)


@public
@dataclass(frozen=True)
class Difference:
    """What the counts of a release show beside those of an earlier one, by regions that the same people fall into.

    Attributes
    ----------
    releases
        The numbers of the two releases, from 1.
    regions
        The regions: classes of both releases that nobody who stays can leave.
    grown, shrunk
        The regions in which no value is rarer than before and some are more frequent, and those in which no value is
        more frequent and some are rarer.
    fewest
        The fewest rows that were added to, or taken from, such a region; None where there is none. If people only
        came, or only went, those are the newcomers', or the leavers', rows.
    disclosed
        The grown and shrunk regions in which those rows share their values in all sensitive columns.
    fewest_disclosed
        The fewest rows of such a region; None where there is none.
    """

    releases: tuple[int, int]
    regions: int
    grown: int
    shrunk: int
    fewest: int | None
    disclosed: int
    fewest_disclosed: int | None


@public
def composition(
    releases: Sequence[Table],
    trees: Mapping[str, HierarchySpec | Hierarchy] | None = None,
    *,
    same_values: bool | Sequence[bool] = False,
) -> Composition:
    """Intersect the classes of several releases, and subtract their counts.

    An attacker knows that somebody is in all releases, or in all of some, and the true quasi-identifiers, but not the
    sensitive values; neither change between releases. In each release the person is in a class whose labels cover those
    values, so the sensitive value is one that all these classes have. It holds whoever made the releases, and for every
    person who may be in them; the releases alone do not say who is. A number is taken for the value of all rows that
    have it: means of classes, which say nothing of who is in them, cannot be compared.

    Parameters
    ----------
    releases
        Two to eight published tables, in the order in which they were published.
    trees
        The hierarchies of columns whose labels are names of groups, the same for all releases.
    same_values
        Whether a person's classes have the same sensitive values in all releases, as m-invariance promises and whoever
        knows the method can rely on; or for each release whether it is among those of which this holds.

    Examples
    --------
    Both releases are 2-diverse, and whoever is 24 and in both has the flu:

    >>> from discreet import Table, quasi, sensitive
    >>> roles = {"age": quasi(), "illness": sensitive()}
    >>> first = Table(pa.table({"age": ["[20, 29]"] * 2, "illness": ["flu", "cold"]}), roles)
    >>> second = Table(pa.table({"age": ["[23, 25]"] * 2, "illness": ["flu", "asthma"]}), roles)
    >>> found = composition([first, second])
    >>> found.n_combinations, found.smallest, dict(found.values), dict(found.rows_at_risk)
    (1, 1, {'illness': 1}, {'illness': 1})

    References
    ----------
    S. R. Ganta, S. P. Kasiviswanathan, A. Smith: Composition attacks and auxiliary information in data privacy.
    KDD 2008.
    """
    for release in releases:
        require("composition", "releases", release, InstanceOf((Table,), "a sequence of tables"))
    if len(releases) < 2:
        raise InputError("Two or more releases are compared.")
    if len(releases) > _RELEASES:
        raise InputError(
            f"At most {_RELEASES} releases are compared at a time: check fewer, with others each time."
        )
    for role, noun in (("quasi", "quasi-identifier"), ("sensitive", "sensitive column")):
        if not _shared(releases, role):
            raise InputError(f"The releases share no {noun}, so they cannot be compared.")
    same = [same_values] * len(releases) if isinstance(same_values, bool) else list(same_values)
    # Whoever is in some releases need not be in all, and these may share fewer columns: every choice stands by itself.
    found: dict[tuple[int, ...], Composition] = {}
    for size in range(2, len(releases) + 1):
        for chosen in combinations(range(len(releases)), size):
            pairs = [found[pair] for pair in combinations(chosen, 2)] if size > 2 else []
            if all(each.n_combinations for each in pairs):
                found[chosen] = _intersected(
                    releases, chosen, trees or {}, all(same[each] for each in chosen)
                )
    everything = tuple(range(len(releases)))
    if everything not in found:
        nothing = dict.fromkeys(_shared(releases, "sensitive"), 0)
        found[everything] = Composition(
            tuple(each + 1 for each in everything), 0, 0, nothing, nothing, nothing
        )
    last = found.pop(everything)
    differences = last.differences + tuple(change for each in found.values() for change in each.differences)
    return replace(last, differences=differences, parts=tuple(found.values()))


def _intersected(
    everything: Sequence[Table],
    chosen: tuple[int, ...],
    trees: Mapping[str, HierarchySpec | Hierarchy],
    same_values: bool,
) -> Composition:
    """Return the figures of people who are in all chosen releases; of two also the difference."""
    releases = [everything[each] for each in chosen]
    sensitive = _shared(releases, "sensitive")
    values = _values(releases, sensitive)
    cells = LabelOverlaps.of(releases, _shared(releases, "quasi"), trees)
    first = state = _State.first(releases[0], cells, values, same_values=same_values)
    for number, release in enumerate(releases[1:], 1):
        state = state.joined(release, number)
    numbers = tuple(each + 1 for each in chosen)
    differences = (first.difference(releases[1], 1, (numbers[0], numbers[1])),) if len(chosen) == 2 else ()
    return replace(state.composed(sensitive), releases=numbers, differences=differences)


def _shared(releases: Sequence[Table], role: str) -> tuple[str, ...]:
    """Return the columns with a role in every release."""
    first, *others = [getattr(release.schema, role) for release in releases]
    return tuple(name for name in first if all(name in other for other in others))


@dataclass(frozen=True, repr=False)
class _Values:
    """The distinct combinations of common sensitive values, and how many of each every class of a release has."""

    columns: CodeArray
    """For each combination the code of its value in each column."""
    counts: tuple[Any, ...]
    """For each release a sparse matrix of classes by combinations."""


def _values(releases: Sequence[Table], names: tuple[str, ...]) -> _Values:
    from scipy import sparse

    codes = []
    for name in names:
        alike = written_alike([texts(release.encoded[name].values) for release in releases])
        written = [pa.concat_arrays([pa.nulls(1, pa.string()), each]) for each in alike]
        book = pa.chunked_array(written).combine_chunks().dictionary_encode(null_encoding="encode")
        numbers = np.asarray(book.indices, np.int64)
        ends = np.cumsum([len(each) for each in written])
        codes.append(
            [part[r.codes(name)] for part, r in zip(np.split(numbers, ends[:-1]), releases, strict=True)]
        )
    rows = [np.stack(columns, axis=1) for columns in zip(*codes, strict=True)]
    distinct, number = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    split = np.split(number.ravel(), np.cumsum([len(each) for each in rows])[:-1])
    counts = []
    for release, value in zip(releases, split, strict=True):
        labels, classes = release.classes
        shape = (len(classes), len(distinct))
        counts.append(sparse.csr_matrix((release.tuples.counts, (labels, value)), shape=shape))
    return _Values(distinct, tuple(counts))


@dataclass(frozen=True, repr=False)
class _State:
    """Combinations of classes that may hold the same person, one class of each release so far.

    ``labels`` has a row for each, with the number of its cell in each column; ``cells`` says by column what each of
    these covers, the intersection of the labels of all releases.
    """

    base: LabelOverlaps
    values: _Values
    same_values: bool
    labels: CodeArray
    cells: tuple[BoolArray, ...]
    counts: Any
    """The rows of each value that every release has in its class of the combination, at the least."""
    classes: IntArray
    """The class of each release: a row for each combination, a column for each release."""
    releases: tuple[int, ...] = field(default=(0,))

    @classmethod
    def first(cls, table: Table, base: LabelOverlaps, values: _Values, *, same_values: bool) -> _State:
        """Return the classes of the first release."""
        labels = _labels_of(table, base.names)
        classes = np.arange(len(labels))[:, None]
        return cls(base, values, same_values, labels, base.covers[0], values.counts[0], classes)

    def pairs(self, labels: CodeArray, number: int) -> tuple[IntArray, IntArray]:
        """Return the combinations and the classes of a release that overlap in every column and share a value."""
        # By products of numbers, which are fast; only whether a sum is above 0 matters.
        overlaps = [
            (mine.astype(np.float32) @ theirs.T.astype(np.float32)) > 0
            for mine, theirs in zip(self.cells, self.base.covers[number], strict=True)
        ]
        nothing = np.empty(0, np.int64)
        step, found, n_found = max(_AT_ONCE // max(len(labels), 1), 1), [(nothing, nothing)], 0
        for low in range(0, len(self.labels), step):
            part = np.ones((len(self.labels[low : low + step]), len(labels)), np.bool_)
            for column, overlap in enumerate(overlaps):
                part &= overlap[self.labels[low : low + step, column]][:, labels[:, column]]
            rows, others = np.nonzero(part)
            n_found += rows.size
            if n_found > _MOST:
                raise InputError(
                    "The releases overlap in too many ways to be compared; check fewer at a time."
                )
            found.append((rows + low, others))
        mine, theirs = (np.concatenate(side) for side in zip(*found, strict=True))
        shared = self._shared(mine, theirs, number)
        return mine[shared], theirs[shared]

    def _shared(self, mine: IntArray, theirs: IntArray, number: int) -> BoolArray:
        ours, other = (self.counts > 0).astype(np.int64), (self.values.counts[number] > 0).astype(np.int64)
        common = np.asarray(ours[mine].multiply(other[theirs]).sum(axis=1)).ravel()
        if not self.same_values:
            return np.asarray(common > 0)
        widths = (np.asarray(each.sum(axis=1)).ravel() for each in (ours, other))
        return np.asarray((common == next(widths)[mine]) & (common == next(widths)[theirs]))

    def joined(self, table: Table, number: int) -> _State:
        """Return the combinations with the classes of one more release."""
        labels = _labels_of(table, self.base.names)
        mine, theirs = self.pairs(labels, number)
        cells, joined = [], []
        for column, (covers, others) in enumerate(zip(self.cells, self.base.covers[number], strict=True)):
            keys = self.labels[mine, column].astype(np.int64) * len(others) + labels[theirs, column]
            # Only the intersections of labels that occur.
            used, place = np.unique(keys, return_inverse=True)
            cells.append(covers[used // len(others)] & others[used % len(others)])
            joined.append(place.ravel())
        # At most as many are in both classes with a value as the class with fewer of them has.
        counts = self.counts[mine].minimum(self.values.counts[number][theirs]).tocsr()
        classes = np.column_stack([self.classes[mine], theirs])
        stacked = np.stack(joined, axis=1).astype(np.int32)
        return _State(
            self.base, self.values, self.same_values, stacked, tuple(cells), counts, classes,
            (*self.releases, number),
        )  # fmt: skip

    def difference(self, table: Table, number: int, numbers: tuple[int, int]) -> Difference:
        """Return what a release adds to the counts of this one, region by region."""
        from scipy import sparse

        before, after = self.values.counts[self.releases[0]], self.values.counts[number]
        n, m = before.shape[0], after.shape[0]
        mine, theirs = self.pairs(_labels_of(table, self.base.names), number)
        # Whoever stays is in two linked classes, so that nobody who stays leaves a connected component.
        links = sparse.coo_matrix((np.ones(mine.size), (mine, theirs + n)), shape=(n + m, n + m))
        n_regions, region = sparse.csgraph.connected_components(links, directed=False)
        of_class = sparse.csr_matrix(
            (np.ones(n + m, np.int64), (region, np.arange(n + m))), shape=(n_regions, n + m)
        )
        change = (of_class[:, n:] @ after - of_class[:, :n] @ before).tocsr()
        change.eliminate_zeros()
        rows = np.asarray(abs(change).sum(axis=1)).ravel()
        net = np.asarray(change.sum(axis=1)).ravel()
        grown, shrunk = (rows > 0) & (net == rows), (rows > 0) & (net == -rows)
        one_sided = grown | shrunk
        alike = one_sided & (np.diff(change.indptr) == 1)
        return Difference(
            releases=numbers,
            regions=int(n_regions),
            grown=int(grown.sum()),
            shrunk=int(shrunk.sum()),
            fewest=int(rows[one_sided].min()) if one_sided.any() else None,
            disclosed=int(alike.sum()),
            fewest_disclosed=int(rows[alike].min()) if alike.any() else None,
        )

    def composed(self, sensitive: tuple[str, ...]) -> Composition:
        """Return the figures of the combinations."""
        if not len(self.labels):
            nothing = dict.fromkeys(sensitive, 0)
            return Composition(self.releases, 0, 0, nothing, nothing, nothing)
        present = (self.counts > 0).astype(np.int64)
        smallest = min(
            int(self.values.counts[number][self.classes[:, at]].multiply(present).sum(axis=1).min())
            for at, number in enumerate(self.releases)
        )
        values, disclosed, at_risk = {}, {}, {}
        first = self.values.counts[self.releases[0]]
        combination, value = present.nonzero()
        for column, name in enumerate(sensitive):
            pairs = np.unique(np.stack([combination, self.values.columns[value, column]], axis=1), axis=0)
            left = np.bincount(pairs[:, 0], minlength=present.shape[0])
            values[name], disclosed[name] = int(left.min()), int((left == 1).sum())
            alone = left[combination] == 1
            cells = np.unique(np.stack([self.classes[combination[alone], 0], value[alone]], axis=1), axis=0)
            at_risk[name] = int(first[cells[:, 0], cells[:, 1]].sum())
        return Composition(self.releases, len(self.labels), smallest, values, disclosed, at_risk)


def _labels_of(table: Table, names: tuple[str, ...]) -> CodeArray:
    """Return the label of each class of a table in some of its quasi-identifiers."""
    order = [table.schema.quasi.index(name) for name in names]
    return table.classes[1][:, order]
