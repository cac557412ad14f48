"""Re-identification risk of tables: what is left of it, and in the internal report what it was before."""

from __future__ import annotations

from discreet.core.percentages import percent
from discreet.core.release import Release, is_counted_privately
from discreet.kinds import charts
from discreet.kinds.blocks import Block, Cards, Figure, Legend, Section, TableBlock, Tiles
from discreet.kinds.formatting import number
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
    starts = charts.class_size_bins(required_size(release), largest)
    labels = charts.class_size_labels(starts)
    shares = [
        charts.shares_by_class_size(groups.sizes, starts)
        for groups in (release.original.counted, release.judged_table.counted)
    ]
    return Figure(
        f"{unit.capitalize()} by the size of their class",
        f"An equivalence class is a set of {unit} that share all quasi-identifiers.",
        chart=charts.ClassSizeBars(labels, shares[0], shares[1], unit),
        table=TableBlock(
            (f"{unit.capitalize()} in the class", "Before", "After"), charts.share_rows(labels, *shares)
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
    starts = charts.class_size_bins(required_size(release), after.largest_class)
    shares = charts.shares_by_class_size(release.groups().sizes, starts)
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
            charts.share_figure(
                "Rows by the size of their class",
                ("Rows in the class", "Share of rows"),
                charts.class_size_labels(starts),
                shares,
                text="An equivalence class is a set of rows that share all quasi-identifiers.",
            ),
        ],
    )
