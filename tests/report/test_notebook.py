"""What notebooks show: public figures only, and the report's own charts."""

from __future__ import annotations

import html

import pyarrow as pa

from discreet import Table, identifier, quasi, sensitive
from discreet.guarantees import KAnonymity
from discreet.publish import Mondrian

SECRET = "Zoe Q. Planted"


def table() -> Table:
    names = [SECRET, *(f"Person {at}" for at in range(39))]
    rows = {"name": names, "age": [20 + at % 20 for at in range(40)], "disease": ["flu", "cold"] * 20}
    return Table(pa.table(rows), {"name": identifier(), "age": quasi(), "disease": sensitive()})


def test_each_is_a_page_of_its_own_without_the_original() -> None:
    data = table()
    release = Mondrian(KAnonymity(4)).release(data)
    shown = {
        type(one).__name__: html.unescape(one._repr_html_())
        for one in (data, release, release.verdict, release.figures)
    }
    for picture in shown.values():
        assert picture.startswith("<iframe")
        assert SECRET not in picture
        assert "vegaEmbed(place" not in picture.split("<script>")[0]
    assert "quasi-identifiers" in shown["Table"]
    assert "KAnonymity(k=4)" in shown["Verdict"]
    assert "data:image/svg+xml;base64," in shown["Release"]
    assert "data:image/svg+xml;base64," in shown["Figures"]
    assert len(shown["Release"]) < 300_000
