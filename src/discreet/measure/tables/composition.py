"""Composition: what several releases of overlapping people show together (Ganta, Kasiviswanathan & Smith, KDD 2008)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec
from discreet.core.params import InstanceOf, require
from discreet.core.tables.table import Table
from discreet.measure.tables.class_intersections import ClassIntersections, common_values, labels_of
from discreet.measure.tables.label_overlaps import LabelOverlaps

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

    >>> import pyarrow as pa
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
    values = common_values(releases, sensitive)
    cells = LabelOverlaps.of(releases, _shared(releases, "quasi"), trees)
    first = state = ClassIntersections.first(releases[0], cells, values, same_values=same_values)
    for number, release in enumerate(releases[1:], 1):
        state = state.joined(release, number)
    numbers = tuple(each + 1 for each in chosen)
    differences = (_difference(first, releases[1], 1, (numbers[0], numbers[1])),) if len(chosen) == 2 else ()
    return replace(_composed(state, sensitive), releases=numbers, differences=differences)


def _shared(releases: Sequence[Table], role: str) -> tuple[str, ...]:
    """Return the columns with a role in every release."""
    first, *others = [getattr(release.schema, role) for release in releases]
    return tuple(name for name in first if all(name in other for other in others))


def _difference(first: ClassIntersections, table: Table, number: int, numbers: tuple[int, int]) -> Difference:
    """Return what a release adds to the counts of the first, region by region."""
    from scipy import sparse

    before, after = first.values.counts[first.releases[0]], first.values.counts[number]
    n, m = before.shape[0], after.shape[0]
    mine, theirs = first.pairs(labels_of(table, first.base.names), number)
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


def _composed(state: ClassIntersections, sensitive: tuple[str, ...]) -> Composition:
    """Return the figures of the combinations."""
    if not len(state.labels):
        nothing = dict.fromkeys(sensitive, 0)
        return Composition(state.releases, 0, 0, nothing, nothing, nothing)
    present = (state.counts > 0).astype(np.int64)
    smallest = min(
        int(state.values.counts[number][state.classes[:, at]].multiply(present).sum(axis=1).min())
        for at, number in enumerate(state.releases)
    )
    values, disclosed, at_risk = {}, {}, {}
    first = state.values.counts[state.releases[0]]
    combination, value = present.nonzero()
    for column, name in enumerate(sensitive):
        pairs = np.unique(np.stack([combination, state.values.columns[value, column]], axis=1), axis=0)
        left = np.bincount(pairs[:, 0], minlength=present.shape[0])
        values[name], disclosed[name] = int(left.min()), int((left == 1).sum())
        alone = left[combination] == 1
        cells = np.unique(np.stack([state.classes[combination[alone], 0], value[alone]], axis=1), axis=0)
        at_risk[name] = int(first[cells[:, 0], cells[:, 1]].sum())
    return Composition(state.releases, len(state.labels), smallest, values, disclosed, at_risk)
