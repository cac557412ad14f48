"""The queries of a release, for other engines: they say the same there."""

from __future__ import annotations

import re

import pytest
from tests.servers import run_sql

from discreet.core.pseudonym import pseudonym
from discreet.core.tables.publication import defused_text
from discreet.engines.sql.source import _hmac, defused_cell, quoted_text
from discreet.engines.sql.transpile import transpiled


@pytest.mark.parametrize("dialect", ["postgres", "spark"])
def test_names_and_texts_are_quoted(dialect: str) -> None:
    sql = transpiled('SELECT "a ""b""" AS x FROM source WHERE y = \'it\'\'s \\\'', dialect)
    assert ('"a ""b"""' if dialect == "postgres" else '`a "b"`') in sql
    assert ("'it''s \\'" if dialect == "postgres" else "'it\\'s \\\\'") in sql


def test_null_meets_null_by_an_index_in_postgres() -> None:
    sql = transpiled(
        "SELECT * FROM source JOIN mapping ON source.c0 IS NOT DISTINCT FROM mapping.v0", "postgres"
    )
    assert "DISTINCT" not in sql
    same = re.search(r"ON (.*)", sql)
    assert same is not None
    pairs = [
        ("NULL::text", "NULL::text"),
        ("''", "NULL::text"),
        ("'a'", "'a'"),
        ("'a'", "'A'"),
        ("NULL", "'a'"),
    ]
    answers = [
        run_sql(f"SELECT {same[1].replace('source.c0', left).replace('mapping.v0', right)}")[0][0]
        for left, right in pairs
    ]
    assert answers == [True, False, True, False, False]


@pytest.mark.parametrize("key", [b"sixteen bytes of key", b"k" * 100])
def test_pseudonyms_are_the_same_there(key: bytes) -> None:
    for value in ("012-345-6789", "Zoë 🏯", ""):
        sql = transpiled(f"SELECT {_hmac(quoted_text(value), key)} AS x", "postgres")
        assert run_sql(sql) == [(pseudonym(value, key),)]


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        " =1+1",
        "'=1+1",
        "-5",
        "plain",
        "\u200b=x",
        "\xa0@sum",
        "\uff1dx",
        "\x01+a",
        "a=b",
        "- 5",
        "-5e3",
    ],
)
def test_formulas_are_found_alike(text: str) -> None:
    sql = transpiled(f"SELECT {defused_cell(quoted_text(text), is_text=True)} AS x", "postgres")
    assert run_sql(sql) == [(defused_text(text),)]
