"""Sections of the report, in the order they are read: the promise, the risk, the cost, and how to do it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.core.guarantee import Guarantee
from discreet.core.release import Release, is_counted_privately
from discreet.core.verdict import Basis, Verdict
from discreet.measure import Loss, Risk
from discreet.measure import risk as measured
from discreet.report import charts
from discreet.report.distributions import (
    Bars,
    before_and_after,
    first_rows,
    released_shares,
    sensitive_bars,
)
from discreet.report.figures import Figures, asked, counted, index, legend, number, percent, table
from discreet.report.markup import Markup, joined, tag

FEWEST = 10
_EXAMPLES = 3
_WIDE = 9
"""The examples of a table with more columns than this are written column by column."""
_BASES = {
    Basis.VERIFIED: "Recomputed from the released data alone.",
    Basis.CONSTRUCTION: "By construction: from evidence kept while the release was made.",
    Basis.ASSUMED: "Assumed: it rests on trust in the parties.",
}
_PAIR = (("before", "before"), ("after", "after"))


@dataclass(frozen=True, repr=False)
class Facts:
    """What the report tells about: a release, its risk before and after, and its loss."""

    release: Release
    before: Risk
    after: Risk
    loss: Loss

    @property
    def smallest(self) -> int:
        """The class size the guarantee requires."""
        return smallest(self.release)

    @property
    def fewest(self) -> int:
        """The least number of people a bar may stand for."""
        return fewest(self.release)


def smallest(release: Release) -> int:
    """Return the class size the guarantee requires."""
    return max(release.guarantee.smallest, 1)


def who(release: Release) -> str:
    """Return what classes count: people where the owner said whose rows they are, else rows."""
    return "rows" if release.original is None or release.original.schema.person is None else "people"


def fewest(release: Release) -> int:
    """Return the least number of people a bar may stand for."""
    return max(smallest(release), FEWEST)


def promise(guarantee: Guarantee, verdict: Verdict, *, seen: str | None = None) -> Markup:
    """Describe the promise and the verdict; ``seen`` says what was judged, where it is not rows in classes."""
    parts = verdict.parts or (verdict,)
    state = "kept" if verdict.ok else "broken"
    return tag(
        "section",
        tag(
            "div",
            _seal(ok=verdict.ok),
            tag("h1", tag("span", "The promise is ", class_="quiet"), tag("strong", state)),
            class_="state",
        ),
        tag("p", guarantee.describe(), class_="promise"),
        tag("div", *(_part(part) for part in parts), class_="parts"),
        tag("p", f"{_BASES[verdict.basis]} {seen or _seen(verdict)}", class_="basis"),
        id="promise",
        class_=f"verdict {state}",
        aria_label=f"The promise is {state}",
    )


def cautioned(release: Release, *, internal: bool) -> Markup:
    """List the cautions; those that compare with the original only internally."""
    found = [caution for caution in release.cautions if internal or caution.public]
    if not found:
        return Markup()
    return tag(
        "section",
        tag("h2", "Before you hand it on", id="cautions-title"),
        tag("ul", *(tag("li", caution.text) for caution in found)),
        id="cautions",
        class_="cautions",
        aria_labelledby="cautions-title",
    )


def _part(part: Verdict) -> Markup:
    if part.basis is not Basis.VERIFIED and part.ok:
        entries = (("Guarantee", tag("code", part.guarantee)), ("Verdict", "kept"))
        return tag(
            "dl", *(tag("div", tag("dt", name), tag("dd", text)) for name, text in entries), class_="part"
        )
    failing = ""
    if not part.ok:
        failing = (
            f"{counted(part.failing_groups, 'class', 'classes')}, {counted(part.failing_rows, 'row')} fail"
        )
    return tag(
        "dl",
        tag("div", tag("dt", "Guarantee"), tag("dd", tag("code", part.guarantee))),
        tag("div", tag("dt", f"Worst {part.measure}"), tag("dd", number(part.worst), class_="figure")),
        tag("div", tag("dt", "Required"), tag("dd", asked(part.relation, part.bound), class_="figure")),
        tag(
            "div", tag("dt", "Verdict"), tag("dd", "kept" if part.ok else f"broken: {failing}", class_="mark")
        ),
        class_="part" if part.ok else "part failing",
    )


def _seen(verdict: Verdict) -> str:
    return f"{counted(verdict.n_rows, 'row')} in {counted(verdict.n_groups, 'class', 'classes')} were judged."


def _seal(*, ok: bool) -> Markup:
    stroke = tag("path", d="M15 25.5l6.5 6.5L34 18" if ok else "M17 17l14 14M31 17L17 31")
    return tag(
        "svg", tag("circle", cx="24", cy="24", r="22"), stroke, viewBox="0 0 48 48", aria_hidden="true"
    )


def summary(facts: Facts) -> Markup:
    """Return the four figures a reader asks for first."""
    evidence, loss = facts.release.evidence, facts.loss
    released = facts.after.n_rows
    left_out = (
        f"of {evidence.n_rows:,}; {evidence.suppressed:,} left out"
        if evidence.suppressed
        else "none left out"
    )
    tiles = (
        ("Rows released", f"{released:,}", left_out),
        (
            "Classes",
            f"{facts.after.n_classes:,}",
            f"{number(round(loss.average_class_size, 1))} rows on average",
        ),
        ("Smallest class", f"{facts.after.smallest_class:,}", f"before: {facts.before.smallest_class:,}"),
        ("Detail given up", percent(loss.total), "0% nothing, 100% everything"),
    )
    return tag("dl", *(tile(*one) for one in tiles), class_="tiles")


def tile(name: str, figure: str, note: str) -> Markup:
    """Set one figure with its name and a note."""
    return tag("div", tag("dt", name), tag("dd", tag("b", figure), tag("small", note)))


def risk(facts: Facts, figures: Figures) -> Markup:
    """Show the risk of being found again, before and after, and the class sizes behind it."""
    before, after = facts.before, facts.after
    above, who_ = percent(before.threshold), who(facts.release)
    is_above = (before.prosecutor.share_above, after.prosecutor.share_above)
    rows = (
        ("Highest risk", f"of the {who_} easiest to find", before.prosecutor.highest, after.prosecutor.highest),
        ("Mean risk", f"over all {who_}", before.prosecutor.mean, after.prosecutor.mean),
        (f"Above {above}", f"{who_} with a risk above {above}", *is_above),
        ("Alone", f"{who_} that nothing else looks like", before.uniques_share, after.uniques_share),
    )  # fmt: skip
    cards = (_card(*row) for row in rows)
    return section(
        "risk",
        "Risk before and after",
        "How likely is someone to be found again by an attacker who knows that they are in the table, "
        "and knows all their quasi-identifying values?",
        tag("div", *cards, class_="cards"),
        _class_sizes(facts, figures),
    )


def _card(name: str, note: str, before: float, after: float) -> Markup:
    return tag(
        "div",
        tag("h3", name),
        tag("p", note),
        tag(
            "div",
            tag("span", tag("small", "before"), tag("b", percent(before)), class_="was"),
            tag("span", "→", class_="arrow", aria_hidden="true"),
            tag("span", tag("small", "after"), tag("b", percent(after)), class_="is"),
            class_="change",
        ),
        class_="card",
    )


def released(release: Release, figures: Figures) -> list[Markup]:
    """Return what the released rows show by themselves: nothing here looks at the original."""
    after = measured(release.table)
    left_out = release.evidence.suppressed
    highest, found = percent(after.prosecutor.highest), "to be found again"
    if is_counted_privately(release):
        highest, found = f"≤ {percent(1 / smallest(release))}", "to be found again, counted by people"
    tiles = (
        ("Rows", f"{after.n_rows:,}", f"{left_out:,} left out" if left_out else "none left out"),
        ("Classes", f"{after.n_classes:,}", "rows that share all quasi-identifiers"),
        ("Smallest class", f"{after.smallest_class:,}", f"largest: {after.largest_class:,}"),
        ("Highest risk", highest, found),
    )
    return [
        tag("dl", *(tile(*one) for one in tiles), class_="tiles"),
        examples(release),
        _risk_left(release, after, figures),
        _released_shapes(release, figures),
        secrets(release, fewest(release), figures),
    ]


def examples(release: Release) -> Markup:
    """Show the first rows of the release, which come in random order."""
    rows = first_rows(release, _EXAMPLES)
    if not rows:
        return Markup()
    names = list(rows[0])
    cells = [tuple("" if row[name] is None else str(row[name]) for name in names) for row in rows]
    if len(names) > _WIDE:
        cells = list(zip(names, *cells, strict=True))
        names = ["Column", *(f"Row {at}" for at in range(1, len(rows) + 1))]
    return section(
        "examples",
        "What a row looks like",
        f"The first {len(rows)} rows of the released data, which lie in random order.",
        table(names, cells, caption="Examples"),
    )


def _risk_left(release: Release, after: Risk, figures: Figures) -> Markup:
    starts = charts.class_size_bins(smallest(release), after.largest_class)
    labels = charts.class_size_labels(starts)
    shares = charts.shares_by_class_size(release.groups().sizes, starts)
    rows = [
        ("Highest risk", percent(after.prosecutor.highest)),
        ("Mean risk", percent(after.prosecutor.mean)),
        (f"Rows with a risk above {percent(after.threshold)}", percent(after.prosecutor.share_above)),
        ("Rows alone in their class", percent(after.uniques_share)),
    ]
    if is_counted_privately(release):
        rows = [("Highest risk, counted by people", f"at most {percent(1 / smallest(release))}")]
    return section(
        "risk",
        "Risk that is left",
        "How likely is a row to be linked to its person by an attacker who knows that the person is in the table, and "
        "knows all their quasi-identifying values?",
        table(("Measure", "Value"), rows, caption="Re-identification risk"),
        figures.figure(
            "Rows by the size of their class",
            charts.shares(labels, shares),
            "An equivalence class is a set of rows that share all quasi-identifiers.",
            ("Rows in the class", "Share of rows"),
            zip(labels, map(percent, shares), strict=True),
        ),
    )


def _released_shapes(release: Release, figures: Figures) -> Markup:
    drawn: list[Markup] = []
    first = len(figures.specs) + 1
    for name in release.schema.quasi:
        labels, shares = released_shares(release, name, fewest(release))
        drawn.append(
            figures.figure(
                name,
                charts.shares(labels, shares),
                "",
                ("Released cell", "Share of rows"),
                zip(labels, map(percent, shares), strict=True),
            )
        )
    return section(
        "shapes",
        "Distributions",
        f"The released cells of each quasi-identifier by their share of rows. Those of fewer than {fewest(release)} "
        "rows are pooled, or not drawn where they are few.",
        index(figures, release.schema.quasi, first),
        tag("div", *drawn, class_="grid"),
    )


def _class_sizes(facts: Facts, figures: Figures) -> Markup:
    groups = (facts.release.original.counted, facts.release.judged_table.counted)
    who_ = who(facts.release)
    largest = max(facts.before.largest_class, facts.after.largest_class)
    starts = charts.class_size_bins(facts.smallest, largest)
    labels = charts.class_size_labels(starts)
    before, after = (charts.shares_by_class_size(one.sizes, starts) for one in groups)
    says = f"The share of {who_} by how many look exactly like them. A class of one stands alone."
    return joined([
        legend(*_PAIR),
        figures.figure(
            f"How many {who_} look alike",
            charts.class_sizes(labels, before, after, counted=who_),
            says,
            (f"{who_.capitalize()} in the class", "Before", "After"),
            _pairs(labels, before, after),
        ),
    ])  # fmt: skip


def cost(facts: Facts, figures: Figures) -> Markup:
    """Show what the release costs per column and in all."""
    loss = facts.loss
    columns = sorted(loss.columns, key=lambda name: -loss.columns[name])
    shares = [loss.columns[name] for name in columns]
    others = [
        ("Generalized loss, mean of the columns", percent(loss.total)),
        ("Non-uniform entropy lost", percent(loss.entropy.total_normalized)),
        ("Discernibility", number(loss.discernibility)),
        ("Average class size", number(loss.average_class_size)),
        ("Rows left out", f"{loss.suppressed:,}"),
    ]
    if loss.precision is not None:
        others.insert(2, ("Levels climbed, of all there are", percent(loss.precision)))
    return section(
        "cost",
        "What it cost",
        "The detail each quasi-identifier gave up: 0% is every value as it was, 100% is nothing left of it.",
        figures.figure(
            "Loss by column",
            charts.losses(columns, shares),
            "",
            ("Column", "Loss"),
            zip(columns, map(percent, shares), strict=True),
        ),
        table(("Measure", "Value"), others, caption="Loss in all"),
    )  # fmt: skip


def shapes(release: Release, names: Sequence[str], fewest: int, figures: Figures) -> Markup:
    """Show the distributions of columns before and after; no bar stands for fewer people than given."""
    first = len(figures.specs) + 1
    bars = {name: before_and_after(release, name, fewest) for name in names}
    drawn = [_shape(one, name, figures) for name, one in bars.items()]
    listed = [name for name, one in bars.items() if one is not None]
    told = (
        f"Shares of rows. A released cell is spread evenly over the values it may stand for. Values of fewer than "
        f"{fewest} rows are pooled, so that nobody is shown."
    )
    return section(
        "shapes",
        "Distributions before and after",
        told,
        index(figures, listed, first),
        legend(*_PAIR),
        tag("div", *drawn, class_="grid"),
    )


def _shape(bars: Bars | None, name: str, figures: Figures) -> Markup:
    if bars is None:
        return tag("figure", tag("figcaption", tag("h3", name), tag("p", "Too few rows to be shown.")))
    return figures.figure(
        name,
        charts.distribution(bars),
        f"The two distributions overlap by {percent(bars.overlap)}.{_undrawn(bars)}",
        ("Value", "Before", "After"),
        _pairs(bars.labels, bars.before, bars.after),
    )


def _undrawn(bars: Bars) -> str:
    return " A few rows of rarer values are not drawn." if bars.undrawn else ""


def secrets(release: Release, fewest: int, figures: Figures) -> Markup:
    """Show how the sensitive values are spread over the classes."""
    if not release.schema.sensitive:
        return Markup()
    drawn = []
    for name in release.schema.sensitive:
        bars = sensitive_bars(release, name, fewest)
        if bars is None:
            drawn.append(_shape(None, name, figures))
            continue
        rows = zip(bars.labels, map(percent, bars.before), map(percent, bars.after), strict=True)
        head = ("Value", "In the release", "Most in one class")
        drawn.append(figures.figure(name, charts.sensitive(bars), _undrawn(bars).strip(), head, rows))
    return section(
        "sensitive",
        "Sensitive values",
        "Each value's share in the whole release, and its largest share in any one class: the farther the mark from "
        "the bar, the more someone may learn from knowing a person's class. A mark at 100% is a class that shares "
        "the value.",
        legend(("after", "in the release"), ("mark", "most in one class")),
        tag("div", *drawn, class_="grid"),
    )


def _pairs(labels: tuple[str, ...], before: object, after: object) -> list[tuple[str, str, str]]:
    return list(zip(labels, map(percent, before), map(percent, after), strict=True))  # type: ignore[call-overload]


def section(place: str, title: str, told: str, *content: str) -> Markup:
    """Set a section under its heading, after a word on what it tells."""
    heading = tag("h2", title, id=f"{place}-title")
    return tag(
        "section",
        heading,
        tag("p", told, class_="told"),
        *content,
        id=place,
        aria_labelledby=f"{place}-title",
    )
