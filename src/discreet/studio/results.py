"""Results: what a run left, as figures to compare and as the blocks of the report; made where the release is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from discreet.core.release import Release
from discreet.core.tables.table import Table
from discreet.guarantees import Guarantee
from discreet.job import Made
from discreet.job.exploration import Exploration
from discreet.job.release_checking import ReleaseJudgment
from discreet.kinds.blocks import (
    Block,
    Bullets,
    Definitions,
    Paragraph,
    Section,
    Subsection,
    TableBlock,
    Tiles,
    VerdictBlock,
    share_figure,
)
from discreet.kinds.judging import Judgment
from discreet.kinds.kind import kind_of
from discreet.kinds.sections.risk import guarantee
from discreet.kinds.wording import counted, handing_on, number, percent
from discreet.output.hiding.methods import Compared
from discreet.report.page import environment
from discreet.report.theme import PAGE, encoded_by, page_chart

PACKAGES = ("discreet.studio", "discreet.report")
_MOST_ROWS = 100
_UNSHOWN = ("written", "file", "out", "cautions")


def summary(release: Release) -> dict[str, Any]:
    """Return what is compared between runs, and what the hand-over asks for."""
    kind = kind_of(release)
    word, text = handing_on(release)
    outcome = kind.outcome(release)
    return {
        "verdict": release.verdict.word,
        "ok": release.verdict.ok,
        "promise": release.guarantee.describe(),
        "kind": kind.name,
        "lines": [line for line in kind.lines(release) if line[0]],
        "cautions": [caution.to_dict() for caution in release.cautions],
        "handing_on": [word, text],
        "seeded": release.recipe.get("seed") is not None,
        "loss": outcome.get("loss", {}).get("total") if isinstance(outcome.get("loss"), dict) else None,
        "risk": _highest(outcome.get("risk")),
        "suppressed": release.evidence.suppressed,
        "n_rows": release.evidence.n_rows,
        "levels": None if release.evidence.levels is None else dict(release.evidence.levels),
        "cells": _cells(release),
    }


def _cells(release: Release) -> dict[str, list[str]]:
    """Return what the cells of columns became, in words, each with its columns; empty where there are no columns."""
    became = getattr(kind_of(release), "cells", None)
    columns: dict[str, list[str]] = {}
    if became is None or release.original is None:
        return columns
    for name, column in release.original.schema.items():
        is_published = name in release.schema
        text = became(name, column, release, internal=True) if is_published else "left out"
        columns.setdefault(text, []).append(name)
    return columns


def _highest(risk: Any) -> float | None:
    """Return the highest risk of the released rows, where the kind of data has one."""
    after = risk.get("after") if isinstance(risk, Mapping) else None
    prosecutor = after.get("prosecutor") if isinstance(after, Mapping) else None
    return None if not isinstance(prosecutor, Mapping) else prosecutor.get("highest")


def released_page(release: Release) -> str:
    """Return the blocks of the internal report as HTML, the verdict and the cautions first."""
    from discreet.kinds.sections.risk import cautions

    verdict, *content = kind_of(release).blocks(release, internal=True)
    return fragment([verdict, cautions(release, internal=True), *content])


def made_page(result: Made) -> str:
    """Return the figures of what is no release as HTML."""
    shown = {name: figure for name, figure in result.figures.items() if name not in _UNSHOWN}
    cautions = [caution["text"] for caution in result.figures.get("cautions", ())]
    return fragment(
        [
            Section("cautions", "Before you hand it on", "", [Bullets(cautions)]) if cautions else None,
            Section("result", "What was found", "", list(_figures(shown))),
        ]
    )


def compared_page(results: Sequence[Compared]) -> str:
    """Return what each method of hiding lost, as a picture and its figures; what did not work has its reason."""
    lost = [
        (result.method, result.quality.lost_itemsets / max(result.quality.n_itemsets, 1))
        for result in results
        if result.quality is not None
    ]
    names, shares = zip(*lost, strict=True) if lost else ((), ())
    head = ("Method", "Lost itemsets", "Lost rules", "Ghosts", "Changed", "CPU seconds")
    rows = [
        (
            result.method if result.solved else f"{result.method} (not solved in time; as maxmin2)",
            f"{quality.lost_itemsets:,}",
            f"{quality.lost_rules:,}",
            f"{quality.ghost_itemsets + quality.ghost_rules:,}",
            percent(quality.dissimilarity),
            number(round(result.seconds, 2)),
        )
        for result in results
        if (quality := result.quality) is not None
    ]
    text = "Of the other itemsets that are found in the original, the share that is no longer found."
    failed = [f"{result.method}: {result.problem}" for result in results if result.quality is None]
    return fragment(
        [
            Section(
                "methods",
                "Side by side",
                "Ghosts are itemsets and rules that are found only afterwards. Changed is the sum of the changes "
                "of all items' counts, over the sum of the counts.",
                [
                    share_figure("Lost itemsets", ("Method", "Itemsets lost"), names, shares, text=text),
                    TableBlock(head, rows, "Methods"),
                    *([Bullets(failed)] if failed else []),
                ],
            ),
        ]
    )


def measured_page(table: Table, promise: Guarantee, judgment: Judgment) -> str:
    """Return what a table shows of a guarantee, how exposed its people are, and what it reaches in every measure."""
    from discreet.measure import risk

    exposed, verdict = risk(table), judgment.verdict
    tiles = [
        ("Rows", f"{exposed.n_rows:,}", counted(exposed.n_classes, "class", "classes")),
        ("Unique", percent(exposed.uniques_share), f"{counted(exposed.uniques, 'row')} alone in their class"),
        ("Prosecutor", percent(exposed.prosecutor.highest), f"mean {percent(exposed.prosecutor.mean)}"),
        ("Marketer", percent(exposed.marketer), "of the rows found again, on average"),
    ]
    reached = [
        (measure.name, measure.column or "–", f"{measure.reach} {number(measure.worst)}")
        for measure in judgment.measures
        if measure.is_informative
    ]
    return fragment(
        [
            None if verdict is None else _as_it_is(guarantee(promise, verdict)),
            Tiles(tiles),
            Section(
                "measures",
                "What the table reaches",
                "By every guarantee, with the parameters that it would just keep.",
                [TableBlock(("Guarantee", "About", "Kept with"), reached, "Measures")],
            ),
        ]
    )


def _as_it_is(verdict: VerdictBlock) -> VerdictBlock:
    return replace(verdict, basis=verdict.basis.replace("the released data alone", "the table as it is"))


def judged(judgment: ReleaseJudgment) -> str:
    """Return what the files of a release show as HTML."""
    verdict = judgment.verdict
    rows = [
        (part.word, str(part.guarantee), f"{part.measure} {number(part.worst)}")
        for part in verdict.parts or (verdict,)
    ]
    files: list[Block] = []
    if judgment.changed:
        files.append(
            Paragraph(f"Changed or missing since the release was written: {', '.join(judgment.changed)}.")
        )
    if judgment.added:
        files.append(Paragraph(f"Not written with the release: {', '.join(judgment.added)}."))
    if judgment.record.wrong:
        files.append(Paragraph(f"release.json is wrong about {', '.join(judgment.record.wrong)}."))
    counts = [(name, f"{count:,}") for name, count in judgment.counts.items()]
    return fragment(
        [
            Section(
                "judgment",
                f"The release is {judgment.word}",
                judgment.why or "Recomputed from the files of the release.",
                [
                    Definitions(counts, "about"),
                    TableBlock(("Word", "Guarantee", "Measured"), rows, "Guarantees"),
                    *files,
                    Subsection("Recomputed from the files, and right", [_names(judgment.record.verified)]),
                    Subsection("Only claimed by release.json", [_names(judgment.record.claimed)]),
                ],
            )
        ]
    )


def _names(fields: Sequence[str]) -> Paragraph:
    return Paragraph(", ".join(fields) or "nothing")


def fragment(content: Sequence[Block | None]) -> str:
    """Return blocks as HTML, every value escaped."""
    blocks = [block for block in content if block is not None]
    return environment(*PACKAGES).get_template("fragment.html").render(content=blocks)


def _figures(figures: Mapping[str, Any], title: str = "") -> Iterator[Block]:
    """Return plain figures as blocks: single ones by name, lists of records as tables."""
    single = [
        (_words(name), _text(figure))
        for name, figure in figures.items()
        if not _is_nested(figure) and figure is not None
    ]
    if single:
        yield Definitions(single, "about")
    for name, figure in figures.items():
        if isinstance(figure, Mapping) and figure:
            yield Subsection(_words(name), list(_figures(figure, name)))
        elif _is_nested(figure) and figure and isinstance(figure[0], Mapping):
            head = list(figure[0])
            rows = [tuple(_text(row.get(column)) for column in head) for row in figure[:_MOST_ROWS]]
            yield Subsection(_words(name), [TableBlock(tuple(map(_words, head)), rows, _words(name))])
        elif _is_nested(figure) and figure:
            yield Subsection(_words(name), [Bullets([_text(entry) for entry in figure[:_MOST_ROWS]])])


def _is_nested(figure: Any) -> bool:
    return isinstance(figure, Mapping | list | tuple)


def _words(name: object) -> str:
    return str(name).replace("_", " ")


def _text(figure: Any) -> str:
    if isinstance(figure, bool) or figure is None:
        return {True: "yes", False: "no", None: "–"}[figure]
    if isinstance(figure, int | float):
        return number(figure)
    if isinstance(figure, list | tuple):
        return ", ".join(map(_text, figure))
    return str(figure)


def explored(exploration: Exploration) -> dict[str, Any]:
    """Return the choices of an exploration as plain data, numbered so that a page can name them."""
    choices: dict[str, dict[str, Any]] = {}
    for part in exploration.parts:
        for choice in part.choices:
            plain = choice.to_dict()
            if math.isfinite(choice.costs["loss"]):
                # Another share of rows that may be left out often leads to the same.
                key = str([plain[name] for name in ("method", "levels", "suppressed", "classes")])
                choices.setdefault(key, {**plain, "share": part.max_suppressed})
    return {
        "n_rows": exploration.n_rows,
        "n_nodes": exploration.n_nodes,
        "heights": dict(exploration.heights),
        "whole": exploration.whole,
        "untried": list(exploration.untried),
        "choices": sorted(choices.values(), key=lambda choice: choice["costs"]["loss"]),
    }


def explored_page(exploration: Exploration, table: Table) -> str:
    """Return the lattice that an exploration looked at as HTML; empty where it looked at no node."""
    from discreet.kinds.sections.nodes import lattice_section, nodes_seen

    seen = exploration.seen
    nodes = None if seen is None else nodes_seen(table, seen, "loss")
    if nodes is None:
        return ""
    most = percent(max(part.max_suppressed for part in exploration.parts))
    title = f"The lattice, with at most {most} of the rows left out"
    return fragment([lattice_section(nodes, title, is_best_known=exploration.whole)])


def choices_chart(choices: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the chart of choices by what they cost and how exposed they leave people."""
    rows = [
        {
            "number": position,
            "method": choice["method"],
            "loss": round(choice["costs"]["loss"], 5),
            "risk": round(choice["risk"]["mean"], 6),
            "out": choice["suppressed"],
        }
        for position, choice in enumerate(choices, start=1)
    ]
    # Of solutions at one point, the first is named: the numbers of several could not be read.
    points = [(row["loss"], row["risk"]) for row in rows]
    for at, row in enumerate(rows):
        row["label"] = "" if points[at] in points[:at] else str(row["number"])
    percent = {"format": "~%", "tickCount": 5}
    x = encoded_by("loss:Q", title="loss of detail", axis=percent, scale={"zero": False, "nice": True})
    y = encoded_by("risk:Q", title="mean risk", axis=percent, scale={"zero": False, "nice": True})
    tooltip = [
        encoded_by("number:Q", title="solution"),
        encoded_by("method:N", title="method"),
        encoded_by("loss:Q", title="loss of detail", format=".1%"),
        encoded_by("risk:Q", title="mean risk", format=".2%"),
        encoded_by("out:Q", title="rows left out", format=","),
    ]
    dots = {"type": "point", "filled": True, "size": 260, "color": PAGE["after"], "opacity": 0.85}
    labels = {"type": "text", "color": PAGE["panel"], "fontSize": 11, "fontWeight": 600}
    spec = {
        "encoding": {"x": x, "y": y, "tooltip": tooltip},
        "layer": [{"mark": dots}, {"mark": labels, "encoding": {"text": encoded_by("label:N")}}],
    }
    return page_chart(spec, rows, height=300, description="Solutions by loss of detail and mean risk.")
