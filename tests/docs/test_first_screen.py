"""README and the home of the docs: where they lead to is there, every page can be reached, the picture is light."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from discreet.core.errors import OutputError
from discreet.report.pdf import browser

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "index.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert len(links) > 5
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_navigation_has_every_page_once() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r": (\S+\.md)$", settings, re.MULTILINE)
    assert sorted(listed) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


def test_the_picture_of_a_report_is_light() -> None:
    picture = (DOCS / "pictures" / "report.png").read_bytes()
    assert picture.startswith(PNG)
    assert len(picture) < 150_000


def test_the_picture_is_made_by_its_command(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    try:
        browser()
    except OutputError as error:
        pytest.skip(str(error))
    script = runpy.run_path(str(DOCS / "pictures.py"))
    picture = script["draw_report"](tmp_path / "report.png").read_bytes()
    assert picture.startswith(PNG)
    present = (DOCS / "pictures" / "report.png").read_bytes()
    assert picture[16:24] == present[16:24]  # as wide and as high
