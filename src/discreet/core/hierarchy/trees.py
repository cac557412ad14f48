"""Hierarchies over categories and codes: flat, masks, mappings, trees, and files in ARX's layout."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.boundary import public
from discreet.core.errors import HierarchyError
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec, build_hierarchy, domain_of
from discreet.core.params import InstanceOf, IntIn, OneOf, require
from discreet.core.tables.labels import STAR, text, texts, value_kind

_WIDEST = 4096
"""The longest code a mask is made for."""
_DELIMITERS = ";,\t|"
_NONE = InstanceOf((type(None),), "None")


@public
def flat() -> Flat:
    """Make the hierarchy of two levels: the value, and ``*``."""
    return Flat()


@public
def masked(
    char: str = STAR,
    from_: Literal["right", "left"] = "right",
    levels: int | None = None,
    *,
    width: int | None = None,
) -> Masked:
    """Make the hierarchy that masks one more character of a code per level, then shows ``*``.

    Characters are counted from ``width``, the length of a whole code; a shorter code counts as filled up on the side
    that is masked, and a longer one is refused. Without it, all codes of the table must have one length: where one is
    longer, the others would show more of themselves than they did without it. An empty text is no code. ``levels``
    masks at most that many characters before ``*``.

    >>> masked(levels=2).bind(pa.array(["02138", "02139"]), column="zip").labels[1:]
    ([None, '0213*'], [None, '021**'], ['*'])
    >>> masked(levels=2, width=5).bind(pa.array(["J45", "J45.1"]), column="icd").labels[1:]
    ([None, 'J45', 'J45.*'], [None, 'J45**'], ['*'])
    """
    character = (
        InstanceOf((str,), "one character") if isinstance(char, str) and len(char) == 1 else OneOf((STAR,))
    )
    require("masked", "char", char, character)
    require("masked", "from_", from_, OneOf(("right", "left")))
    require("masked", "levels", levels, _NONE, IntIn(1))
    require("masked", "width", width, _NONE, IntIn(1, _WIDEST))
    return Masked(char, from_, levels, width)


@public
def from_mapping(*maps: Mapping[Any, Any]) -> Rows:
    """Make a hierarchy from maps of labels to their parents.

    The first maps values to level 1, the second level 1 to level 2, and so on. The root ``*`` is added when
    the last map leaves several labels.

    >>> from_mapping({"Ulm": "Germany", "Nice": "France"}).bind(pa.array(["Ulm"]), column="town")
    Hierarchy(2 leaves, height 2, nodes per level 2, 2, 1)
    """
    require("from_mapping", "maps", maps or None, InstanceOf((tuple,), "at least one mapping"))
    for mapping in maps:
        require(
            "from_mapping", "maps", mapping, InstanceOf((Mapping,), "mappings of labels to their parents")
        )
    columns = [tuple(text(leaf) for leaf in maps[0])]
    for number, mapping in enumerate(maps):
        parents = {text(child): text(parent) for child, parent in mapping.items()}
        n_orphans = len(set(columns[-1]) - set(parents))
        if n_orphans:
            raise HierarchyError(f"from_mapping: {n_orphans} labels of level {number} have no parent.")
        columns.append(tuple(parents[label] for label in columns[-1]))
    return _rooted(columns, ordered=False)


@public
def tree(nested: Mapping[Any, Any] | Sequence[Any], *, ordered: bool = False) -> Rows:
    """Make a hierarchy from a category tree: mappings of names to what is below, and lists of leaves.

    A leaf that lies less deep than others stands for itself on the levels between. A single name at the
    top is the root, else ``*`` is. With ``ordered`` the order of the leaves means something, low to high.

    >>> tree({"school": ["primary", "secondary"], "university": None}).bind(
    ...     pa.array(["primary", "university"]), column="education").labels[1:]
    ([None, 'school', 'university'], ['*'])
    """
    require("tree", "nested", nested, _Branches())
    paths = list(_paths(nested))
    require("tree", "nested", paths or None, InstanceOf((list,), "a tree with leaves"))
    depth = max(map(len, paths))
    rows = [path[:1] * (depth - len(path)) + path for path in (path[::-1] for path in paths)]
    return _rooted(list(zip(*rows, strict=True)), ordered=ordered)


def tree_rows(columns: Sequence[Sequence[str]], ordered: bool = False) -> Rows:
    """Make a hierarchy from the labels of every leaf at each level, the leaves first and the root last."""
    texts_only = (
        isinstance(columns, Sequence)
        and len(columns) > 1
        and all(isinstance(level, list | tuple) and level for level in columns)
        and all(isinstance(label, str) for level in columns for label in level)
        and len({len(level) for level in columns}) == 1
    )
    if not texts_only:
        raise HierarchyError(
            "The rows of a hierarchy must be lists of texts, one for each level and equally long."
        )
    require("rows", "ordered", ordered, InstanceOf((bool,), "a bool"))
    return Rows(tuple(tuple(level) for level in columns), ordered)


@public
def read_hierarchy(
    path: str | Path, *, delimiter: str | None = None, encoding: str = "utf-8-sig", ordered: bool = False
) -> Rows:
    """Read a hierarchy in ARX's layout: a line ``leaf;level 1;…;*`` for each value, without header.

    The delimiter is found among ``;``, ``,``, tab and ``|`` unless given. A ``.gz`` file is unpacked.
    """
    path = Path(path)
    require("read_hierarchy", "delimiter", delimiter, _NONE, InstanceOf((str,), "one character"))
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        content = raw.decode(encoding)
    except UnicodeDecodeError:
        raise HierarchyError(
            f"The hierarchy file {path.name} is not {encoding}; pass its encoding.",
            fix={"encoding": "latin-1"},
        ) from None
    except (OSError, EOFError, LookupError) as error:
        raise HierarchyError(
            f"The hierarchy file {path.name} cannot be read ({type(error).__name__})."
        ) from None
    read = [_cells(content, mark) for mark in ([delimiter] if delimiter else _DELIMITERS)]
    rows = max(read, key=_regularity)
    if not rows:
        raise HierarchyError(f"The hierarchy file {path.name} is empty.")
    width = Counter(map(len, rows)).most_common(1)[0][0]
    n_ragged = sum(len(row) != width for row in rows)
    if n_ragged:
        raise HierarchyError(
            f"The hierarchy file {path.name} is ragged: {n_ragged} of {len(rows)} lines lack {width} cells."
        )
    if width == 1:
        raise HierarchyError(
            f"The {len(rows)} lines of the hierarchy file {path.name} have one cell, no levels."
        )
    return Rows(tuple(zip(*rows, strict=True)), ordered)


@dataclass(frozen=True)
class Flat(HierarchySpec):
    """Every value below one root; made by `flat`."""

    kind: ClassVar[str] = "flat"

    def bind(self, domain: pa.Array, *, column: str) -> Hierarchy:
        """Put the values below ``*``."""
        leaves = domain_of(domain)
        ordered = value_kind(leaves.type) in ("number", "date")
        return build_hierarchy(leaves, [[STAR] * len(leaves)], column=column, ordered=ordered)


@dataclass(frozen=True)
class Masked(HierarchySpec):
    """One more character of a code masked per level; made by `masked`."""

    kind: ClassVar[str] = "masked"

    char: str = STAR
    from_: Literal["right", "left"] = "right"
    levels: int | None = None
    width: int | None = None

    def fixed(self, domain: pa.Array) -> Masked:
        """Return the same masks for codes as long as the longest of these values."""
        longest = max(map(len, texts(domain_of(domain)).to_pylist()), default=1)
        return self if self.width is not None or longest > _WIDEST else replace(self, width=max(longest, 1))

    def bind(self, domain: pa.Array, *, column: str) -> Hierarchy:
        """Mask the codes level by level, below ``*``; codes longer than the width are refused."""
        leaves = domain_of(domain)
        codes = texts(leaves).to_pylist()
        longest = self.width or _one_length(codes, column)
        n_long = sum(len(code) > longest for code in codes)
        if n_long:
            raise HierarchyError(
                f"Column {column!r}: {n_long} codes are longer than the {longest} characters that are masked; "
                "shorten them, or make a new release with masks of that width."
            )
        most = longest - 1 if self.levels is None else min(self.levels, longest - 1)
        upper = [[self._shown(code, longest - n, n) for code in codes] for n in range(1, most + 1)]
        return build_hierarchy(leaves, [*upper, [STAR] * len(codes)], column=column, ordered=False)

    def _shown(self, code: str, n_visible: int, n_masked: int) -> str:
        if len(code) < n_visible:
            return code
        if self.from_ == "right":
            return code[:n_visible] + self.char * n_masked
        return self.char * n_masked + code[len(code) - n_visible :]


@dataclass(frozen=True, repr=False)
class Rows(HierarchySpec):
    """Every leaf with its label at each level, the root last; made by `from_mapping`, `tree` and files."""

    kind: ClassVar[str] = "rows"

    columns: tuple[tuple[str, ...], ...]
    ordered: bool = False

    def bind(self, domain: pa.Array, *, column: str) -> Hierarchy:
        """Check the tree, and that it covers the values; leaves take the type of numbers and dates."""
        values = domain_of(domain)
        leaves, upper, ordered = pa.array(self.columns[0], pa.string()), self.columns[1:], self.ordered
        typed = _typed(leaves, values.type)
        if typed is not None and not ordered:
            order = pc.array_sort_indices(typed)
            leaves = typed.take(order)
            upper = tuple(tuple(level[i] for i in order.to_pylist()) for level in upper)
            ordered = True
        hierarchy = build_hierarchy(leaves, upper, column=column, ordered=ordered)
        return hierarchy.bind(values, column=column)

    def __repr__(self) -> str:
        return f"Rows({len(self.columns[0])} leaves, {len(self.columns)} levels)"


def _one_length(codes: Sequence[str], column: str) -> int:
    """Return the length that all codes have; several are refused, since the longest code uncovers the others."""
    lengths = {len(code) for code in codes if code}
    if len(lengths) > 1:
        raise HierarchyError(
            f"Column {column!r}: its codes have {len(lengths)} lengths, from {min(lengths)} to {max(lengths)} "
            "characters. Masks count from the length of a whole code, so that one long code uncovers the others: give "
            f"the masks a width (on the command line mask:{max(lengths)}), or mend the codes that are not whole."
        )
    return max(lengths, default=1)


class _Branches:
    """A mapping or a list, not a text."""

    def admits(self, value: object) -> bool:
        return isinstance(value, Mapping | Sequence) and not isinstance(value, str)

    def __str__(self) -> str:
        return "a mapping or a list"


def _paths(nested: Mapping[Any, Any] | Sequence[Any]) -> Iterator[tuple[str, ...]]:
    """Return the names from the top down to each leaf."""
    for name in nested:
        below = nested[name] if isinstance(nested, Mapping) else None
        if isinstance(name, Mapping):
            yield from _paths(name)
        elif below is None or (_Branches().admits(below) and not below):
            yield (text(name),)
        else:
            require("tree", "nested", below, _Branches())
            yield from ((text(name), *path) for path in _paths(below))


def _rooted(columns: list[tuple[str, ...]], *, ordered: bool) -> Rows:
    if len(columns) == 1 or len(set(columns[-1])) > 1:
        columns = [*columns, (STAR,) * len(columns[0])]
    return Rows(tuple(columns), ordered)


def _cells(content: str, delimiter: str) -> list[list[str]]:
    """Split a file into cells; blank lines are left out."""
    try:
        return [row for row in csv.reader(io.StringIO(content, newline=""), delimiter=delimiter) if row]
    except csv.Error:
        return []


def _regularity(rows: list[list[str]]) -> tuple[bool, bool, int]:
    """Rank a way of splitting: all lines alike, one root, many levels."""
    widths = {len(row) for row in rows}
    regular = len(widths) == 1 and max(widths) > 1
    return regular, regular and len({row[-1] for row in rows}) == 1, max(widths, default=0)


def _typed(leaves: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """Bring the leaves to a column's type of numbers or dates; None where one is written another way."""
    if value_kind(kind) not in ("number", "date"):
        return None
    if pa.types.is_integer(kind):
        kind = pa.int64()
    try:
        typed = leaves.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    # Only if every leaf is written as its number or date would be: 007 is not 7.
    return typed if texts(typed).equals(leaves) else None
