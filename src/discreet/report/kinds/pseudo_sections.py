"""Sections of the report on pseudo-data: there are no classes of people, but groups, likeness and closeness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.core.release import Release
from discreet.measure import Closeness, Copies, Fidelity, closeness, copies, fidelity
from discreet.report import charts, sections
from discreet.report.figures import Figures, number, percent, table
from discreet.report.markup import Markup, tag

_STEPS = {
    "segment": "Segment: near records of one level",
    "segment alone": "Segment alone: near records of one level",
    "numerical test": "Numerical test: groups too small are dissolved",
    "cannibalize": "Cannibalize: lower groups are dissolved into nearer ones",
    "attrition": "Attrition: records move to nearer lower groups",
    "resolve": "Resolve: groups still too small take in their nearest",
}


@dataclass(frozen=True, repr=False)
class Facts:
    """What the report tells about: a release of pseudo-data, its likeness to the original and its closeness to it."""

    release: Release
    fidelity: Fidelity
    closeness: Closeness
    copies: Copies

    @classmethod
    def of(cls, release: Release) -> Facts:
        """Measure a release."""
        return cls(release, fidelity(release), closeness(release), copies(release))

    @property
    def fewest(self) -> int:
        """The least number of people a bar may stand for."""
        return max(int(self.release.evidence.sizes.min()), sections.FEWEST)


def compared(release: Release, figures: Figures) -> list[Markup]:
    """Return the sections that compare with the original, in the order they are read."""
    facts = Facts.of(release)
    schema = release.schema
    return [
        _summary(facts),
        _closeness(facts),
        _likeness(facts, figures),
        sections.shapes(release, (*schema.quasi, *schema.sensitive), facts.fewest, figures),
        _steps(release),
    ]


def _summary(facts: Facts) -> Markup:
    evidence = facts.release.evidence
    sizes = evidence.sizes
    tiles = (
        ("Pseudo-records", f"{facts.fidelity.n_pseudo:,}", f"drawn for {evidence.n_rows:,} records"),
        ("Groups", f"{sizes.size:,}", f"{number(round(float(sizes.mean()), 1))} records on average"),
        ("Smallest group", f"{int(sizes.min()):,}", f"largest: {int(sizes.max()):,}"),
        (
            "Covariance compatibility",
            number(facts.fidelity.covariance_compatibility),
            "1 is the original's own",
        ),
    )
    return tag("dl", *(sections.tile(*one) for one in tiles), class_="tiles")


def _closeness(facts: Facts) -> Markup:
    found, exact = facts.closeness, facts.copies
    rows = [
        ("Median distance of a pseudo-record to the closest record", number(found.distance)),
        ("Median distance of a record to the closest other record", number(found.spacing)),
        ("Ratio of the two", number(found.ratio)),
        ("Pseudo-records nearer than nineteen in twenty records are to one another", percent(found.nearer)),
        ("Pseudo-records that equal a record", f"{exact.equal:,} of {exact.n_rows:,}"),
        ("Pseudo-records that equal a record that is unique in the original", f"{exact.unique:,}"),
        ("Unique records that are equaled", f"{exact.people:,}"),
        ("Pseudo-records with the quasi-identifiers of one person alone", f"{exact.singled_out:,}"),
    ]
    return sections.section(
        "risk",
        "How near it comes to people",
        "Rows are drawn, but a drawn row may lie so near to a person that it gives them away, or equal one. "
        f"Distances are between standardized columns, of {found.n_looked_at:,} rows; copies are counted over all.",
        table(("Measure", "Value"), rows, caption="Closeness"),
    )


def _likeness(facts: Facts, figures: Figures) -> Markup:
    apart = facts.fidelity.columns
    columns = sorted(apart, key=lambda name: -apart[name])
    shares = [apart[name] for name in columns]
    return sections.section(
        "cost",
        "What it cost",
        "How far each column's distribution moved: 0% is not at all, 100% leaves the two nothing in common.",
        figures.figure(
            "Distance by column",
            charts.losses(columns, shares),
            "",
            ("Column", "Distance"),
            zip(columns, map(percent, shares), strict=True),
        ),
    )


def _steps(release: Release) -> Markup:
    """Return what each step of making groups did to the squared error, over all levels."""
    steps: Any = release.evidence.details.get("steps", [])
    moved: dict[str, float] = {}
    before = 0.0
    for step in steps:
        moved[step["step"]] = moved.get(step["step"], 0.0) + step["ssq"] - before
        before = step["ssq"]
    rows = [(_STEPS.get(name, name), number(change)) for name, change in moved.items()]
    return sections.section(
        "groups",
        "How the groups were made",
        "The squared distance of records to the means of their groups, in standardized columns: what each step added "
        "to it, or took off it.",
        table(("Step", "Change"), [*rows, ("In all", number(before))], caption="Squared error"),
    )
