"""Hierarchy: a generalization tree bound to the values of one column, as code arrays."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.arrays import CodeArray, FloatArray, IntArray
from discreet.core.boundary import public, reads
from discreet.core.errors import HierarchyError, InputError
from discreet.core.tables import labels as written
from discreet.kernels.ragged import bounds


@public
@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """A generalization tree over a column's values.

    Code 0 is null, code ``i + 1`` is ``leaves[i]``. Leaves are arranged so that every node covers a
    contiguous run of codes. Below the top, node 0 is null's own; at the top everything, null included,
    is node 0.

    Attributes
    ----------
    leaves : pyarrow.Array
        The leaf values in leaf order, also those the data does not show.
    levels : tuple of int32 arrays
        ``levels[l][code]`` is the node of a code at level ``l``; node numbers never decrease along the codes.
    labels : tuple of lists
        ``labels[l][node]`` is what a released cell shows; None for null's node.
    ordered : bool
        Whether the order of the leaves means something, as with numbers, dates and ordered trees.
    """

    leaves: pa.Array
    levels: tuple[CodeArray, ...]
    labels: tuple[list[str | None], ...]
    ordered: bool = False

    @property
    def height(self) -> int:
        """The number of the top level."""
        return len(self.levels) - 1

    @property
    def n_leaves(self) -> int:
        """The number of leaves, null not counted."""
        return len(self.leaves)

    @staticmethod
    def read(path: str | Path, *, delimiter: str | None = None) -> HierarchySpec:
        """Read a tree from a file in ARX's layout (leaf;level 1;…;root), to be bound to a column."""
        from discreet.core.hierarchy.trees import read_hierarchy

        return read_hierarchy(path, delimiter=delimiter)

    def leaves_under(self, level: int) -> IntArray:
        """Count the leaves of each node of a level: null's node has 1, the top all but null."""
        counts = np.bincount(self.levels[level][1:], minlength=len(self.labels[level])).astype(np.int64)
        if level < self.height:
            counts[0] = 1
        return counts

    def losses(self, level: int) -> FloatArray:
        """Return the generalized loss of each node of a level: (leaves under it - 1) / (leaves - 1)."""
        return np.maximum(self.leaves_under(level) - 1, 0) / max(self.n_leaves - 1, 1)

    def encode(self, values: pa.Array | pa.ChunkedArray, *, column: str = "") -> CodeArray:
        """Return each value its leaf code; null and NaN are 0, a value that is no leaf is an error.

        Numbers and dates find leaves of another type, or of text, by their canonical text.
        """
        chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
        chunks = [_without_dictionary_nulls(chunk) for chunk in chunks]
        codes = [self._codes(chunk) for chunk in chunks]
        encoded = np.concatenate(codes) if codes else np.zeros(0, np.int32)
        n_null = sum(int(pc.sum(chunk.is_null(nan_is_null=True)).as_py() or 0) for chunk in chunks)
        n_missing = encoded.size - int(np.count_nonzero(encoded)) - n_null
        if n_missing:
            raise HierarchyError(
                f"{_named(column)}: {n_missing} of {encoded.size} values are not among the "
                f"{self.n_leaves} leaves of the hierarchy."
            )
        return encoded

    def bind(self, domain: pa.Array, *, column: str) -> Hierarchy:
        """Stand in for a specification: check that every value of the domain is a leaf."""
        self.encode(domain, column=column)
        return self

    def lowest_common(self, low: CodeArray, high: CodeArray) -> tuple[CodeArray, CodeArray]:
        """Find the lowest level, and the node there, at which two codes meet.

        As nodes are contiguous runs, that is also where all codes between the two meet.
        """
        level = np.full(len(low), self.height, dtype=np.int32)
        node = np.zeros(len(low), dtype=np.int32)
        # From the top down, so that the last level at which the two agree is the lowest.
        for number in range(self.height - 1, -1, -1):
            nodes = self.levels[number][low]
            same = nodes == self.levels[number][high]
            level[same] = number
            node[same] = nodes[same]
        return level, node

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data from which ``from_dict`` rebuilds the hierarchy."""
        return {
            "type": str(self.leaves.type),
            "leaves": written.texts(self.leaves).to_pylist(),
            "levels": [level.tolist() for level in self.levels[1:]],
            "labels": [list(level) for level in self.labels[1:]],
            "ordered": self.ordered,
        }

    @classmethod
    @reads("The hierarchy")
    def from_dict(cls, data: Mapping[str, Any]) -> Hierarchy:
        """Rebuild a hierarchy from what ``to_dict`` gave."""
        leaves = pa.array(data["leaves"], pa.string()).cast(type_named(data["type"]))
        codes = np.arange(len(leaves) + 1, dtype=np.int32)
        levels = (codes, *(np.asarray(level, dtype=np.int32) for level in data["levels"]))
        labels = ([None, *data["leaves"]], *(list(level) for level in data["labels"]))
        fits = len(levels) == len(labels) > 1 and len(labels[-1]) == 1 and isinstance(data["ordered"], bool)
        for level, names in zip(levels, labels, strict=False):
            steps = np.diff(level)
            fits = fits and level.shape == codes.shape and level[0] == 0 and level[-1] < len(names)
            fits = fits and bool(((steps == 0) | (steps == 1)).all())
            fits = fits and all(name is None or isinstance(name, str) for name in names)
        if not fits:
            raise HierarchyError("The hierarchy is damaged: its levels do not fit its leaves.")
        return cls(leaves, levels, labels, data["ordered"])

    def _codes(self, values: pa.Array) -> CodeArray:
        """Return each value its leaf code, 0 where there is none."""
        if pa.types.is_dictionary(values.type):
            return _codes_at(self._codes(values.dictionary), values.indices)
        leaves, kind = self.leaves, values.type
        if kind != leaves.type:
            if written.value_kind(kind) == written.value_kind(leaves.type) == "text":
                leaves = leaves.cast(kind)
            elif (cast := safely_cast(values, leaves.type)) is not None:
                values = cast
            else:
                if written.value_kind(kind) == "text":
                    return self._matched(values.cast(pa.string()))
                encoded = values.dictionary_encode()
                return _codes_at(self._matched(written.texts(encoded.dictionary)), encoded.indices)
        # Adding 0 turns -0.0 into 0.0, which the leaves hold.
        if pa.types.is_floating(values.type):
            values = pc.add(values, pa.scalar(0, values.type))
        return _plus_one(pc.index_in(values, value_set=leaves))

    def _matched(self, texts: pa.Array) -> CodeArray:
        return _plus_one(pc.index_in(texts, value_set=written.texts(self.leaves)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy):
            return NotImplemented
        return (
            self.leaves.equals(other.leaves)
            and self.labels == other.labels
            and self.ordered == other.ordered
            and all(map(np.array_equal, self.levels, other.levels))
        )

    def __hash__(self) -> int:
        return hash((self.n_leaves, self.height, self.ordered))

    def __repr__(self) -> str:
        sizes = ", ".join(str(len(level) - 1) for level in self.labels[:-1])
        return f"Hierarchy({self.n_leaves} leaves, height {self.height}, nodes per level {sizes}, 1)"


@dataclass(frozen=True)
class HierarchySpec(ABC):
    """How to build a hierarchy: it binds to this month's values, and to next month's."""

    kind: ClassVar[str]

    @abstractmethod
    def bind(self, domain: pa.Array, *, column: str) -> Hierarchy:
        """Build the hierarchy over the distinct values of a column."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data from which ``spec_from_dict`` rebuilds the specification."""
        return {"kind": self.kind} | {
            field.name: _listed(getattr(self, field.name)) for field in fields(self)
        }


def domain_of(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return the distinct values in ascending order, without null and NaN, dictionaries decoded."""
    distinct = values.unique()
    if isinstance(distinct, pa.DictionaryArray):
        distinct = distinct.dictionary_decode()
    if written.value_kind(distinct.type) == "text":
        distinct = distinct.cast(pa.string())
    if pa.types.is_floating(distinct.type):
        distinct = pc.add(distinct, pa.scalar(0, distinct.type)).unique()
    distinct = distinct.filter(pc.invert(distinct.is_null(nan_is_null=True)))
    return distinct.take(pc.array_sort_indices(distinct))


def build_hierarchy(
    leaves: pa.Array, upper: Sequence[Sequence[str]], *, column: str, ordered: bool
) -> Hierarchy:
    """Build a hierarchy from its leaves and, for each level above them, the label of every leaf.

    Checks that no leaf appears twice, that each level coarsens the one below and that there is one root.
    Leaves keep their order as far as contiguous nodes allow; ``ordered`` is lost where they do not.
    """
    n_twice = len(leaves) - len(leaves.unique())
    if n_twice:
        raise HierarchyError(f"{_named(column)}: {n_twice} leaves of the hierarchy appear more than once.")
    encoded = [pa.array(level, pa.string()).dictionary_encode() for level in upper]
    nodes = [np.asarray(level.indices).astype(np.int64) for level in encoded]
    _check_coarsening(nodes, column)
    n_roots = len(encoded[-1].dictionary)
    if len(leaves) and n_roots != 1:
        raise HierarchyError(
            f"{_named(column)}: the hierarchy has {n_roots} roots at its top level {len(upper)}, not one."
        )
    codes = np.arange(len(leaves) + 1, dtype=np.int32)
    # By the top level first, then level by level down to the place of a leaf: every node becomes a run.
    order = np.lexsort([codes[:-1].astype(np.int64), *nodes])
    ordered = ordered and bool(np.array_equal(order, codes[:-1]))
    leaves = leaves.take(pa.array(order))
    levels, labels = [codes], [[None, *written.texts(leaves).to_pylist()]]
    for level, node in zip(encoded[:-1], nodes[:-1], strict=True):
        along = node[order]
        starts = np.concatenate([np.ones(min(len(along), 1), np.bool_), along[1:] != along[:-1]])
        levels.append(bounds(starts).astype(np.int32))
        labels.append([None, *level.dictionary.take(pa.array(along[starts])).to_pylist()])
    levels.append(np.zeros_like(codes))
    labels.append([upper[-1][0] if len(leaves) else written.STAR])
    return Hierarchy(leaves, tuple(levels), tuple(labels), ordered)


def _check_coarsening(nodes: Sequence[IntArray], column: str) -> None:
    for number, (below, above) in enumerate(pairwise(nodes), start=1):
        n_above = int(above.max(initial=0)) + 1
        # A node with two parents is in two different pairs.
        pairs = np.unique(below * n_above + above) // n_above
        n_torn = int(np.count_nonzero(np.bincount(pairs) > 1))
        if n_torn:
            raise HierarchyError(
                f"{_named(column)}: level {number + 1} of the hierarchy does not coarsen level {number}: "
                f"{n_torn} nodes of level {number} have more than one parent."
            )


def _listed(value: object) -> object:
    return [_listed(item) for item in value] if isinstance(value, tuple) else value


def _named(column: str) -> str:
    return f"Column {column!r}" if column and isinstance(column, str) else "The column"


def _without_dictionary_nulls(values: pa.Array) -> pa.Array:
    """Decode a dictionary that may hold nulls of its own."""
    if isinstance(values, pa.DictionaryArray) and pc.any(values.dictionary.is_null(nan_is_null=True)).as_py():
        return values.dictionary_decode()
    return values


def _plus_one(index: pa.Array) -> CodeArray:
    return np.asarray(pc.add(index, pa.scalar(1, pa.int32())).fill_null(0)).astype(np.int32, copy=False)


def _codes_at(codes: CodeArray, indices: pa.Array) -> CodeArray:
    """Take codes by index, 0 where the index is null."""
    shifted = np.concatenate([np.zeros(1, np.int32), codes])
    at: IntArray = np.asarray(pc.add(indices.cast(pa.int64()), 1).fill_null(0))
    return shifted[at]


def safely_cast(values: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """Cast numbers to another number type, dates to another date type; None where that loses anything."""
    families = written.value_kind(values.type), written.value_kind(kind)
    if families not in (("number", "number"), ("date", "date")):
        return None
    try:
        # Arrow refuses a decimal that could not hold every number of the type; by way of a wide one the
        # values decide.
        if pa.types.is_decimal(kind) and pa.types.is_integer(values.type):
            values = values.cast(pa.decimal256(76, kind.scale))
        converted = values.cast(kind)
        # Two decimals that become one float are lost.
        rounds = pa.types.is_decimal(values.type) and pa.types.is_floating(kind)
        return None if rounds and len(pc.unique(converted)) < len(pc.unique(values)) else converted
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def type_named(name: str) -> pa.DataType:
    """Read back the name of an Arrow type; a name that no type has is refused."""
    try:
        return _type_named(name)
    except (KeyError, ValueError, OverflowError):
        raise InputError("A column has a type that is not known here; the recipe is damaged.") from None


def _type_named(name: str) -> pa.DataType:
    if match := re.fullmatch(r"timestamp\[(\w+)(?:, tz=(.+))?\]", name):
        return pa.timestamp(match[1], tz=match[2])
    if match := re.fullmatch(r"decimal(\d+)\((\d+), (-?\d+)\)", name):
        make = {"32": pa.decimal32, "64": pa.decimal64, "128": pa.decimal128, "256": pa.decimal256}[match[1]]
        return make(int(match[2]), int(match[3]))
    if match := re.fullmatch(r"(\w+)\[(day|ms)\]", name):
        return pa.date32() if match[2] == "day" else pa.date64()
    return {"float": pa.float32(), "double": pa.float64(), "halffloat": pa.float16(), "null": pa.null()}.get(
        name
    ) or pa.type_for_alias(name)
