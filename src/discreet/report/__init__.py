"""The report of a release: one self-contained HTML file, and the folder it is written into."""

from __future__ import annotations

from discreet.core.boundary import public
from discreet.core.release import Release

__all__ = ["render"]


@public
def render(release: Release, *, internal: bool = False) -> str:
    """Return the report of a release as one self-contained HTML page; an internal one compares with the original."""
    from discreet.report.page import render_report as rendered

    return rendered(release, internal=internal)
