"""Cautions: what a careful data officer would say about a release although its guarantee holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass

import numpy as np
import pyarrow.compute as pc

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.fingerprints import fingerprints
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.boundary import public
from discreet.core.hierarchy.knowledge import names_units
from discreet.core.release import Release
from discreet.core.schema import Role
from discreet.core.tables.encoding import Codebook, Kind
from discreet.core.tables.labels import STAR, texts
from discreet.core.tables.table import Table
from discreet.measure.formulas import published_formulas
from discreet.measure.tables.singling_out import is_many, singling_out

DOMINATED = 0.9
"""The share of one sensitive value above which it dominates a class."""
CONSTANT = 0.99
"""The share of one released cell above which a column says next to nothing."""
HALF = 0.5
"""The share of detail above which more is lost than kept."""

RARE = 50
"""The most rows of a category that counts as rare."""
RARE_SHARE = 0.05
"""The least share of rows with rare categories for a caution about them."""
GAIN = 0.1
"""How much better than the commonest value a guess must be for a caution."""
MOST_NAMED = 3
"""How many columns with dominated classes get a caution of their own; more share one."""
FEWEST_UNITS, REPEATED = 20, 0.98
"""A key of people has more values than the first, and fewer than this share of the rows where they have several."""

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
    >>> table = Table(pa.table({"age": [20, 20, 30, 30], "disease": ["flu", "flu", "cold", "cold"]}),
    ...     {"age": quasi(), "disease": sensitive()})
    >>> [one.code for one in cautions(Mondrian(KAnonymity(2)).release(table))]
    ['dominated-class']
    """
    return (*_BY_KIND[release.kind](release), *formula_caution(published_formulas(release)))


def formula_caution(found: int) -> tuple[Caution, ...]:
    """Return what to say of published cells that a spreadsheet would run; nothing where there are none."""
    if not found:
        return ()
    return (
        Caution(
            "formula-cells",
            f"{found:,} cells, items or names of columns start as a formula of a spreadsheet does, and would be run by "
            "one. A spreadsheet-safe release puts an apostrophe before cells and items; columns are to be renamed.",
        ),
    )


def _of_grouped_table(release: Release) -> Iterator[Caution]:
    yield from _exact_classes(release)
    yield from _other_columns(release)


def _of_pseudo_data(release: Release) -> Iterator[Caution]:
    yield from _copies(release)
    yield from _telling_categories(release)


def _of_sanitized_table(release: Release) -> Iterator[Caution]:
    alone = int((release.groups().sizes == 1).sum())
    words = "rows have quasi-identifiers that no other row has"
    yield from _not_anonymous(alone, release.table.n_rows, words)
    yield from _other_columns(release)


def _of_sanitized_baskets(release: Release) -> Iterator[Caution]:
    words = "baskets hold a combination of items that no other holds"
    yield from _not_anonymous(_unlike_others(release.data), len(release.data), words)


def _exact_classes(release: Release) -> Iterator[Caution]:
    """Count the rows that can be found again by quasi-identifiers that are published as they are."""
    table = release.table
    alone = int((table.groups().sizes == 1).sum())
    if alone:
        yield Caution(
            "unique-quasi-identifiers",
            f"{alone:,} of {table.n_rows:,} rows ({alone / table.n_rows:.0%}) have quasi-identifiers that no other row "
            "has, and they are published exactly: whoever knows them finds the row, learns its other columns and that "
            "the person is in the data. Only sensitive values are hidden, in their group. Generalize the "
            "quasi-identifiers where that must not be.",
        )


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
    yield from _units(release)
    if release.original is not None and release.evidence.cells:
        from discreet.measure.tables.loss import loss

        lost = loss(release).total
        if lost > HALF:
            text = f"{lost:.0%} of the detail is lost; a weaker guarantee or other hierarchies may do."
            yield Caution("half-lost", text, public=False)


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


def _telling_categories(release: Release) -> Iterator[Caution]:
    """Find categories by which sensitive values of pseudo-records are guessed, from the released rows alone.

    Pseudo-records of a group keep its categories. Where few groups have a category, such as a ZIP code, its rows show
    the sensitive value of those groups. Only rows of rare categories are looked at: what holds for common ones is known
    of many people. A row is guessed by the others with the same category.
    """
    table = release.table
    for secret in table.schema.sensitive:
        if table.encoded[secret].kind is not Kind.CATEGORY or len(table.encoded[secret].values) < 2:
            continue
        usual = float(table.overall(secret).max()) / table.n_rows
        for name in table.schema.quasi:
            if table.encoded[name].kind is not Kind.CATEGORY:
                continue
            n_rare, right = _guessed(table, name, secret)
            if n_rare >= RARE_SHARE * table.n_rows and right > usual + GAIN:
                yield Caution(
                    "telling-category",
                    f"By a rare value of '{name}' one guesses '{secret}' rightly for {right:.0%} of {n_rare:,} rows; "
                    f"the commonest value alone is right for {usual:.0%}. Coarsen '{name}', or drop it.",
                )


def _guessed(table: Table, name: str, secret: str) -> tuple[int, float]:
    """Count the rows with a rare category, and the share of them whose value the others of the category have most."""
    width = table.encoded[secret].n_codes
    keys = table.codes(name).astype(np.int64) * width + table.codes(secret)
    held = np.bincount(keys, weights=table.tuples.counts, minlength=table.encoded[name].n_codes * width)
    counts = held.reshape(-1, width)
    sizes = counts.sum(axis=1)
    rare = (sizes > 1) & (sizes <= RARE)
    counts = counts[rare]
    if not counts.size:
        return 0, 0.0
    best = counts.max(axis=1)
    second = np.sort(counts, axis=1)[:, -2]
    right = np.where(best > second, np.where(best - 1 > second, best, best / 2), 0.0)
    return int(counts.sum()), float(right.sum() / counts.sum())


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
    """Find classes in which nearly everyone has the same sensitive value: who is in one is as good as known.

    A value that nearly everyone in the release has is no news in a class.
    """
    groups = release.groups()
    found: dict[str, tuple[int, int]] = {}
    for name, counts in groups.sensitive.items():
        common = counts.overall >= DOMINATED * max(counts.overall.sum(), 1)
        telling = (counts.share >= DOMINATED) & ~common[counts.values]
        classes = np.zeros(groups.n_groups, np.bool_)
        classes[counts.group[telling]] = True
        classes &= groups.sizes > 1
        if classes.any():
            found[name] = int(classes.sum()), int(groups.sizes[classes].sum())
    known = f"makes up {DOMINATED:.0%} or more: whoever knows a person's class nearly knows the value. "
    remedy = "Diversity or t-closeness limits that."
    if len(found) <= MOST_NAMED:
        for name, (n_classes, rows) in found.items():
            where = f"In {n_classes:,} classes ({rows:,} rows) one value of '{name}' "
            yield Caution("dominated-class", where + known + remedy)
        return
    worst = max(found, key=lambda name: found[name][1])
    n_classes, rows = found[worst]
    where = f"In each of {len(found)} sensitive columns there are classes in which one value "
    most = f"Most in '{worst}': {n_classes:,} classes ({rows:,} rows). "
    yield Caution("dominated-class", where + known + most + remedy)


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
    """Count the rows that columns published exactly single out, where that was allowed."""
    found = singling_out(release)
    for name, lone in found.columns.items():
        if is_many(lone):
            yield Caution(
                "unique-column",
                f"Column '{name}' is published as it is, and {lone.n_lone:,} of {lone.n_held:,} rows have a value of "
                "their own in it: whoever knows it finds the person.",
            )
    if is_many(found.together) and not any(map(is_many, found.columns.values())):
        yield Caution(
            "unique-combination",
            f"{_listed(list(found.columns))} are published as they are, and {found.together.n_lone:,} of "
            f"{found.together.n_held:,} rows have a combination of their own: whoever knows it finds the person.",
        )
    for name in release.schema.sensitive:
        lone = release.table.source.lone_rows([name])
        if is_many(lone):
            yield Caution(
                "unique-sensitive",
                f"Sensitive column '{name}' is published exactly, and {lone.n_lone:,} of {lone.n_held:,} rows have a "
                "value of their own in it: whoever learns it elsewhere finds the person. Rounding helps.",
            )


def _units(release: Release) -> Iterator[Caution]:
    """Find rows that may belong to fewer people than there are rows, and people whose rows can be linked."""
    if release.schema.person is not None:
        linked, units = _linked_units(release.table)
        if linked:
            yield Caution(
                "linked-rows",
                f"The pseudonyms in '{release.schema.person}' link the rows of a person, and {linked:,} of {units:,} "
                "are alone with the classes their rows are in: whoever knows several rows of a person finds them all. "
                "Drop the column unless rows must be linked.",
            )
    if release.original is None or release.original.schema.person is not None:
        return
    for name in release.original.schema.named(Role.IDENTIFIER):
        if not names_units(name):
            continue
        column = release.original.source.columns([name])[name]
        n_units = len(pc.unique(column))
        if FEWEST_UNITS < n_units < REPEATED * len(column):
            yield Caution(
                "rows-not-people",
                f"Rows were counted, not people: '{name}' has {n_units:,} different values in {len(column):,} rows. If "
                "it says whose row it is, give it the role person, so that a class cannot be one person's rows.",
                public=False,
            )


def _linked_units(table: Table) -> tuple[int, int]:
    """Return how many units are the only ones with their set of classes, of all units with rows in several."""
    labels, _ = table.classes
    units = table.codes(table.schema.person or "")
    held = np.unique(np.stack([units, labels], axis=1), axis=0)
    starts = np.flatnonzero(np.append(True, held[1:, 0] != held[:-1, 0]))
    sets = [tuple(one.tolist()) for one in np.split(held[:, 1], starts[1:])]
    several = Counter(one for one in sets if len(one) > 1)
    return sum(count == 1 for count in several.values()), len(sets)


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


_BY_KIND: Mapping[str, Callable[[Release], Iterator[Caution]]] = {
    "table": _of_table,
    "grouped-table": _of_grouped_table,
    "pseudo-data": _of_pseudo_data,
    "sketches": _of_sketches,
    "baskets": _of_baskets,
    "sanitized-table": _of_sanitized_table,
    "sanitized-baskets": _of_sanitized_baskets,
}
"""What is to be said of each kind of release, beside its formulas."""
