"""The report of a release: one HTML file that works offline, in light and dark, and on paper."""

from __future__ import annotations

from collections.abc import Iterable

from discreet import __version__
from discreet.core.params import InstanceOf, require
from discreet.core.release import Release
from discreet.kinds.about import About
from discreet.kinds.blocks import Block, Definitions, Paragraph, has_charts
from discreet.kinds.kind import kind_of
from discreet.kinds.sections.guarantee import cautions, headline
from discreet.kinds.sections.rerun import rerun
from discreet.report.bundle import javascript
from discreet.report.html import render_template, trusted

_INTERNAL = (
    "Internal report: do not hand it on. It compares the release with the original, and figures before and after can "
    "be subtracted from each other."
)
_FOOTERS = {
    True: "This report compares with the original data. Store it with the original.",
    False: "Everything in this report follows from the released data, the parameters and the number of suppressed "
    "records; nothing else of the original is in it.",
}


def render_report(release: Release, *, internal: bool = False, about: About | None = None) -> str:
    """Return the report of a release as one self-contained HTML page.

    The public report shows what the released data shows by itself. The internal one compares with the original: the
    risk before, the loss, the distributions side by side. It says that it must not be handed on.
    """
    require("render", "release", release, InstanceOf((Release,), "a Release"))
    about = about or About()
    kind = kind_of(release)
    headlined = release.verdict if internal else kind.verdict_for_others(release.verdict)
    verdict, *content = kind.blocks(release, internal=internal)
    terms = kind.terms(release)
    blocks = [
        Paragraph(_INTERNAL, "internal") if internal else None,
        _heading(about, kind.title, internal=internal),
        verdict,
        Definitions(list(terms.items()), "words") if terms else None,
        cautions(release, internal=internal),
        *content,
        rerun(release, about) if internal else None,
    ]
    title = f"{about.name or 'Release'}: {headline(headlined)}"
    return page(blocks, title=title, footer=_FOOTERS[internal])


def _heading(about: About, title: str, *, internal: bool) -> Definitions:
    """Return what the page is about: the data, the day, and whether it may be handed on.

    ``title`` names the kind of data, where nobody named the data itself.
    """
    entries = [("Data", about.name or f"{title} without a name")]
    if internal and about.source is not None:
        entries.append(("File", about.source))
    if about.date is not None:
        entries.append(("Released on", about.date.isoformat()))
    handed_on = (
        "No. It compares with the original and stays with its owner."
        if internal
        else "Yes: this page, release.json and the data in the same folder. The folder that ends in .private stays "
        "with the owner."
    )
    return Definitions([*entries, ("May it be handed on?", handed_on)], "about")


def page(blocks: Iterable[Block | None], *, title: str, footer: str) -> str:
    """Return a self-contained HTML page with the blocks that are not None, and links to its sections."""
    content = [block for block in blocks if block is not None]
    return render_template(
        "page.html",
        title=title,
        content=content,
        footer=f"{footer} It loads nothing from the network.",
        library=trusted(javascript()) if has_charts(content) else "",
        version=__version__,
    )
