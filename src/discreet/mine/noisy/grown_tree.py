"""A grown tree: thresholds and sets of categories, kept as arrays that rows are sent down together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from discreet.core.errors import InputError
from discreet.mine.noisy.columns import NoisyColumn
from discreet.mine.noisy.tree_growing import Node

Values = np.ndarray[Any, Any]


@dataclass(frozen=True, repr=False, eq=False)
class GrownTree:
    """Nodes as arrays: a node without a column is a leaf; others send a row left by a threshold or a set.

    Attributes
    ----------
    names, kinds
        The columns, and their categories; none for columns of numbers.
    column, threshold, left, children
        For each node the column it tests, the number below which a row goes left, whether each category (and, last, one
        that is unknown) goes left, and the two nodes that follow.
    counts
        For each node the rows of each class.
    """

    names: tuple[str, ...]
    kinds: tuple[tuple[Any, ...], ...]
    column: CodeArray
    threshold: FloatArray
    left: BoolArray
    children: IntArray
    counts: FloatArray

    @classmethod
    def of(cls, nodes: Sequence[Node], columns: Sequence[NoisyColumn]) -> GrownTree:
        """List the nodes that can be reached from the first, in order."""
        reached = _reached(nodes)
        number = {old: new for new, old in enumerate(reached)}
        most = max((len(column.categories) for column in columns), default=0)
        threshold, left = np.full(len(reached), np.nan), np.zeros((len(reached), most + 1), np.bool_)
        for new, old in enumerate(reached):
            node = nodes[old]
            if node.left is None:
                continue
            column = columns[node.column]
            if column.edges is not None:
                # The intervals that go left are the first ones, so their number is the place of the cut.
                threshold[new] = column.edges[int(node.left.sum())]
                continue
            first, second = (nodes[child].counts.sum() for child in node.children)
            left[new, : column.n_places] = node.left[: column.n_places]
            # Categories that are unknown go where more rows went.
            left[new, column.n_places :] = first >= second
        return cls(
            tuple(column.name for column in columns),
            tuple(column.categories for column in columns),
            np.array([nodes[old].column for old in reached], np.int32),
            threshold,
            left,
            np.array(
                [[number[child] for child in nodes[old].children] or [0, 0] for old in reached], np.int64
            ),
            np.array([nodes[old].counts for old in reached]),
        )

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return int((self.column < 0).sum())

    @property
    def depth(self) -> int:
        """The largest number of tests for a row."""
        depths = np.zeros(self.column.size, np.int64)
        for node in np.flatnonzero(self.column >= 0):
            depths[self.children[node]] = depths[node] + 1
        return int(depths.max())

    def leaves(self, values: Sequence[Values]) -> IntArray:
        """Send every row down the tree, all rows one level at a time; return the leaf of each."""
        tested = [self._tested(number, column) for number, column in enumerate(values)]
        at = np.zeros(values[0].size, np.int64)
        inner = np.flatnonzero(self.column[at] >= 0)
        while inner.size:
            node = at[inner]
            goes_left = np.empty(inner.size, np.bool_)
            for number in np.unique(self.column[node]):
                here = self.column[node] == number
                reports, nodes = tested[number][inner[here]], node[here]
                numbers = not self.kinds[number]
                goes_left[here] = reports < self.threshold[nodes] if numbers else self.left[nodes, reports]
            at[inner] = np.where(goes_left, self.children[node, 0], self.children[node, 1])
            inner = inner[self.column[at[inner]] >= 0]
        return at

    def _tested(self, number: int, values: Values) -> Values:
        """Return numbers as they are, and categories as their places."""
        kinds = self.kinds[number]
        if kinds:
            places = {kind: position for position, kind in enumerate(kinds)}
            unknown = self.left.shape[1] - 1
            return np.array([places.get(value, unknown) for value in values.tolist()], np.int64)
        if values.dtype.kind not in "iufb":
            raise InputError(f"Column '{self.names[number]}' must hold numbers.")
        return values

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain data, node by node; no record is in it."""
        return {
            "columns": [
                {"name": name, "categories": list(kinds)} if kinds else {"name": name}
                for name, kinds in zip(self.names, self.kinds, strict=True)
            ],
            "nodes": [self._plain(node) for node in range(self.column.size)],
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> GrownTree:
        """Read what ``to_dict`` returns."""
        kinds = tuple(tuple(column.get("categories", ())) for column in record["columns"])
        nodes = record["nodes"]
        for number, node in enumerate(nodes):
            # Children come after their parent, so that no damaged file can send a row around in a circle.
            onwards = all(number < node[side] < len(nodes) for side in ("left", "right") if "column" in node)
            if not onwards or not 0 <= node.get("column", 0) < len(kinds):
                raise InputError("The saved tree is damaged: a node leads nowhere.")
        left = np.zeros((len(nodes), max(map(len, kinds)) + 1), np.bool_)
        for number, node in enumerate(nodes):
            left[number, [kinds[node["column"]].index(kind) for kind in node.get("among", ())]] = True
            n_categories = len(kinds[node["column"]]) if "column" in node else 0
            left[number, n_categories:] = node.get("unknown", "right") == "left"
        return cls(
            tuple(column["name"] for column in record["columns"]),
            kinds,
            np.array([node.get("column", -1) for node in nodes], np.int32),
            np.array([node.get("below", np.nan) for node in nodes], np.float64),
            left,
            np.array([[node.get("left", 0), node.get("right", 0)] for node in nodes], np.int64),
            np.array([node["counts"] for node in nodes], np.float64),
        )

    def _plain(self, node: int) -> dict[str, Any]:
        counts = {"counts": [int(count) for count in self.counts[node]]}
        if self.column[node] < 0:
            return counts
        first, second = self.children[node].tolist()
        return {**self._question(node), "left": first, "right": second, **counts}

    def _question(self, node: int) -> dict[str, Any]:
        number = int(self.column[node])
        if not self.kinds[number]:
            return {"column": number, "below": float(self.threshold[node])}
        among = [kind for position, kind in enumerate(self.kinds[number]) if self.left[node, position]]
        return {"column": number, "among": among, "unknown": "left" if self.left[node, -1] else "right"}

    def describe(self, classes: Sequence[Any], *, max_depth: int | None = None) -> str:
        """Format the tree as indented lines: the tests, and the predictions."""
        lines: list[str] = []
        stack = [(0, 0, "")]
        while stack:
            node, depth, label = stack.pop()
            indent = "  " * max(depth - 1, 0)
            leaf = self.column[node] < 0
            cut = max_depth is not None and depth >= max_depth and not leaf
            prediction = self._prediction(node, classes) if leaf or cut else ""
            if label or prediction:
                lines.append(
                    f"{indent}{label}{': ' if label and prediction else ''}{prediction}{' …' if cut else ''}"
                )
            if leaf or cut:
                continue
            yes, no = self._words(node)
            first, second = self.children[node].tolist()
            stack += [(second, depth + 1, no), (first, depth + 1, yes)]
        return "\n".join(lines)

    def _words(self, node: int) -> tuple[str, str]:
        tested = self._question(node)
        name = self.names[tested["column"]]
        if "below" in tested:
            return f"{name} < {tested['below']:.6g}", f"{name} ≥ {tested['below']:.6g}"
        rest = [kind for kind in self.kinds[tested["column"]] if kind not in tested["among"]]
        return tuple(f"{name} in {{{', '.join(map(str, several))}}}" for several in (tested["among"], rest))  # type: ignore[return-value]

    def _prediction(self, node: int, classes: Sequence[Any]) -> str:
        counts = self.counts[node]
        best = int(counts.argmax())
        return f"{classes[best]} ({counts[best] / counts.sum():.1%} of {counts.sum():,.0f})"


def _reached(nodes: Sequence[Node]) -> list[int]:
    """Return the nodes that were not pruned away, parents first."""
    reached = [0]
    for node in reached:
        reached.extend(nodes[node].children)
    return reached
