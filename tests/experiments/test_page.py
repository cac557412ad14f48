"""The page of an experiment."""

from __future__ import annotations

import base64
import re
from pathlib import Path

from discreet.report.theme import altair_chart, picture
from experiments.page import Page


def test_a_page_shows_pictures_as_their_files_do(tmp_path: Path) -> None:
    page = Page(tmp_path, command="x")
    chart = altair_chart([{"x": 1, "y": 2}, {"x": 2, "y": 3}]).mark_line().encode(x="x:Q", y="y:Q")
    spec = picture(chart, title="Title", description="A line.", width=460, height=200)
    page.picture("line", "Title", spec)
    (shown,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page.finish().read_text())
    inside, file = base64.b64decode(shown).decode(), (tmp_path / "line.svg").read_text()
    sizes = [int(re.search(r'width="(\d+)"', svg)[1]) for svg in (inside, file)]
    assert sizes[0] == sizes[1] > 460
    # The colors of a page mean nothing inside an image.
    assert "var(" not in inside
