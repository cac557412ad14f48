"""Cautions: what a careful data officer would say about a release although its guarantee holds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.fingerprints import fingerprints
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.boundary import public
from discreet.core.figures import Caution
from discreet.core.release import Release
from discreet.core.sketches import SHORT_KEY
from discreet.core.tables.encoding import Kind
from discreet.core.tables.table import Table
from discreet.measure.pseudo.copies import Copies
from discreet.measure.spelling import twins_of_sensitive

RARE = 50
"""The most rows of a category that counts as rare."""
RARE_SHARE = 0.05
"""The least share of rows with rare categories for a caution about them."""
GAIN = 0.1
"""How much better than the commonest value a guess must be for a caution."""

_GROUP_FORMING = {
    "Cahd": "Groups were formed around baskets with sensitive items, and each passes over baskets that hold the same. "
    "Whoever knows the method can repeat the order of the published baskets",
    "PermMondrian": "Groups were divided wherever their sensitive items allowed it. Whoever knows the method learns "
    "from each cut that was not made",
}
"""The methods whose groups depend on where in the order, or by which items, sensitive ones are held; and how."""
SHORT = 16
"""The median length of sketches below which estimated distances are hardly better than chance."""
MANY_SUPPRESSED = 0.1
"""The share of suppressed sketches above which the rest is no fair sample."""


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
    return release.cautions


def unique_classes(release: Release) -> Iterator[Caution]:
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


def not_anonymous(alone: int, n: int, words: str) -> Iterator[Caution]:
    """Say that hiding rules protects the owner's knowledge and not people, where somebody stands out."""
    if alone:
        yield Caution(
            "not-anonymous",
            f"{alone:,} of {n:,} {words}: hiding rules does not keep people from being found again. Anonymize the data "
            "first, where it is about people.",
        )


def unlike_others(baskets: Baskets) -> int:
    """Return how many baskets hold a combination of items that no other basket holds."""
    return int((np.unique(fingerprints(baskets), return_counts=True)[1] == 1).sum())


def copied_records(copies: Copies) -> Iterator[Caution]:
    """Count pseudo-records that equal a record that nobody else has."""
    if not max(copies.unique, copies.singled_out):
        return
    text = f"{copies.unique:,} of {copies.n_rows:,} released rows equal a record that is unique in the original. "
    if copies.singled_out:
        text += (
            f"{copies.singled_out:,} rows have the quasi-identifiers of one person alone, and whoever knows the person "
            "may take them for theirs. avoid_copies=True draws such rows again, but for records of level 1."
        )
    else:
        text += "None has the quasi-identifiers of one person alone: several people share them."
    yield Caution("copies", text, public=False)


def identifying_categories(release: Release) -> Iterator[Caution]:
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


def sketch_cautions(release: Release, relative_error: float) -> Iterator[Caution]:
    """Find sketches too short to estimate anything; lengths and counts are published anyway."""
    evidence, lengths = release.evidence, release.data.lengths
    if evidence.details.get(SHORT_KEY):
        yield Caution(
            "short-key",
            "The key of the sketches has fewer than 16 bytes. Whoever guesses it sees by the release that the guess is "
            "right, and can estimate every record. Take a key from secrets.token_bytes(32).",
            public=False,
        )
    median = float(np.median(lengths)) if lengths.size else 0.0
    if lengths.size and median < SHORT:
        yield Caution(
            "short-sketches",
            f"Half of the sketches have {median:g} components or fewer: estimated squared distances are off by about "
            f"{relative_error:.0%}, so little can be mined. A smaller delta makes sketches longer.",
        )
    if evidence.suppressed > MANY_SUPPRESSED * evidence.n_rows:
        yield Caution(
            "suppressed-records",
            f"{evidence.suppressed:,} of {evidence.n_rows:,} records ({evidence.suppressed / evidence.n_rows:.1%}) are "
            "suppressed, the shortest first, so what is left is no fair sample. A smaller delta keeps more, but none "
            "keeps records of a single item; k-variance does.",
        )


def basket_cautions(release: Release) -> Iterator[Caution]:
    """Find sensitive items that are spelled like others, and groups whose forming reveals more than they show."""
    data = release.data
    if not isinstance(data, GroupedBaskets):
        return
    yield from twins_of_sensitive(data)
    forming = _GROUP_FORMING.get(release.recipe.get("method", ""))
    if forming is not None and len(data.sensitive.group) and release.guarantee.bound > 1:
        yield Caution(
            "group-forming",
            f"{forming}, and may tie a person to a sensitive item with more than the probability that the groups and "
            "counts allow. Anatomy draws its groups whatever the baskets hold otherwise, and shows no more than them.",
        )
