"""Anonymizing together: a common k-anonymous generalization of rows that are split between parties."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.core.errors import InfeasibleError, ParameterError
from discreet.core.hierarchy.bound import Hierarchy
from discreet.core.params import IntIn, require
from discreet.parties.mining.models.columns import own_columns, read_columns, require_names
from discreet.parties.protocol import Facts, Party, Protocol, own_rows_leak, several_runs_leak
from discreet.parties.shares.pair import PairFrames, PairShares
from discreet.parties.transcript import FrameShape
from discreet.publish.tables.publisher import SUPPRESSIBLE

Node = tuple[int, ...]
Columns = Mapping[str, NDArray[Any]]
Codes = Sequence[NDArray[np.int32]]
MAX_CELLS = 1 << 20
"""The most cells that one generalization may have."""


@public
@dataclass(frozen=True, repr=False)
class JointAnonymization:
    """The common generalization, and the party's own part of the release.

    ``levels`` are those of the columns. ``classes`` has the published labels of every class with its ``size`` over all
    parties. ``release`` is the party's own part, judged by the sizes of all, or None where nothing of it is published.

    >>> nothing = JointAnonymization(2, {"age": 1}, {"age": ["[20, 29]"], "size": [2]}, None, 1)
    >>> nothing.smallest, nothing.caution
    (0, '')
    """

    k: int
    levels: Mapping[str, int]
    classes: Mapping[str, list[Any]]
    release: Any
    n_suppressed: int

    @property
    def smallest(self) -> int:
        """The size of the smallest class of the own part; 0 where nothing of it is published."""
        return 0 if self.release is None else int(self.release.groups().sizes.min())

    @property
    def caution(self) -> str:
        """What to consider before the own part is published; empty where every class of it has k rows by itself."""
        if self.release is None or self.smallest >= self.k:
            return ""
        return (
            f"A class of this part has {self.smallest} rows, and {self.k} only together with the other parties: "
            "publish the parts as one table, so that nobody can search the rows of this party alone."
        )


@public
@dataclass(frozen=True, kw_only=True)
class AnonymizeTogether(Protocol):
    """Generalize rows at several parties to common levels, at which every class has at least k rows over all parties.

    Generalizations of whole columns are tried from a middle height of the lattice on, as Samarati's search does, those
    that lose least first. The first two parties compare shares of the counts of every cell of the public domain with 1
    and with k, and of a generalization only whether it will do is opened. Of the one that is chosen the sizes of the
    classes that are published are opened, and which cells are suppressed.

    A party publishes its own part as an ordinary release. It is judged by the sizes over all parties (as ``KMap``, the
    population of which are all parties' released rows). **The classes of one part may be smaller than k.** Somebody who
    knows which party holds a person has only that party's part to search; publish the parts as one table, or agree on
    ``origin_known``, which requires k rows in every part.

    Parameters
    ----------
    k : int
        The least rows of a class over all parties.
    domain : mapping of str to list
        The public values of every quasi-identifier, or ``low`` and ``high`` of integers; others are refused.
    hierarchies : mapping of str to mapping
        The tree of every quasi-identifier, as plain data (``intervals(10, 20).to_dict()``); without one a column has
        two levels, itself and ``*``.
    sensitive : tuple of str
        Columns that are published as they are.
    max_suppressed : int or float
        The rows of all parties that may be left out: their number as an int, or a share as a float.
    origin_known : bool
        Whether a class must have k rows in every part where it has any.
    two_parties_see_each_other : bool
        Whether two parties may run it, each of whom learns the other's part of every published class.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> protocol = AnonymizeTogether(
    ...     k=2, domain={"age": tuple(range(20, 40))}, hierarchies={"age": {"kind": "intervals", "widths": (10, 20)}})
    >>> run = simulate(protocol, {"north": {"age": [21, 35]}, "south": {"age": [25, 38]}, "west": {"age": [39]}})
    >>> run.outputs["north"].levels, run.outputs["north"].classes["size"]
    ({'age': 1}, [2, 3])
    >>> sorted(run.outputs["north"].release.frame["age"].to_pylist())
    ['[20, 29]', '[30, 39]']

    References
    ----------
    P. Samarati: Protecting respondents' identities in microdata release. IEEE TKDE 13(6), 2001.
    """

    name: ClassVar[str] = "anonymize"
    two_parties_reveal: ClassVar[bool] = True
    two_parties_learn: ClassVar[str] = (
        "Of two parties each learns the other's part of every published class, by subtracting its own."
    )

    k: int
    domain: Mapping[str, Any]
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    sensitive: tuple[str, ...] = ()
    max_suppressed: int | float = 0.0
    origin_known: bool = False
    two_parties_see_each_other: bool = False

    def __post_init__(self) -> None:
        require(self, "k", self.k, IntIn(1, 1 << 40))
        require(self, "max_suppressed", self.max_suppressed, *SUPPRESSIBLE)
        require_names(self, "domain", (*self.domain, *self.sensitive))
        unknown = [name for name in self.hierarchies if name not in self.domain]
        if unknown:
            raise ParameterError(f"The 'hierarchies' parameter names '{unknown[0]}', which has no domain.")
        sizes = [len(_values(values)) for values in self.domain.values()]
        if not all(sizes):
            raise ParameterError("The 'domain' parameter must have the values of every column.")
        if prod(sizes) > MAX_CELLS:
            raise ParameterError(f"The domain has more than {MAX_CELLS:,} cells; give columns fewer values.")

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond their outputs."""
        suppressed = "Every party learns which classes of the chosen generalization are suppressed."
        return (
            "Every party learns of each generalization that was tried whether it will do.",
            *((suppressed,) if self.max_suppressed else ()),
            "The first two parties together learn every party's counts of every cell.",
            f"Every party learns the sizes of the published classes, which are {self.k} or more.",
            *self.consent_leaks,
            own_rows_leak(self.k),
            several_runs_leak(self.k),
        )

    def frames(self, names: Sequence[str], *, revealed: Facts | None = None) -> Iterator[FrameShape]:
        """Return the frames of a run by the nodes that it tried, and the one it chose."""
        facts: dict[str, Any] = {"tried": [], "levels": None, **(revealed or {})}
        pair = PairFrames(names)
        yield from pair.setup()
        for node in facts["tried"]:
            n = self._n_cells(tuple(node))
            yield from self._node_frames(pair, n)
            yield from pair.chosen(n, 1) + pair.gathered(1) + pair.at_least_zero(1) + pair.opened(1)
        if facts["levels"] is not None:
            n = self._n_cells(tuple(facts["levels"]))
            yield from self._node_frames(pair, n)
            yield from pair.opened(-(-n // 8)) + pair.chosen(n, 1) + pair.opened(8 * n)

    def _run(self, party: Party, data: tuple[Columns, Codes]) -> JointAnonymization:
        columns, codes = data
        shares = PairShares(party, label="counts of cells")
        node, tried = self._search(shares, codes)
        party.reveal("tried", [list(levels) for levels in tried])
        if node is None:
            raise InfeasibleError(
                "No common generalization keeps the guarantee; agree on a larger 'max_suppressed'."
            )
        party.reveal("levels", list(node))
        with party.step("classes"):
            counts, broken, intact = self._judged(shares, codes, node)
            suppressed = shares.opened_bits(broken)
            sizes = shares.opened_words(shares.chosen(intact, counts[:, None])[:, 0]).astype(np.int64)
        return self._published(columns, codes, node, suppressed, sizes)

    def checked(self, data: Any, names: Sequence[str], name: str) -> tuple[Columns, Codes]:
        """Return the party's columns, and the leaf of every row in every quasi-identifier, from 0."""
        import pyarrow as pa

        del names, name
        listed = (*self.domain, *self.sensitive)
        columns = dict(zip(listed, own_columns(data, listed), strict=True))
        trees = self._trees.items()
        return columns, [tree.encode(pa.array(columns[key]), column=key) - 1 for key, tree in trees]

    def read_input(self, path: str | os.PathLike[str]) -> Any:
        """Read the columns from a file."""
        return read_columns(path, (*self.domain, *self.sensitive))

    def cautions(self, output: JointAnonymization) -> tuple[str, ...]:
        """Return what to consider before the own part is published."""
        return (output.caution,) if output.caution else ()

    def result_files(self, output: JointAnonymization) -> dict[str, Any]:
        """Return the party's own part as a release, the classes of all parties, and the levels."""
        summary = {
            "levels": dict(output.levels),
            "k": self.k,
            "suppressed": output.n_suppressed,
            "smallest_class_of_the_part": output.smallest,
            "caution": output.caution,
        }
        files: dict[str, Any] = {"anonymization.json": summary, "classes.csv": dict(output.classes)}
        return files if output.release is None else {**files, "part": output.release}

    @cached_property
    def _trees(self) -> dict[str, Hierarchy]:
        """The trees of the columns, bound to the public domain."""
        import pyarrow as pa

        from discreet.core.hierarchy.specs import flat, spec_from_dict

        return {
            name: (spec_from_dict(self.hierarchies[name]) if name in self.hierarchies else flat()).bind(
                pa.array(sorted(set(_values(values)))), column=name
            )
            for name, values in self.domain.items()
        }

    def _level(self, tree: Hierarchy, level: int) -> NDArray[np.int64]:
        """Return the node of every leaf at a level, from 0; below the top, node 0 is that of nulls and left out."""
        nodes = tree.levels[level][1:].astype(np.int64)
        return nodes if level == tree.height else nodes - 1

    def _cards(self, node: Node) -> tuple[int, ...]:
        levels = zip(self._trees.values(), node, strict=True)
        return tuple(int(self._level(tree, level).max()) + 1 for tree, level in levels)

    def _n_cells(self, node: Node) -> int:
        return prod(self._cards(node))

    def _cells(self, codes: Codes, node: Node) -> NDArray[np.int64]:
        """Return the cell of every row of the party at a node."""
        columns = zip(self._trees.values(), codes, node, strict=True)
        places = [self._level(tree, level)[leaves] for tree, leaves, level in columns]
        return np.ravel_multi_index(places, self._cards(node)).astype(np.int64)

    def _loss(self, node: Node) -> float:
        """Return the mean share of its column's domain that a cell covers; it follows from the domain alone."""
        levels = zip(self._trees.values(), node, strict=True)
        return float(sum(tree.losses(level)[tree.levels[level][1:]].mean() for tree, level in levels))

    def _search(self, shares: PairShares, codes: Codes) -> tuple[Node | None, list[Node]]:
        """Return the node of least height, and least loss among these, that will do, and the nodes that were tried."""
        heights: dict[int, list[Node]] = {}
        for node in product(*(range(tree.height + 1) for tree in self._trees.values())):
            heights.setdefault(sum(node), []).append(node)
        best: dict[int, Node | None] = {}
        tried: list[Node] = []

        def first(height: int) -> Node | None:
            # The order follows from the public domain alone, so what
            # was tried shows no more than whether each node will do.
            for node in sorted(heights[height], key=lambda levels: (self._loss(levels), levels)):
                tried.append(node)
                if self._will_do(shares, codes, node):
                    return node
            return None

        if self.origin_known and self.max_suppressed:
            # A small cell of one party takes the rows of others with it once it is merged with theirs, so that more
            # rows may be lost higher up: every height is tried, from the least.
            by_height = map(first, sorted(heights))
            return next((feasible for feasible in by_height if feasible is not None), None), tried
        low, high = 0, max(heights)
        while low <= high:
            middle = (low + high) // 2
            best[middle] = first(middle)
            low, high = (low, middle - 1) if best[middle] is not None else (middle + 1, high)
        # The bisection ends at the least height that will do;
        # above the top there is none, and nothing was found.
        return best.get(low), tried

    def _judged(
        self, shares: PairShares, codes: Codes, node: Node
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint8], NDArray[np.uint8]]:
        """Return shares of the counts of all cells, of whether each breaks the guarantee, and of whether it keeps it.

        Where the origin is known, a party adds the rows of its own cells that are too small apart from the others.
        """
        rows = np.bincount(self._cells(codes, node), minlength=self._n_cells(node)).astype(np.uint64)
        # A constant is subtracted at one party only, as the shares add up.
        one_row = np.uint64(shares.party.index == 0)
        if self.origin_known:
            small = (rows > 0) & (rows < self.k)
            broken = shares.at_least_zero(shares.gathered(small.astype(np.uint64)) - one_row)
            counts = shares.gathered(rows)
            occupied = shares.at_least_zero(counts - one_row)
        else:
            counts = shares.gathered(rows)
            occupied = shares.at_least_zero(counts - one_row)
            # A cell breaks the guarantee where it has a row but not k of them: the XOR of both comparisons.
            broken = occupied ^ shares.at_least_zero(counts - one_row * np.uint64(self.k))
        return counts, broken, occupied ^ broken

    def _will_do(self, shares: PairShares, codes: Codes, node: Node) -> bool:
        """Whether the cells that break the guarantee have at most the allowed rows."""
        with shares.party.step("node"):
            counts, broken, _ = self._judged(shares, codes, node)
            lost = shares.chosen(broken, counts[:, None])[:, 0].sum(dtype=np.uint64, keepdims=True)
            n_rows = shares.gathered(np.array([len(codes[0])], np.uint64))
            if isinstance(self.max_suppressed, int):
                margin = np.uint64(self.max_suppressed * (shares.party.index == 0)) - lost
            else:
                # The share as it is written (0.1, not the nearest binary number). Both sides of the
                # comparison are multiplied by its denominator, since only whole numbers can be shared.
                allowed = Fraction(repr(float(self.max_suppressed))).limit_denominator(1 << 20)
                margin = n_rows * np.uint64(allowed.numerator) - lost * np.uint64(allowed.denominator)
            return bool(shares.opened_bits(shares.at_least_zero(margin))[0])

    def _node_frames(self, pair: PairFrames, n: int) -> Iterator[FrameShape]:
        if self.origin_known:
            yield from pair.gathered(n) + pair.at_least_zero(n)
        yield from pair.gathered(n) + pair.at_least_zero(n)
        if not self.origin_known:
            yield from pair.at_least_zero(n)

    def _published(
        self,
        columns: Columns,
        codes: Codes,
        node: Node,
        suppressed: NDArray[np.bool_],
        sizes: NDArray[np.int64],
    ) -> JointAnonymization:
        """Return the classes of all parties, and the own rows that are published as a release."""
        import pyarrow as pa

        from discreet.core.schema import Schema, quasi, sensitive
        from discreet.core.tables.table import Table
        from discreet.guarantees import KAnonymity, KMap
        from discreet.publish.tables.generalization import Generalization

        levels = dict(zip(self.domain, node, strict=True))
        published = np.flatnonzero(sizes)
        places = np.unravel_index(published, self._cards(node))
        leaves, labels = {}, {}
        for (name, tree), level, cells in zip(self._trees.items(), node, places, strict=True):
            nodes = self._level(tree, level)
            # Node numbers never decrease along the leaves, so this is the first leaf below each node.
            first = np.searchsorted(nodes, cells)
            leaves[name] = tree.leaves.take(pa.array(first)).take(
                pa.array(np.repeat(np.arange(len(cells)), sizes[published]))
            )
            labels[name] = [tree.labels[level][tree.levels[level][leaf + 1]] for leaf in first]
        classes = {**labels, "size": sizes[published].tolist()}
        is_published = ~suppressed[self._cells(codes, node)]
        release = None
        if is_published.any():
            schema = Schema({name: quasi(tree) for name, tree in self._trees.items()})
            # A row for each published row of all parties, at
            # any leaf of its class: they are generalized alike.
            population = Table(pa.table(leaves), schema)
            roles = {**schema, **{name: sensitive() for name in self.sensitive}}
            rows = {name: pa.array(column[is_published]) for name, column in columns.items()}
            guarantee = KAnonymity(self.k) if self.origin_known else KMap(self.k, population)
            release = Generalization(guarantee, levels=levels).release(Table(pa.table(rows), roles))
        return JointAnonymization(self.k, levels, classes, release, int((~is_published).sum()))


def _values(domain: Any) -> Sequence[Any]:
    """Return the values of a column's public domain.

    >>> list(_values({"low": 1, "high": 3}))
    [1, 2, 3]
    """
    if not isinstance(domain, Mapping):
        return list(domain)
    ends = [domain.get("low"), domain.get("high")]
    if set(domain) != {"low", "high"} or not all(IntIn().admits(end) for end in ends):
        raise ParameterError("A domain of integers has 'low' and 'high'.")
    return range(int(domain["low"]), int(domain["high"]) + 1)
