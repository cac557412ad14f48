"""The report: one HTML file that works offline, in light and dark, and on paper."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from discreet import __version__
from discreet.core.params import InstanceOf, require
from discreet.core.release import Release
from discreet.report.bundle import javascript
from discreet.report.figures import Figures
from discreet.report.kinds import kind_of
from discreet.report.markup import Markup, joined, script_json, tag
from discreet.report.parts.about import About, heading, words
from discreet.report.parts.again import again
from discreet.report.sections import cautioned

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data:"
)
_THEME = (
    "try{let t=localStorage.getItem('discreet-theme');if(t)document.documentElement.dataset.theme=t}catch{}"
)


def render(release: Release, *, internal: bool = False, about: About | None = None) -> str:
    """Write the report of a release as one self-contained HTML page.

    The report that is handed on shows what the released data shows by itself. The internal one compares with the
    original: the risk before, the loss, the distributions side by side. It says that it is to be kept.
    """
    require("render", "release", release, InstanceOf((Release,), "a Release"))
    figures = Figures()
    kind = kind_of(release)
    content = kind.content(release, figures, internal=internal)
    known = about or About()
    content.insert(1, words(release))
    content.insert(2, cautioned(release, internal=internal))
    content.insert(0, heading(known, release.kind, internal=internal))
    if internal:
        content.insert(0, _internal())
        content.append(again(release, known))
    title = f"{known.name or 'Release'}: the guarantee is {'kept' if release.verdict.ok else 'broken'}"
    return whole_page(
        tag("main", *content, id="main"),
        figures,
        (*kind.sections, ("again", "Again")),
        title=title,
        internal=internal,
    )


def _internal() -> Markup:
    words = (
        "Internal report: do not hand it on. It compares the release with the original, and figures before and after "
        "can be subtracted from each other."
    )
    return tag("p", tag("strong", words), class_="internal", role="note")


def whole_page(
    main: Markup,
    figures: Figures,
    places: Sequence[tuple[str, str]],
    *,
    title: str,
    internal: bool = False,
    footer: str = "",
) -> str:
    """Put a report's sections into a page with a head, a way to them, and the charts' script.

    ``places`` are the sections that may be there, by their place in the page and the name shown for it. Without a
    ``footer`` the page ends as that of a release.
    """
    end = _footer(footer or _provenance(internal=internal))
    body = tag("body", _header(main, places), main, end, _scripts(figures))
    return f"<!DOCTYPE html>\n{tag('html', _head(title), body, lang='en')}\n"


def _head(title: str) -> Markup:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"Discreet {__version__}"),
        tag("title", title),
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


def _provenance(*, internal: bool) -> str:
    return (
        "This report compares with the original data. Keep it where the original is kept."
        if internal
        else "Everything in this report follows from the released data, the parameters and the number of records left "
        "out; nothing else of the original is in it."
    )


def _footer(words: str) -> Markup:
    return tag(
        "footer",
        tag("p", f"{words} It loads nothing from the network."),
        tag("p", f"Made with Discreet {__version__}."),
    )  # fmt: skip


def _scripts(figures: Figures) -> Markup:
    told = tag("p", "The charts need JavaScript; the tables under them hold the same numbers.")
    return joined([
        tag("noscript", told) if figures.specs else "",
        tag("script", script_json(figures.specs), type="application/json", id="charts"),
        tag("script", Markup(javascript())) if figures.specs else "",
        tag("script", Markup(_resource("page.js"))),
    ])  # fmt: skip


def _resource(name: str) -> str:
    return files("discreet.report").joinpath(name).read_text(encoding="utf-8")
