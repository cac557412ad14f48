"""Cautions: what a careful data officer would say about a release although its guarantee holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.fingerprints import fingerprints
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.boundary import public
from discreet.core.release import Release
from discreet.core.schema import Role
from discreet.core.tables.encoding import Codebook
from discreet.core.tables.labels import STAR, texts
from discreet.core.tables.spreadsheet import formula_cells

DOMINATED = 0.9
"""The share of one sensitive value above which it dominates a class."""
CONSTANT = 0.99
"""The share of one released cell above which a column says next to nothing."""
UNIQUE = 0.5
"""The share of rows with a value of their own above which a column names people."""
HALF = 0.5
"""The share of detail above which more is lost than kept."""

SHORT = 16
"""The median length of sketches below which estimated distances are hardly better than chance."""
MANY_SUPPRESSED = 0.1
"""The share of suppressed sketches above which the rest is no fair sample."""


@public
@dataclass(frozen=True)
class Caution:
    """One thing to know before a release is handed on.

    Attributes
    ----------
    code
        A fixed name, for programs.
    text
        A sentence, for people; it holds counts and column names, and no data value.
    public
        Whether it follows from the released data alone, so that it may be published.
    """

    code: str
    text: str
    public: bool = True

    def to_dict(self) -> dict[str, object]:
        """Return the caution as plain data for JSON."""
        return asdict(self)


@public
def cautions(release: Release) -> tuple[Caution, ...]:
    """Return what a careful data officer would say about a release before it is handed on.

    >>> import pyarrow as pa
    >>> from discreet import Table, quasi, sensitive
    >>> from discreet.guarantees import KAnonymity
    >>> from discreet.publish import Mondrian
    >>> table = Table(pa.table({"age": [20, 20, 30, 30], "disease": ["flu", "flu", "flu", "cold"]}),
    ...     {"age": quasi(), "disease": sensitive()})
    >>> [one.code for one in cautions(Mondrian(KAnonymity(2)).release(table))]
    ['dominated-class']
    """
    if release.kind == "table":
        return (*_of_table(release), *_formulas(release.frame))
    if release.kind == "grouped-table":
        return (*_other_columns(release), *_formulas(release.frame, release.data.counts))
    if release.kind == "pseudo-data":
        return (*_copies(release), *_formulas(release.frame))
    if release.kind == "sketches":
        return tuple(_of_sketches(release))
    if release.kind == "baskets":
        return tuple(_of_baskets(release))
    if release.kind == "sanitized-table":
        alone = int((release.groups().sizes == 1).sum())
        found = _not_anonymous(
            alone, release.table.n_rows, "rows have quasi-identifiers that no other row has"
        )
        return (*found, *_other_columns(release), *_formulas(release.frame))
    if release.kind == "sanitized-baskets":
        alone = _unlike_others(release.data)
        return tuple(
            _not_anonymous(
                alone, len(release.data), "baskets hold a combination of items that no other holds"
            )
        )
    return ()


def _not_anonymous(alone: int, n: int, words: str) -> Iterator[Caution]:
    """Say that hiding rules protects the owner's knowledge and not people, where somebody stands out."""
    if alone:
        yield Caution(
            "not-anonymous",
            f"{alone:,} of {n:,} {words}: hiding rules does not keep people from being found again. Anonymize the data "
            "first, where it is about people.",
        )


def _unlike_others(baskets: Baskets) -> int:
    """Return how many baskets hold a combination of items that no other basket holds."""
    return int((np.unique(fingerprints(baskets), return_counts=True)[1] == 1).sum())


def _of_table(release: Release) -> Iterator[Caution]:
    yield from _dominated(release)
    yield from _starred(release)
    yield from _constant(release)
    yield from _other_columns(release)
    if release.original is not None and release.evidence.cells:
        from discreet.measure.tables.loss import loss

        lost = loss(release).total
        if lost > HALF:
            text = f"{lost:.0%} of the detail is lost; a weaker guarantee or other hierarchies may do."
            yield Caution("half-lost", text, public=False)


def _formulas(*frames: Any) -> Iterator[Caution]:
    """Count the cells that a spreadsheet would run when the release is opened in one."""
    found = sum(formula_cells(frame) for frame in frames)
    if found:
        yield Caution(
            "formula-cells",
            f"{found:,} cells or column names start as a formula of a spreadsheet does, and would be run by one. "
            "A spreadsheet-safe release puts an apostrophe before them.",
        )


def _copies(release: Release) -> Iterator[Caution]:
    """Count pseudo-records that equal a record that nobody else has; a stream's records are gone."""
    if release.original is None:
        return
    from discreet.measure.pseudo.copies import copies

    found = copies(release)
    if not max(found.unique, found.singled_out):
        return
    text = (
        f"{found.unique:,} of {found.n_rows:,} released rows equal a record that is unique in the original. "
    )
    if found.singled_out:
        text += (
            f"{found.singled_out:,} rows have the quasi-identifiers of one person alone, and whoever knows the person "
            "may take them for theirs. avoid_copies=True draws such rows again, but for records of level 1."
        )
    else:
        text += "None has the quasi-identifiers of one person alone: several people share them."
    yield Caution("copies", text, public=False)


def _of_sketches(release: Release) -> Iterator[Caution]:
    """Find sketches too short to estimate anything; lengths and counts are published anyway."""
    from discreet.measure.sketches.quality import distance_error

    evidence, lengths = release.evidence, release.data.lengths
    median = float(np.median(lengths)) if lengths.size else 0.0
    if lengths.size and median < SHORT:
        yield Caution(
            "short-sketches",
            f"Half of the sketches have {median:g} components or fewer: estimated squared distances are off by about "
            f"{distance_error(lengths).relative:.0%}, so little can be mined. A smaller delta makes sketches longer.",
        )
    if evidence.suppressed > MANY_SUPPRESSED * evidence.n_rows:
        yield Caution(
            "suppressed-records",
            f"{evidence.suppressed:,} of {evidence.n_rows:,} records ({evidence.suppressed / evidence.n_rows:.1%}) are "
            "suppressed, the shortest first, so what is left is no fair sample. A smaller delta keeps more, but none "
            "keeps records of a single item; k-variance does.",
        )


def _dominated(release: Release) -> Iterator[Caution]:
    """Find classes in which nearly everyone has the same sensitive value: who is in one is as good as known."""
    groups = release.groups()
    for name, counts in groups.sensitive.items():
        share = np.zeros(groups.n_groups)
        np.maximum.at(share, counts.group, counts.share)
        classes = (share >= DOMINATED) & (groups.sizes > 1)
        if classes.any():
            rows = int(groups.sizes[classes].sum())
            yield Caution(
                "dominated-class",
                f"In {int(classes.sum()):,} classes ({rows:,} rows) one value of '{name}' makes up {DOMINATED:.0%} or "
                "more: whoever knows a person's class nearly knows the value. Diversity or t-closeness limits that.",
            )


def _starred(release: Release) -> Iterator[Caution]:
    groups = release.groups()
    if groups.suppressed is None or not groups.suppressed.any():
        return
    rows = int(groups.sizes[groups.suppressed].sum())
    share = rows / groups.n_rows
    yield Caution(
        "starred-rows",
        f"{rows:,} rows ({share:.1%}) show nothing but * in every quasi-identifier: they count as suppressed.",
    )


def _constant(release: Release) -> Iterator[Caution]:
    """Find columns that say next to nothing, and flatter any mean over the columns."""
    table = release.table
    hidden: list[str] = []
    constant: list[str] = []
    for name in table.schema.quasi:
        counts, book = table.overall(name), table.encoded[name]
        most = int(counts.argmax())
        if counts[most] < CONSTANT * counts.sum() or table.n_rows < 2:
            continue
        (hidden if _is_star(book, most) else constant).append(name)
    if hidden:
        yield Caution(
            "hidden-column",
            f"{_listed(hidden)}: (nearly) every cell is *. A hierarchy with finer levels may keep some detail.",
        )
    if constant:
        yield Caution(
            "constant-column",
            f"{_listed(constant)}: {CONSTANT:.0%} or more of the cells are alike, which flatters the mean loss.",
        )


def _is_star(book: Codebook, code: int) -> bool:
    if code == 0:
        return False
    label = texts(book.values.slice(code - 1, 1))[0].as_py()
    return bool(label) and not str(label).strip(STAR)


def _other_columns(release: Release) -> Iterator[Caution]:
    """Count the rows that columns published as they are single out."""
    names = [name for name in release.schema.named(Role.OTHER) if not _is_pseudonym(release, name)]
    if release.kind == "grouped-table":
        names = [name for name in names if name != release.data.group]
    columns = release.table.source.columns(names)
    for name in names:
        alone = singled_out(columns[name])
        if alone > UNIQUE * len(columns[name]):
            yield Caution(
                "unique-column",
                f"Column '{name}' is published as it is, and {alone:,} of {len(columns[name]):,} rows have a value of "
                "their own in it: whoever knows it finds the person.",
            )


def singled_out(column: pa.Array) -> int:
    """Return how many rows have a value that no other row has."""
    counts = column.value_counts().field("counts")
    return int(pc.sum(pc.equal(counts, 1)).as_py() or 0)


def _is_pseudonym(release: Release, name: str) -> bool:
    columns = release.recipe.get("columns", [])
    return any(one.get("name") == name and one.get("pseudonym") for one in columns if isinstance(one, dict))


def _of_baskets(release: Release) -> Iterator[Caution]:
    data = release.data
    if not isinstance(data, GroupedBaskets):
        return
    empty = int((data.baskets.lengths == 0).sum())
    if empty:
        yield Caution(
            "empty-baskets",
            f"{empty:,} released baskets hold no ordinary item. Unless baskets may be empty, each of them surely held "
            "a sensitive one.",
        )


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:8])
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"{'Column' if len(names) == 1 else 'Columns'} {shown}{more}"
