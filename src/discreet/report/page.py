"""The report: one HTML file that works offline, in light and dark, on paper, and holds no record."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from discreet import __version__
from discreet.core.params import InstanceOf, require
from discreet.core.release import Release
from discreet.guarantees import RulesHidden
from discreet.measure import loss, risk
from discreet.report import provenance, pseudo, sections
from discreet.report.bundle import javascript
from discreet.report.figures import Figures
from discreet.report.markup import Markup, joined, script_json, tag
from discreet.report.trade_off import trade_off

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data:"
)
_PLACES = (
    ("promise", "Promise"),
    ("risk", "Risk"),
    ("cost", "Cost"),
    ("groups", "Groups"),
    ("lattice", "Choices"),
    ("shapes", "Distributions"),
    ("sensitive", "Sensitive"),
    ("columns", "Columns"),
    ("method", "Method"),
)
_THEME = (
    "try{let t=localStorage.getItem('discreet-theme');if(t)document.documentElement.dataset.theme=t}catch{}"
)


def render(release: Release) -> str:
    """Write the report of a release as one self-contained HTML page.

    The page says what was promised and whether it is kept, the risk before and after, what it cost, and how to do
    it again. It holds aggregates only: no record, no identifier, and no value that only a few people have.
    """
    require("render", "release", release, InstanceOf((Release,), "a Release"))
    if isinstance(release.guarantee, RulesHidden):
        from discreet.report.hiding import render_hiding

        return render_hiding(release)
    figures = Figures()
    told = pseudo.content(release, figures) if release.evidence.pseudo else _content(release, figures)
    return whole_page(tag("main", *told, id="main"), figures, _PLACES, ok=release.verdict.ok)


def _content(release: Release, figures: Figures) -> list[Markup]:
    """Give the sections of a report on people's own rows, in the order they are read."""
    facts = sections.Facts(release, risk(release.original), risk(release), loss(release))
    return [
        sections.promise(release.guarantee, release.verdict),
        sections.summary(facts),
        sections.risk(facts, figures),
        sections.cost(facts, figures),
        trade_off(release, figures),
        sections.shapes(release, release.schema.quasi, facts.fewest, figures),
        sections.secrets(facts, figures),
        provenance.columns(release),
        provenance.method(release),
    ]


def whole_page(main: Markup, figures: Figures, places: Sequence[tuple[str, str]], *, ok: bool) -> str:
    """Put a report's sections into a page with a head, a way to them, and the charts' script.

    ``places`` are the sections that may be there, by their place in the page and the name shown for it.
    """
    body = tag("body", _header(main, places), main, _footer(), _scripts(figures))
    return f"<!DOCTYPE html>\n{tag('html', _head(ok=ok), body, lang='en')}\n"


def _head(*, ok: bool) -> Markup:
    state = "kept" if ok else "broken"
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"Discreet {__version__}"),
        tag("title", f"Release report: the promise is {state}"),
        tag("style", Markup(_resource("style.css"))),
        tag("script", Markup(_THEME)),
    )


def _header(main: Markup, places: Sequence[tuple[str, str]]) -> Markup:
    links = (tag("a", name, href=f"#{place}") for place, name in places if f' id="{place}"' in main)
    return joined([
        tag("a", "Skip to the report", href="#main", class_="skip"),
        tag(
            "header",
            tag("span", "Discreet", class_="brand"),
            tag("nav", *links, aria_label="Sections"),
            tag("button", "Dark", type="button", id="theme", aria_label="Switch between light and dark"),
        ),
    ])  # fmt: skip


def _footer() -> Markup:
    return tag(
        "footer",
        tag("p", "This report holds aggregates only: no record of the original or of the release, and nothing that "
            "only a few people have. It loads nothing from the network."),
        tag("p", f"Made with Discreet {__version__}."),
    )  # fmt: skip


def _scripts(figures: Figures) -> Markup:
    return joined([
        tag("noscript", tag("p", "The charts need JavaScript; the tables under them hold the same numbers.")),
        tag("script", script_json(figures.specs), type="application/json", id="charts"),
        tag("script", Markup(javascript())),
        tag("script", Markup(_resource("page.js"))),
    ])  # fmt: skip


def _resource(name: str) -> str:
    return files("discreet.report").joinpath(name).read_text(encoding="utf-8")
