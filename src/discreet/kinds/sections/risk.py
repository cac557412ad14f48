"""The guarantee with its cautions, and the re-identification risk of tables before and after."""

from __future__ import annotations

from discreet.core import verdict as judged
from discreet.core.figures import summarized
from discreet.core.guarantee import Guarantee
from discreet.core.release import Release, is_counted_privately
from discreet.kinds.blocks import (
    Block,
    Bullets,
    Cards,
    ClassSizeBars,
    Figure,
    Legend,
    Section,
    TableBlock,
    Tiles,
    VerdictBlock,
    class_size_bins,
    class_size_labels,
    share_figure,
    share_rows,
    shares_by_class_size,
)
from discreet.kinds.wording import counted, number, percent, required
from discreet.measure import Loss, Risk

MIN_PEOPLE = 10
BEFORE_AND_AFTER = Legend([("before", "before"), ("after", "after")])


def required_size(release: Release) -> int:
    """Return the class size that the guarantee requires."""
    return max(release.guarantee.smallest, 1)


def min_people(release: Release) -> int:
    """Return how many people a bar of a chart stands for at least."""
    return max(required_size(release), MIN_PEOPLE)


def risk_summary(release: Release, before: Risk, after: Risk, loss: Loss) -> Tiles:
    """Return the four most important figures of a comparison with the original."""
    evidence = release.evidence
    suppressed = f"of {evidence.n_rows:,}; {evidence.suppressed:,} suppressed"
    average = number(round(loss.average_class_size, 1))
    return Tiles([
        ("Rows released", f"{after.n_rows:,}", suppressed if evidence.suppressed else "none suppressed"),
        ("Classes", f"{after.n_classes:,}", f"{average} rows on average"),
        ("Smallest class", f"{after.smallest_class:,}", f"before: {before.smallest_class:,}"),
        ("Loss of detail", percent(loss.total), "0%: exact values, 100%: no information"),
    ])  # fmt: skip


def risk_change(release: Release, before: Risk, after: Risk) -> Section:
    """Return the risk before and after, and the class sizes behind it."""
    above, was, now = percent(before.threshold), before.prosecutor, after.prosecutor
    unit = "rows" if release.original.schema.person is None else "people"
    rows = (
        ("Highest risk", f"of the {unit} easiest to identify", was.highest, now.highest),
        ("Mean risk", f"over all {unit}", was.mean, now.mean),
        (f"Above {above}", f"{unit} with a risk above {above}", was.share_above, now.share_above),
        ("Unique", f"{unit} alone in their class", before.uniques_share, after.uniques_share),
    )  # fmt: skip
    return Section(
        "risk",
        "Re-identification risk before and after",
        "How likely is an attacker to identify someone, knowing that they are in the table and all their "
        "quasi-identifiers?",
        [
            Cards([(name, note, percent(old), percent(new)) for name, note, old, new in rows]),
            BEFORE_AND_AFTER,
            _class_sizes(release, max(before.largest_class, after.largest_class), unit),
        ],
    )


def _class_sizes(release: Release, largest: int, unit: str) -> Figure:
    starts = class_size_bins(required_size(release), largest)
    labels = class_size_labels(starts)
    shares = [
        shares_by_class_size(groups, starts)
        for groups in (release.original.counted, release.judged_table.counted)
    ]
    return Figure(
        f"{unit.capitalize()} by the size of their class",
        f"An equivalence class is a set of {unit} that share all quasi-identifiers.",
        chart=ClassSizeBars(labels, shares[0], shares[1], unit),
        table=TableBlock(
            (f"{unit.capitalize()} in the class", "Before", "After"), share_rows(labels, *shares)
        ),
    )


def released_risk(release: Release, after: Risk) -> list[Block]:
    """Return the most important figures and the risk that is left, from the released rows alone."""
    suppressed = release.evidence.suppressed
    private = is_counted_privately(release)
    highest = f"≤ {percent(1 / required_size(release))}" if private else percent(after.prosecutor.highest)
    tiles = Tiles([
        ("Rows", f"{after.n_rows:,}", f"{suppressed:,} suppressed" if suppressed else "none suppressed"),
        ("Classes", f"{after.n_classes:,}", "rows that share all quasi-identifiers"),
        ("Smallest class", f"{after.smallest_class:,}", f"largest: {after.largest_class:,}"),
        ("Highest risk", highest, "of re-identification, per person" if private else "of re-identification"),
    ])  # fmt: skip
    return [tiles, _risk_left(release, after)]


def _risk_left(release: Release, after: Risk) -> Section:
    starts = class_size_bins(required_size(release), after.largest_class)
    shares = shares_by_class_size(release.groups(), starts)
    rows = [
        ("Highest risk", percent(after.prosecutor.highest)),
        ("Mean risk", percent(after.prosecutor.mean)),
        (f"Rows with a risk above {percent(after.threshold)}", percent(after.prosecutor.share_above)),
        ("Rows alone in their class", percent(after.uniques_share)),
    ]
    if is_counted_privately(release):
        rows = [("Highest risk per person", f"at most {percent(1 / required_size(release))}")]
    return Section(
        "risk",
        "Remaining re-identification risk",
        "How likely is an attacker to link a row to its person, knowing that the person is in the table and all their "
        "quasi-identifiers?",
        [
            TableBlock(("Measure", "Value"), rows, "Re-identification risk"),
            share_figure(
                "Rows by the size of their class",
                ("Rows in the class", "Share of rows"),
                class_size_labels(starts),
                shares,
                text="An equivalence class is a set of rows that share all quasi-identifiers.",
            ),
        ],
    )


_BASES = {
    judged.Basis.VERIFIED: "Recomputed from the released data alone.",
    judged.Basis.CONSTRUCTION: "By construction: from evidence recorded while the release was made, which is not "
    "published. Whoever has the released files alone cannot recompute it: to them it is a claim.",
    judged.Basis.ASSUMED: "Assumed: it rests on what nobody can check, such as trust in the parties, or what an "
    "attacker leaves undone.",
    judged.Basis.CLAIMED: "The owner's word: it was recomputed by what is not published.",
}


def guarantee(
    stated: Guarantee | None,
    verdict: judged.Verdict,
    *,
    checked: str | None = None,
    described: str | None = None,
) -> VerdictBlock:
    """Return the guarantee and its verdict.

    ``checked`` says what was checked, where it is not rows in classes, ``described`` what is promised, where it is not
    all that the guarantee says of itself.
    """
    parts = [(_look(part), _measures(part)) for part in verdict.parts or (verdict,)]
    checked = checked or (
        f"{counted(verdict.n_rows, 'row')} in {counted(verdict.n_groups, 'class', 'classes')} were checked."
    )
    return VerdictBlock(
        verdict.word,
        _look(verdict),
        described or (verdict.guarantee if stated is None else stated.describe()),
        parts,
        f"{_BASES[verdict.basis]} {checked}",
    )


def verdict_alone(verdict: judged.Verdict) -> VerdictBlock:
    """Return a verdict by itself, where nothing more is known of the guarantee than its name."""
    parts = [(_look(part), _measures(part)) for part in verdict.parts or (verdict,)]
    counts = f"{counted(verdict.n_rows, 'row')} in {counted(verdict.n_groups, 'class', 'classes')}"
    return VerdictBlock(
        verdict.word,
        _look(verdict),
        verdict.guarantee,
        parts,
        f"{_BASES[verdict.basis]} {counts} were checked.",
    )


def _look(verdict: judged.Verdict) -> str:
    return verdict.word.replace(" ", "-")


def headline(verdict: judged.Verdict) -> str:
    """Return what became of the guarantee, to stand after a name in the title of a page."""
    return (
        f"the guarantee {'holds' if verdict.word == judged.Basis.CONSTRUCTION.value else 'is'} {verdict.word}"
    )


def _measures(part: judged.Verdict) -> list[tuple[str, str, str]]:
    if part.ok and part.basis is not judged.Basis.VERIFIED:
        return [("Guarantee", part.guarantee, "code"), ("Verdict", part.word, "mark")]
    fail = f": {counted(part.failing_groups, 'class', 'classes')}, {counted(part.failing_rows, 'row')} fail"
    return [
        ("Guarantee", part.guarantee, "code"),
        (f"Worst {part.measure}", number(part.worst), "figure"),
        ("Required", required(part.relation, part.bound), "figure"),
        ("Verdict", part.word if part.ok else part.word + fail, "mark"),
    ]


def cautions(release: Release, *, internal: bool) -> Section | None:
    """Return the cautions; those that compare with the original only in the internal report."""
    texts = summarized([caution for caution in release.cautions if internal or caution.public])
    return Section("cautions", "Before you hand it on", "", [Bullets(texts)]) if texts else None
