from __future__ import annotations

import dataclasses
import json
import re
from html.parser import HTMLParser

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from tests.report.releases import EVIL, PLANTED, evil_release, planted_columns, planted_frame, released

from discreet import Table, quasi, sensitive
from discreet.core.release import Release
from discreet.datasets import hospital, hospital_columns
from discreet.guarantees import EntropyDiversity, KAnonymity
from discreet.publish import Generalization, Mondrian
from discreet.report import render
from discreet.report.page import javascript

_VOID = {"meta"}
_SVG = {"path", "circle"}


class _Page(HTMLParser):
    """Collects what a page holds, and whether its elements nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.content: dict[str, list[str]] = {}
        self.ids: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _VOID:
            self.open.append(tag)
        self._keep(tag, attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _VOID | _SVG
        self._keep(tag, attrs)

    def _keep(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.content.setdefault(self.open[-1] if self.open else "", []).append(data)

    def specs(self) -> list[dict[str, object]]:
        return [json.loads(one) for one in self.content["script"] if one.startswith("{")]


def _own(page: str) -> str:
    """Return the page without the charts' library."""
    assert page.count(javascript()) == 1
    return page.replace(javascript(), "")


@pytest.fixture(scope="module")
def release() -> Release:
    guarantee = KAnonymity(5) & EntropyDiversity(2, of="diagnosis")
    return Mondrian(guarantee, random_state=7).release(Table(hospital(3_000), hospital_columns()))


@pytest.fixture(scope="module", params=[False, True], ids=["public", "internal"])
def page(release: Release, request: pytest.FixtureRequest) -> str:
    return render(release, internal=request.param)


def test_only_the_internal_report_compares_with_the_original(release: Release) -> None:
    public, internal = _own(render(release)), _own(render(release, internal=True))
    assert "do not hand it on" in internal
    assert "do not hand it on" not in public
    for words in (">before<", "Loss of detail", 'id="cost"'):
        assert words in internal
        assert words not in public


def test_loads_nothing_and_is_small(page: str) -> None:
    parsed = _Page(page)
    assert len(page.encode()) < 2_000_000
    assert not [one for one in parsed.attributes if one[1] in ("src", "srcset", "action", "data", "poster")]
    assert all(value.startswith("#") for _, name, value in parsed.attributes if name == "href")
    assert not {tag for tag, _, _ in parsed.attributes} & {"link", "img", "iframe", "object", "base", "form"}
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", _own(page))
    policy = next(
        value for _, name, value in parsed.attributes if name == "content" and "default-src" in value
    )
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy


def test_nests_and_names_every_place_once(page: str) -> None:
    parsed = _Page(page)
    assert parsed.open == []
    assert len(set(parsed.ids)) == len(parsed.ids)
    named = {value[1:] for _, name, value in parsed.attributes if name == "href"}
    named |= {value for _, name, value in parsed.attributes if name == "aria-labelledby"}
    assert named <= set(parsed.ids)
    assert len(parsed.specs()) == page.count('class="chart" role="img"')


def test_states_the_guarantee_first(page: str, release: Release) -> None:
    own = _own(page)
    assert release.guarantee.describe() in own
    assert "Recomputed from the released data alone." in own
    assert '<strong>verified</strong>' in own  # fmt: skip
    internal = "do not hand it on" in own
    places = [
        "guarantee",
        "risk",
        *(["cost"] if internal else []),
        "distributions",
        "sensitive",
        "columns",
        "method",
    ]
    found = [own.index(f'id="{place}"') for place in places]
    assert found == sorted(found)
    assert found[0] < own.index("Classes")
    assert "discreet apply release new.csv" in own


def test_charts_are_sound_and_have_tables(page: str) -> None:
    import vl_convert

    specs = _Page(page).specs()
    assert len(specs) == (2 if "do not hand it on" in page else 1) + 7 + 1
    assert page.count("<details>") == len(specs)
    for spec in specs:
        assert "$schema" not in spec
        assert spec["description"]
        assert vl_convert.vegalite_to_vega(spec)["marks"]


def test_is_the_same_every_time(page: str, release: Release) -> None:
    assert page in (render(release), render(release, internal=True))


def test_follows_light_dark_and_paper(page: str) -> None:
    style = _Page(page).content["style"][0]
    assert "@media (prefers-color-scheme: dark)" in style
    assert ':root[data-theme="dark"]' in style
    assert "@media print" in style
    assert "@media (max-width" in style
    assert ":focus-visible" in style
    used = set(re.findall(r"var\(--([a-z-]+)[,)]", page))
    assert {"ink", "soft", "before", "after"} <= used
    assert used - {"tone", "wash"} <= set(_themes(style)[0])
    assert len({frozenset(theme) for theme in _themes(style)}) == 1
    assert _themes(style)[1] == _themes(style)[2]


def test_colors_can_be_told_from_their_ground(page: str) -> None:
    for theme in _themes(_Page(page).content["style"][0]):
        for ground in ("paper", "panel"):
            for text in ("ink", "soft", "accent", "alarm"):
                assert _contrast(theme[text], theme[ground]) >= 4.5, (text, ground)
            for bar in ("before", "after", "mark"):
                assert _contrast(theme[bar], theme[ground]) >= 3, (bar, ground)


def _themes(style: str) -> list[dict[str, str]]:
    blocks = re.findall(r"color-scheme: (?:light|dark);(.*?)}", style, re.DOTALL)
    assert len(blocks) == 4
    return [dict(re.findall(r"--([a-z-]+): ([^;]+);", block)) for block in blocks]


def _contrast(one: str, other: str) -> float:
    def light(color: str) -> float:
        parts = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_names_and_values_cannot_break_out() -> None:
    page = render(evil_release(), internal=True)
    parsed = _Page(page)
    assert len(parsed.content["script"]) == 3 + len(parsed.specs())
    assert "<img" not in _own(page)
    assert "\u202e" not in _own(page)
    assert any(EVIL[0] in text for text in parsed.content["h3"])
    values = json.dumps(parsed.specs(), ensure_ascii=False)
    assert json.dumps(EVIL[1])[1:-1] in values


@pytest.mark.parametrize("k", [2, 5])
def test_holds_no_planted_value(k: int) -> None:
    frame = planted_frame()
    table = Table(frame, planted_columns())  # type: ignore[arg-type]
    levels = {"age": 3, "income": 1, "born": 1, "town": 1, "job": 1}
    for release in (
        Mondrian(KAnonymity(k)).release(table),
        Mondrian(KAnonymity(k), summary="mean", strict=False).release(table),
        Generalization(KAnonymity(k), levels=levels, max_suppressed=0.5).release(table),
    ):
        page = _own(render(release, internal=True))
        for planted in PLANTED:
            assert planted not in page
            assert f"{planted:0>9}" not in page
        assert "7,654,321" not in page
        assert "1877" not in page
        assert not re.search(r"person \d", page)


def test_frames_of_every_kind_give_the_same_page() -> None:
    frame = planted_frame()
    pages = [
        render(released(one, planted_columns()))
        for one in (frame, pl.from_arrow(frame), frame.to_pandas(), duckdb.from_arrow(frame))
    ]
    assert pages[1:] == pages[:1] * 3


def test_a_broken_release_says_so(release: Release) -> None:
    broken = dataclasses.replace(release, guarantee=KAnonymity(500))
    own = _own(render(broken))
    assert "<strong>broken</strong>" in own
    assert "The guarantee is verified" not in own
    assert "at least 500" in own


def test_everything_hidden_is_reported_too() -> None:
    frame = pa.table({"age": list(range(40)), "town": ["a", "b"] * 20, "disease": ["flu", None] * 20})
    table = Table(frame, {"age": quasi(), "town": quasi(), "disease": sensitive()})
    release = Generalization(KAnonymity(40), levels={"age": 1, "town": 1}).release(table)
    assert set(release.frame["age"].to_pylist()) == {"*"}
    own = _own(render(release, internal=True))
    assert "hidden (*)" in own
    assert "100%" in own


def test_a_tiny_table_shows_nobody() -> None:
    towns, diseases = ["aardvark", "baobab", "cicada"], ["xebec", "yarrow", "zeugma"]
    frame = pa.table({"age": [1, 2, 3], "town": towns, "disease": diseases})
    table = Table(frame, {"age": quasi(), "town": quasi(), "disease": sensitive()})
    own = _own(render(Mondrian(KAnonymity(3)).release(table), internal=True))
    assert own.count("Too few rows to be shown.") == 3
    assert not [value for value in towns + diseases if value in own]


def test_without_sensitive_columns_the_section_is_left_out() -> None:
    frame = pa.table({"age": list(range(50)), "empty": pa.nulls(50, pa.string())})
    own = _own(render(released(frame, {"age": quasi(), "empty": quasi()})))
    assert 'id="sensitive"' not in own
    assert 'href="#sensitive"' not in own
    assert "missing" in own
