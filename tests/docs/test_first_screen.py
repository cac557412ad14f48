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


def test_pages_show_what_they_speak_of() -> None:
    """Issue 30 (11): one page showed a picture; those of terminals and plots are made by the same script."""
    script = runpy.run_path(str(DOCS / "pictures.py"))
    studio = [f"studio-{name}.png" for name in script["STUDIO"]]
    for name in (*script["TERMINALS"], *studio, "reconstruction.svg", "privacy-plane.png"):
        picture = (DOCS / "pictures" / name).read_bytes()
        assert len(picture) < 100_000
        assert b"https://cdn" not in picture
        assert any(f"pictures/{name})" in page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))


@pytest.mark.slow
def test_the_studio_is_drawn_by_its_command(tmp_path: Path) -> None:
    pytest.importorskip("starlette")
    try:
        browser()
    except OutputError as error:
        pytest.skip(str(error))
    script = runpy.run_path(str(DOCS / "pictures.py"))
    drawn = script["draw_studio"](tmp_path)
    assert [path.name for path in drawn] == [f"studio-{name}.png" for name in script["STUDIO"]]
    for path in drawn:
        assert path.read_bytes()[16:24] == (DOCS / "pictures" / path.name).read_bytes()[16:24]


def test_terminals_are_drawn_by_their_commands(tmp_path: Path) -> None:
    script = runpy.run_path(str(DOCS / "pictures.py"))
    drawn = script["draw_terminals"](tmp_path)
    assert [path.name for path in drawn] == list(script["TERMINALS"])
    assert "mondrian" in (tmp_path / "terminal-explore.svg").read_text(encoding="utf-8")
    assert "verified" in (tmp_path / "terminal-check.svg").read_text(encoding="utf-8")


AWKWARD = (
    "by the released data and whose rows they are, which is not published",
    ", each with l-diversity",
    "well  meeting of",
    "alone found by",
    "Without any column",
    "is as good as known of whoever is known to be in the file",
    "without giving anyone away",
    "found by itself otherwise",
    "A cell that stands for nothing",
    "what was recorded is said",
)


def test_sentences_that_nobody_understood_are_gone() -> None:
    """First use (25)."""
    pages = [ROOT / "README.md", *DOCS.rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    assert [(page.name, words) for page, text in texts.items() for words in AWKWARD if words in text] == []
