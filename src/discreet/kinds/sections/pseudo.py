"""Sections on pseudo-data: how similar it is to the original, and how close it comes to people."""

from __future__ import annotations

from typing import Any

from discreet.core.release import Release
from discreet.kinds.blocks import Block, Section, TableBlock, Tiles, share_figure
from discreet.kinds.sections import distributions
from discreet.kinds.sections.risk import MIN_PEOPLE
from discreet.kinds.wording import number, percent
from discreet.measure import Closeness, Copies, Fidelity

_STEPS = {
    "segment": "Segment: near records of one level",
    "segment alone": "Segment alone: near records of one level",
    "numerical test": "Numerical test: groups too small are dissolved",
    "cannibalize": "Cannibalize: lower groups are dissolved into nearer ones",
    "attrition": "Attrition: records move to nearer lower groups",
    "resolve": "Resolve: groups still too small take in their nearest",
}


def compared_statistics(release: Release) -> list[Block]:
    """Return the sections that compare with the original, in reading order."""
    private, schema = release.figures.private, release.schema
    least = max(int(release.evidence.sizes.min()), MIN_PEOPLE)
    return [
        _summary(release, private.fidelity),
        distances(private.closeness, private.copies),
        moved_columns(private.fidelity),
        distributions.compared_section(release, (*schema.quasi, *schema.sensitive), least),
        _steps(release),
    ]


def _summary(release: Release, similarity: Fidelity) -> Tiles:
    evidence = release.evidence
    sizes = evidence.sizes
    tiles = (
        ("Pseudo-records", f"{similarity.n_pseudo:,}", f"drawn for {evidence.n_rows:,} records"),
        ("Groups", f"{sizes.size:,}", f"{number(round(float(sizes.mean()), 1))} records on average"),
        ("Smallest group", f"{int(sizes.min()):,}", f"largest: {int(sizes.max()):,}"),
        (
            "Covariance compatibility",
            number(similarity.covariance_compatibility),
            "1: same covariances",
        ),
    )
    return Tiles(tiles)


def distances(closeness: Closeness, exact: Copies) -> Section:
    """Return how near the rows come to people, and how many equal a record."""
    rows = [
        ("Median distance of a pseudo-record to the closest record", number(closeness.distance)),
        ("Median distance of a record to the closest other record", number(closeness.spacing)),
        ("Ratio of the two", number(closeness.ratio)),
        (
            "Pseudo-records closer to a record than 95% of the records are to each other",
            percent(closeness.nearer),
        ),
        ("Pseudo-records that equal a record", f"{exact.equal:,} of {exact.n_rows:,}"),
        ("Pseudo-records that equal a record that is unique in the original", f"{exact.unique:,}"),
        ("Unique records that equal a pseudo-record", f"{exact.people:,}"),
        ("Pseudo-records with the quasi-identifiers of a single person", f"{exact.singled_out:,}"),
    ]
    return Section(
        "closeness",
        "Closeness to real records",
        "Pseudo-records are random, but one may equal a real record or come so close that it reveals the person. "
        f"Distances are between standardized columns, of {closeness.n_looked_at:,} rows; copies are counted over all.",
        [TableBlock(("Measure", "Value"), rows, "Closeness")],
    )


def moved_columns(similarity: Fidelity) -> Section:
    """Return how far the distribution of each column moved."""
    distance = similarity.columns
    columns = sorted(distance, key=lambda name: -distance[name])
    shares = [distance[name] for name in columns]
    return Section(
        "cost",
        "Change of distributions",
        "How far the distribution of each column moved: 0% is unchanged, 100% has nothing in common.",
        [share_figure("Distance by column", ("Column", "Distance"), columns, shares)],
    )


def _steps(release: Release) -> Section:
    """Return how each step of making groups changed the squared error, over all levels."""
    steps: Any = release.evidence.details.get("steps", [])
    moved: dict[str, float] = {}
    before = 0.0
    for step in steps:
        moved[step["step"]] = moved.get(step["step"], 0.0) + step["ssq"] - before
        before = step["ssq"]
    rows = [(_STEPS.get(name, name), number(change)) for name, change in moved.items()]
    return Section(
        "groups",
        "How the groups were made",
        "The squared distance of records to the means of their groups, in standardized columns, and how each step "
        "changed it.",
        [TableBlock(("Step", "Change"), [*rows, ("Total", number(before))], "Squared error")],
    )
