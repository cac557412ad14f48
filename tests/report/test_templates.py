"""The templates: every value of every block is escaped, and nothing but our own scripts is trusted."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from jinja2 import UndefinedError
from tests.report.releases import EVIL

import discreet
from discreet import Baskets
from discreet.kinds import blocks
from discreet.output.hiding import BorderHiding
from discreet.parties.transcript import FrameShape
from discreet.publish import Cahd
from discreet.report import render
from discreet.report.page import page, render_template, trusted
from discreet.report.party_run import message_chart
from discreet.report.pictures import write_picture
from discreet.report.theme import altair_chart, picture

SOURCE = Path(discreet.__file__).parent
TEMPLATES = sorted(path.name for path in Path(str(files("discreet.report") / "templates")).iterdir())
BAD = "".join(EVIL) + "\u0007"
TABLE = blocks.TableBlock((BAD, BAD), [(BAD, BAD)], BAD)
FIGURE = blocks.Figure(BAD, BAD, {"description": BAD, "data": {"values": [{"x": BAD}]}}, TABLE)
BLOCKS: dict[type[blocks.Block], blocks.Block] = {
    blocks.Section: blocks.Section("plain", BAD, BAD, [blocks.Paragraph(BAD)]),
    blocks.Subsection: blocks.Subsection(BAD, [blocks.Paragraph(BAD)], BAD),
    blocks.Paragraph: blocks.Paragraph(BAD, BAD),
    blocks.Bullets: blocks.Bullets([BAD]),
    blocks.Code: blocks.Code(BAD),
    blocks.TableBlock: TABLE,
    blocks.Definitions: blocks.Definitions([(BAD, BAD)], BAD),
    blocks.Tiles: blocks.Tiles([(BAD, BAD, BAD)]),
    blocks.Cards: blocks.Cards([(BAD, BAD, BAD, BAD)]),
    blocks.Legend: blocks.Legend([(BAD, BAD)]),
    blocks.Figure: FIGURE,
    blocks.Grid: blocks.Grid(BAD, [FIGURE] * 9),
    blocks.VerdictBlock: blocks.VerdictBlock(BAD, BAD, BAD, [(BAD, [(BAD, BAD, BAD)])], BAD),
    blocks.Messages: blocks.Messages([(BAD, 90)], [(90, 330, 210, 82, BAD)], 420, 160),
}


class _Parsed(HTMLParser):
    """The elements of a page with their attributes, its text, and what stands in its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.names: set[str] = set()
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.names |= {name for name, _ in attrs}
        self.text += "".join(value or "" for _, value in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def _shown(block: blocks.Block) -> str:
    """Return the page of a block without the charts' library."""
    library = "window.vegaEmbed = null;"
    text = render_template(
        "page.html", title=BAD, content=[block], footer=BAD, library=trusted(library), version=BAD
    )
    return text.replace(library, "")


def test_every_kind_of_block_is_attacked() -> None:
    assert set(BLOCKS) == set(blocks.Block.__subclasses__())


@pytest.mark.parametrize("kind", BLOCKS, ids=lambda kind: kind.__name__)
def test_no_block_lets_a_value_out(kind: type[blocks.Block]) -> None:
    text = _shown(BLOCKS[kind])
    empty, full = _Parsed(_shown(blocks.Paragraph("plain"))), _Parsed(text)
    assert not any(evil in text for evil in EVIL)
    assert not any(mark in text for mark in "\u202e\u0007")
    charts = text.count('<script type="application/json">')
    assert full.tags.count("script") == empty.tags.count("script") + charts
    assert not {"img", "iframe", "object", "form", "link", "base"} & set(full.tags)
    assert not [name for name in full.names if name.startswith("on") or name == "src"]
    assert EVIL[0] in full.text
    for spec in re.findall(r'"application/json">(.*?)</script>', text, re.DOTALL):
        assert EVIL[1] in json.loads(spec)["description"]


def test_a_chart_of_messages_is_sound_xml_with_escaped_names() -> None:
    drawn = message_chart([FrameShape(BAD, EVIL[1], BAD, 64)], (BAD, EVIL[1]))
    root = ET.fromstring(drawn)
    assert {one.tag.rpartition("}")[2] for one in root.iter()} == {
        "svg", "title", "defs", "marker", "path", "text", "line",
    }  # fmt: skip
    assert EVIL[0] in "".join(root.itertext())


def test_a_picture_written_as_a_page_is_escaped(tmp_path: Path) -> None:
    chart = altair_chart([{"x": EVIL[0]}]).mark_point().encode(x="x:N")
    path = write_picture(
        picture(chart, title=EVIL[0], subtitle=EVIL[1], description=EVIL[0]), tmp_path / "a.html"
    )
    text = path.read_text(encoding="utf-8")
    assert EVIL[0] not in text
    assert EVIL[1] not in text
    assert "img" not in _Parsed(text).tags


@pytest.mark.parametrize("internal", [False, True])
def test_no_item_of_a_basket_gets_out(internal: bool) -> None:
    lists = [[EVIL[0], "a", EVIL[1]], ["a"], ["a", EVIL[2]], ["b"]] * 15
    made = Cahd(3, sensitive=[EVIL[0]], random_state=1).release(Baskets.from_lists(lists))
    hidden = BorderHiding([f"{EVIL[2]}, a"], min_support=5, random_state=1)
    for release in (made, hidden.hide(Baskets.from_lists(lists))):
        text = render(release, internal=internal)
        assert not any(evil in text for evil in EVIL)
        assert "img" not in _Parsed(text).tags


@pytest.mark.parametrize("name", TEMPLATES)
def test_no_template_turns_escaping_off(name: str) -> None:
    text = (SOURCE / "report" / "templates" / name).read_text(encoding="utf-8")
    assert not re.search(r"\|\s*safe|autoescape|Markup|\{%-?\s*(filter|extends)", text)
    outputs = re.findall(r"\{\{.*?\}\}", text, re.DOTALL)
    filters = {one for output in outputs for one in re.findall(r"\|\s*(\w+)", output)}
    assert filters <= {"script_json", "capitalize", "default"}


def test_the_templates_are_those_of_one_page() -> None:
    assert TEMPLATES == ["blocks.html", "messages.svg", "page.html", "page.js", "style.css"]


def test_markup_is_trusted_in_one_function() -> None:
    found: dict[str, int] = {}
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for word in ("Markup(", "trusted("):
            if word in text:
                found[f"{path.relative_to(SOURCE).as_posix()} {word}"] = text.count(word)
    assert found == {
        "report/page.py Markup(": 1,
        "report/page.py trusted(": 3,
        "studio/run_pages.py trusted(": 2,
    }


def test_colors_are_named_in_the_theme_alone() -> None:
    for folder in (SOURCE / "report", SOURCE / "parties", SOURCE.parents[1] / "experiments"):
        for path in folder.rglob("*"):
            if path.suffix in (".py", ".css", ".html", ".svg") and path.name != "theme.py":
                assert not re.search(r"#[0-9a-fA-F]{6}\b", path.read_text(encoding="utf-8")), path


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render_template("page.html", content=[], footer="", library="", version="")


def test_a_page_without_charts_has_no_library_and_is_the_same_every_time() -> None:
    content = [blocks.Section("one-two", "One", "", [TABLE]), None]
    text = page(content, title="A page", footer="The end.")
    assert text == page(content, title="A page", footer="The end.")
    assert len(text) < 40_000
    assert '<a href="#one-two">One two</a>' in text


def test_templates_are_loaded_with_the_first_page_only() -> None:
    code = "import sys, discreet.cli, discreet.report.page; assert 'jinja2' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
