"""Applying a recipe: new rows go to the cells published before; what does not fit is coarsened or left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray, CodeArray
from discreet.core.errors import InfeasibleError, InputError, SchemaError
from discreet.core.hierarchy.bound import Hierarchy, type_named
from discreet.core.params import InstanceOf, OneOf, require
from discreet.core.release import Cells, Release
from discreet.core.rng import RandomState, secret_seed
from discreet.core.tables import labels
from discreet.core.tables.encoding import Codebook, ColumnType, overall
from discreet.core.tables.groups import Groups
from discreet.core.tables.label_coverage import LabelCover, described_values, label_costs
from discreet.core.tables.source import Replacement
from discreet.core.tables.table import Table
from discreet.guarantees import Guarantee
from discreet.guarantees.per_unit import fitted
from discreet.measure.tables.risk import refuse_singling_out
from discreet.publish.recipes.recipe_parts import TOP, RecipeParts, group_labels, height_of
from discreet.publish.recipes.union import ReleasedRows, failing_classes
from discreet.publish.tables.minimality import MINIMALITY
from discreet.publish.tables.publisher import SUPPRESSIBLE, Plan, allowed_rows, kept_groups, refuse_too_many

if TYPE_CHECKING:
    from discreet.publish.recipes.recipe import Recipe


@dataclass(frozen=True, repr=False)
class Cell:
    """What is published for each group in one column, and the text of what it covers."""

    shown: Replacement
    covering: Replacement


@dataclass(frozen=True, repr=False)
class Assigned:
    """The group of each distinct tuple of new rows (-1: none), and the cells of each group by column."""

    group: CodeArray
    cells: Mapping[str, Cell]

    def without(self, left: BoolArray) -> Assigned:
        """Return the same with some tuples in no group."""
        return Assigned(np.where(left, -1, self.group).astype(np.int32), self.cells)

    def joined(self, more: Assigned) -> Assigned:
        """Add the groups that took in tuples which had none."""
        first = next(iter(self.cells.values())).shown.index.size
        group = np.where(more.group >= 0, more.group + first, self.group).astype(np.int32)
        cells = {
            name: Cell(
                _stacked(cell.shown, more.cells[name].shown),
                _stacked(cell.covering, more.cells[name].covering),
            )
            for name, cell in self.cells.items()
        }
        return Assigned(group, cells)

    def texts(self) -> list[tuple[str | None, ...]]:
        """Return the published cells of each group, as text."""
        columns = []
        for cell in self.cells.values():
            written = labels.texts(cell.shown.labels).to_pylist()
            columns.append([written[at] for at in cell.shown.index])
        return list(zip(*columns, strict=True))


class Application:
    """One use of a recipe: the new rows, the guarantee, and what happens to misfits."""

    def __init__(
        self,
        recipe: Recipe,
        table: Table,
        guarantee: Guarantee,
        max_suppressed: int | float,
        misfits: Literal["coarsen", "suppress"],
        random_state: RandomState,
    ) -> None:
        require(recipe, "max_suppressed", max_suppressed, *SUPPRESSIBLE)
        require(recipe, "misfits", misfits, OneOf(("coarsen", "suppress")))
        self.recipe, self.table, self.guarantee = recipe, table, fitted(guarantee, table)
        self.max_suppressed, self.misfits, self.random_state = max_suppressed, misfits, random_state
        self.decided_by_values = False

    def release(self) -> Release:
        """Protect the new rows alone."""
        refuse_singling_out(self.table)
        if "levels" in self.recipe.data and not self._cut():
            return self._leveled()
        assigned = self._at_levels() if "levels" in self.recipe.data else self._housed()
        return self._published(self._settled(assigned, ~self._fits(assigned)))

    def together(self, released: Any, joined_known: bool) -> Release:
        """Protect the new rows, and release them with the old ones."""
        require(self.recipe, "joined_known", joined_known, InstanceOf((bool,), "a bool"))
        if self.guarantee.needs_original:
            raise SchemaError(
                f"{self.guarantee!r} compares with the original, which is gone for the released rows: release all rows "
                "anew instead, or the new rows alone."
            )
        if self.table.units is not None:
            raise SchemaError(
                f"The recipe counts by '{self.table.units.column}', and nobody can see whose the released rows are: "
                "release all rows anew instead, or the new rows alone."
            )
        assigned = self._at_levels() if "levels" in self.recipe.data else self._housed()
        left = ~self._fits(assigned) if joined_known else assigned.group < 0
        before = ReleasedRows(self.table, released)
        # Each turn takes tuples out of groups that fail, and puts none back: there is an end.
        while True:
            settled = self._settled(assigned, left) if joined_known else assigned.without(left)
            # Misfits may hide among the released rows as well, so that they are judged with these below.
            if not joined_known and left.any():
                settled = self._settled(assigned, left, judged=False)
            release = before.joined(self._published(settled), self.random_state)
            failing = failing_classes(release, self.guarantee)
            if not failing:
                refuse_singling_out(release)
                return release
            # The last entry is for tuples in no group, whose number is -1.
            bad = np.array([text in failing for text in settled.texts()] + [False], np.bool_)
            if not (bad[settled.group] & ~left).any():
                raise InfeasibleError(
                    f"The old and the new rows together do not keep {self.guarantee}: {len(failing)} of their classes "
                    "break it. Release all rows anew instead."
                )
            left = left | bad[settled.group]

    def in_order(self) -> Any:
        """Return the new rows at the cells published before, in their own order; what no cell holds becomes ``*``.

        Nothing is left out or coarsened, so that nothing is guaranteed about these rows.
        """
        assigned = self._at_levels() if "levels" in self.recipe.data else self._housed()
        by_piece = {}
        for name, cell in assigned.cells.items():
            cells = cell.shown.labels
            star = pa.array([labels.STAR if pa.types.is_string(cells.type) else None], cells.type)
            index = np.where(assigned.group >= 0, cell.shown.index[assigned.group], len(cells))
            by_piece[name] = Replacement(index.astype(np.int32), pa.concat_arrays([cells, star]))
        return self.table.recode(self.table.recoding(by_piece=by_piece, seed=None))

    def _leveled(self) -> Release:
        """Generalize whole columns to the recipe's levels, raised as far as the guarantee needs."""
        from discreet.publish.tables.generalization import Generalization
        from discreet.publish.tables.optimal_lattice import OptimalLattice

        common: dict[str, Any] = {"max_suppressed": self.max_suppressed, "random_state": self.random_state}
        levels = self._levels()
        try:
            return Generalization(self.guarantee, levels=levels, **common).release(self.table)
        except InfeasibleError:
            if self.misfits == "suppress":
                raise
        return OptimalLattice(self.guarantee, lowest=levels, **common).release(self.table)

    def _cut(self) -> dict[str, Mapping[str, Any]]:
        """Return the labels by level of the columns whose values stand at several."""
        levels = {**self.recipe.data["levels"], **self.recipe.private.get("levels", {})}
        return {name: level for name, level in levels.items() if isinstance(level, Mapping)}

    def _levels(self) -> dict[str, int]:
        """Return the recipe's levels by their numbers in the hierarchies of the new rows."""
        levels = self.recipe.data["levels"]
        return {
            name: height_of(name, self.table) if level == TOP else level
            for name, level in levels.items()
            if not isinstance(level, Mapping)
        }

    def _at_levels(self) -> Assigned:
        """Assign every tuple to its class at the recipe's levels; a value that a cut leaves out has no group."""
        from discreet.kernels.tables.grouping import distinct, pack
        from discreet.publish.lattice.lattice import Lattice

        lattice, cut = Lattice(self.table, lowest=self._levels()), self._cut()
        nodes, written = {}, {}
        for name, tree, level in zip(lattice.names, lattice.trees, lattice.bottom, strict=True):
            nodes[name], written[name] = (
                _cut_nodes(name, tree, cut[name]) if name in cut else (tree.levels[level], tree.labels[level])
            )
        shown = [nodes[name][self.table.codes(name)] for name in lattice.names]
        cards = [len(written[name]) + 1 for name in lattice.names]
        first, group, _ = distinct(pack([index + 1 for index in shown], cards))
        left = np.any([index < 0 for index in shown], axis=0)
        cells = {}
        for name, level, index in zip(lattice.names, lattice.bottom, shown, strict=True):
            text = Replacement(index[first].astype(np.int32), pa.array(written[name], pa.string()))
            values = self.table.encoded[name].values
            exact = pa.concat_arrays([pa.nulls(1, values.type), values])
            cells[name] = Cell(text if level or name in cut else Replacement(text.index, exact), text)
        return Assigned(np.where(left, -1, group).astype(np.int32), cells)

    def _housed(self) -> Assigned:
        """Assign every tuple to the group that would have taken it, or to the smallest published cell that holds it."""
        private = self.recipe.private
        if "boxes" in private:
            boxes, cells = private["boxes"], private["cells"]
        else:
            quasi = self.table.schema.quasi
            self.recipe.require_private(quasi[0], ["boxes"], {"boxes": self.recipe.data.get("cells")})
            boxes = cells = self.recipe.data["cells"]
        # With boxes a tuple goes to the group that would have taken it; public cells may overlap, and the
        # smallest comes first.
        order = np.arange(group_labels(next(iter(cells.values()))).size)
        if "boxes" not in private:
            order = np.argsort(self._widths(cells), kind="stable")
        group = self._first_box(boxes, order)
        published = {name: _cell(cells[name], boxes[name], name) for name in self.table.schema.quasi}
        # No match (-1) reads the entry behind the last.
        return Assigned(np.append(order, -1)[group].astype(np.int32), published)

    def _widths(self, cells: Mapping[str, Mapping[str, Any]]) -> Any:
        """Return how much of the new rows' domain each cell takes in, over all columns."""
        total: Any = 0.0
        for name in self.table.schema.quasi:
            book, code = _label_book(cells[name]["labels"], name)
            values = self.table.encoded[name]
            share = described_values(book, values).sum(axis=1) / values.n_codes
            total = total + share[code[group_labels(cells[name])]]
        return total

    def _first_box(self, boxes: Mapping[str, Mapping[str, Any]], order: Any) -> CodeArray:
        from discreet.kernels.tables.matching import first_match

        admitted: list[BoolArray] = []
        for name in self.table.schema.quasi:
            box, values = boxes[name], self.table.encoded[name]
            covered = _by_branch(box, values) if "branches" in box else _by_label(box, values)
            admitted.append(covered[group_labels(box)[order]].T)
        codes = np.stack([self.table.codes(name) for name in self.table.schema.quasi], axis=1).astype(
            np.int32
        )
        return first_match(codes, admitted)

    def _fits(self, assigned: Assigned) -> BoolArray:
        """Return which tuples are in a group that keeps the guarantee."""
        housed = assigned.group >= 0
        fits = housed.copy()
        if housed.any():
            groups, numbers = self._groups(assigned, housed)
            fits[housed] = kept_groups(self.guarantee, groups)[numbers]
        return fits

    def _groups(self, assigned: Assigned, housed: BoolArray) -> tuple[Groups, CodeArray]:
        """Return the groups of the tuples that have one, and the number of each tuple's."""
        present, numbers = np.unique(assigned.group[housed], return_inverse=True)
        counts = self.table.tuples.counts[housed]
        sensitive = {
            name: (codes[housed], overall(codes[housed], counts, n_codes.size), tree)
            for name, (codes, n_codes, tree) in self.table.sensitive_codes().items()
        }
        codes, books = _covering(assigned, present)
        group_of = numbers.astype(np.int32)
        cover = LabelCover(codes, books)
        return Groups.of(group_of, counts, present.size, sensitive, cover=cover), group_of

    def _settled(self, assigned: Assigned, left: BoolArray, *, judged: bool = True) -> Assigned:
        """Coarsen the tuples that do not fit, or leave them out; where few are left, groups that fit join them."""
        counts, n_rows = self.table.tuples.counts, self.table.n_rows
        limit = allowed_rows(self.max_suppressed, n_rows)
        at_once = 1
        if left.any() and self.guarantee.judged_values(self.table.schema.sensitive):
            self.decided_by_values = True
        while left.any():
            if self.misfits == "coarsen":
                settled = self._coarsened(assigned, left)
                if settled is not None and (not judged or bool(self._fits(settled).all())):
                    return settled
            n_left = int(counts[left].sum())
            without = assigned.without(left)
            if self.misfits == "suppress" or (n_left <= limit and bool(self._fits(without)[~left].all())):
                refuse_too_many(self.guarantee, n_left, n_rows, self.max_suppressed)
                return without
            if left.all():
                refuse_too_many(self.guarantee, n_rows, n_rows, self.max_suppressed)
            # In numbers that double, so that rows are divided anew only a few times.
            left = left | self._smallest(assigned, left, at_once)
            at_once *= 2
        return assigned

    def _smallest(self, assigned: Assigned, left: BoolArray, n: int) -> BoolArray:
        """Find the tuples of the smallest groups that still stand."""
        sizes = np.bincount(assigned.group[~left], weights=self.table.tuples.counts[~left])
        standing = np.flatnonzero(sizes)
        chosen = standing[np.argsort(sizes[standing], kind="stable")[:n]]
        return np.asarray(~left & np.isin(assigned.group, chosen))

    def _coarsened(self, assigned: Assigned, left: BoolArray) -> Assigned | None:
        """Divide the tuples that do not fit into groups of their own; None where none keeps the guarantee."""
        from discreet.publish.tables.mondrian import Mondrian

        # Means are private altogether, so that a recipe of means has no public cells.
        means = not {"cells", "levels"} & self.recipe.data.keys()
        divider = Mondrian(self.guarantee, summary="mean" if means else "box")
        try:
            group, labels_, covering = divider.divide(self.table.part(left))
        except InfeasibleError:
            return None
        group_of = np.full(left.size, -1, np.int32)
        group_of[left] = group
        cells = {name: Cell(labels_[name], covering[name]) for name in assigned.cells}
        return assigned.without(left).joined(Assigned(group_of, cells))

    def _published(self, assigned: Assigned) -> Release:
        safe = {"spreadsheet_safe": True} if self.table.spreadsheet_safe else {}
        recipe = RecipeParts(self.recipe.data | safe, self.recipe.private)
        seed = secret_seed(self.random_state, owner=self.recipe)
        return self._plan(assigned).release(self.table, self.guarantee, recipe, seed)

    def _is_exact(self, name: str, cell: Cell, group: CodeArray) -> bool:
        """Return whether every published cell of a column is the row's own value, so that it may stay as it was."""
        values = [None, *labels.texts(self.table.encoded[name].values).to_pylist()]
        cells = cell.shown.labels.to_pylist()
        inside = group >= 0
        pairs = np.unique(
            np.stack([self.table.codes(name)[inside], cell.shown.index[group[inside]]], axis=1), axis=0
        )
        return all(values[code] == cells[number] for code, number in pairs.tolist())

    def _plan(self, assigned: Assigned) -> Plan:
        dropped = assigned.group < 0
        present, numbers = np.unique(assigned.group[~dropped], return_inverse=True)
        counts = self.table.tuples.counts
        cells: dict[str, Cells] = {}
        codes, books = _covering(assigned, present)
        for column, book in enumerate(books):
            used, index = np.unique(codes[:, column], return_inverse=True)
            values = self.table.encoded[book.name]
            loss, covered = label_costs(book, values, self.table.overall(book.name), used=used)
            cells[book.name] = Cells(index.astype(np.int32), loss, covered)
        return Plan(
            np.bincount(numbers, weights=counts[~dropped]).astype(np.int64),
            cells,
            by_piece={
                name: Replacement(cell.shown.index[assigned.group], cell.shown.labels)
                for name, cell in assigned.cells.items()
                if not self._is_exact(name, cell, assigned.group)
            },
            dropped=dropped,
            suppressed=int(counts[dropped].sum()),
            details={MINIMALITY: self.decided_by_values},
        )


def _covering(assigned: Assigned, groups: CodeArray) -> tuple[CodeArray, tuple[Codebook, ...]]:
    """Return the label codes of some groups in each column, and the columns' labels."""
    columns, books = [], []
    for name, cell in assigned.cells.items():
        book, code = _label_book(cell.covering.labels.to_pylist(), name)
        columns.append(code[cell.covering.index[groups]])
        books.append(book)
    return np.stack(columns, axis=1).astype(np.int32), tuple(books)


def _cell(cell: Mapping[str, Any], box: Mapping[str, Any], name: str) -> Cell:
    try:
        labels_ = pa.array(cell["labels"], pa.string()).cast(type_named(cell["type"]))
    except (pa.ArrowException, ValueError, KeyError):
        raise InputError(
            f"The recipe is damaged: the cells of '{name}' are not of the type it says."
        ) from None
    covering = cell if "branches" in box else box
    written = pa.array(covering["labels"], pa.string())
    return Cell(Replacement(group_labels(cell), labels_), Replacement(group_labels(covering), written))


def _cut_nodes(name: str, tree: Hierarchy, cut: Mapping[str, Any]) -> tuple[CodeArray, list[str | None]]:
    """Return the number of each code's label in a cut (-1: none), and the labels; null has its own."""
    number = np.full(tree.levels[0].size, -1, np.int32)
    number[0] = 0
    written: list[str | None] = [None]
    for level in sorted(map(int, cut)):
        if level > tree.height:
            raise InputError(f"The recipe gives '{name}' a level that its hierarchy does not have.")
        wanted = {label: len(written) + at for at, label in enumerate(cut[str(level)])}
        written += cut[str(level)]
        numbers = np.array([wanted.get(label or "", -1) for label in tree.labels[level]], np.int32)
        # The finest level at which a code has a published label is its own.
        number = np.where(number < 0, numbers[tree.levels[level]], number)
    return number, written


def _stacked(part: Replacement, more: Replacement) -> Replacement:
    """Put the cells of more groups behind those of others; as text where the types differ."""
    first, then = part.labels, more.labels
    if first.type != then.type:
        first, then = labels.texts(first), labels.texts(then)
    return Replacement(
        np.concatenate([part.index, more.index + len(first)]).astype(np.int32),
        pa.concat_arrays([first, then]),
    )


def _label_book(written: list[str | None], name: str) -> tuple[Codebook, CodeArray]:
    """Return labels as a code book, null first and each once, and the code of each label."""
    distinct = list(dict.fromkeys(label for label in written if label is not None))
    codes: dict[str | None, int] = {label: code for code, label in enumerate(distinct, start=1)}
    book = Codebook(name, ColumnType.CATEGORY, pa.string(), pa.array(distinct, pa.string()))
    return book, np.array([codes.get(label, 0) for label in written], np.int32)


def _by_label(box: Mapping[str, Any], values: Codebook) -> BoolArray:
    """Return which values each label takes in."""
    book, code = _label_book(box["labels"], values.name)
    return described_values(book, values)[code]


def _by_branch(box: Mapping[str, Any], values: Codebook) -> BoolArray:
    """Return which values each list of branches takes in."""
    tree = values.hierarchy
    if tree is None:
        raise InputError(f"The recipe has branches of a tree for '{values.name}', but no tree.")
    covered = np.zeros((len(box["branches"]), values.n_codes), np.bool_)
    for number, names in enumerate(box["branches"]):
        branches = set(names)
        # Branches lie below the root, which would take in every value; a tree of one level is its own branch.
        for level, labeled in zip(tree.levels[: tree.height] or tree.levels, tree.labels, strict=False):
            covered[number] |= np.array([label in branches for label in labeled], np.bool_)[level]
    return covered
