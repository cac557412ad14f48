"""Patterns of direct identifiers: check digits, what the first pass must not miss, and what is no identifier."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import iban, luhn

from discreet.core.engine import engine_of
from discreet.core.identifiers import PATTERNS, identifiers_in, is_card, is_iban, named_letter
from discreet.measure.spelling import LIKELY

SHOWN = {
    "e-mail addresses": "write to ann.lee@clinic.example.org today",
    "web addresses": "see https://example.org/ann",
    "IP addresses": "from 192.168.2.1 at night",
    "IP addresses (IPv6)": "fe80::1ff:fe23:4567:890a",
    "social security numbers": "her number, 536-22-8726, was",
    "telephone numbers": "call (503) 757-3483",
    "bank account numbers": "GB82 WEST 1234 5698 7654 32 is hers",
    "card numbers": "4111 1111 1111 1111",
    "device addresses": "00:1a:2b:3c:4d:5e",
    "medical record numbers": "MRN 0012345",
}
HARMLESS = [
    "[24000, 27000]", "[2020-01-01, 2020-12-31]", "2020-01-05", "2020-01-05 12:30:45", "12:30:45", "021**", "E11.9",
    "250.83", ">= 90", "10.1.2.0/24", "1.2.3", "{flu, cold}", "5.1.2.3.4", "3/4/2021", "1,234,567.89", "order 12345",
    "@", "a @ b", "www", "000-12-3456", "666-12-3456", "900-12-3456", "123-45-67890", "24-22-19-17-15-13",
    "std::vector",
    "1234567890123456", "GB82 WEST 1234 5698 7654 33", "4111 1111 1111 1112", "2021-W05-3", "-1.5e-07", "T-cell 2000",
]  # fmt: skip


@pytest.mark.parametrize("noun", [pattern.noun for pattern in PATTERNS])
def test_each_pattern_finds_its_kind_alone(noun: str) -> None:
    texts = pa.array([SHOWN[noun], "flu"], pa.large_string())
    assert {pattern.noun: n for pattern, n in identifiers_in(texts)} == {noun: 1}


def test_labels_dates_and_codes_are_no_identifiers() -> None:
    assert list(identifiers_in(pa.array(HARMLESS))) == []


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.noun)
def test_the_first_pass_misses_nothing(pattern) -> None:
    @given(st.from_regex(re.compile(pattern.expression, re.ASCII)))
    def check(text: str) -> None:
        assert pc.match_substring_regex(pa.array([text]), LIKELY)[0].as_py()
        assert re.search(LIKELY, text)

    check()


@given(st.lists(st.text("0123456789abcAB@.:-+() /", max_size=30), min_size=1, max_size=20, unique=True))
def test_both_engines_of_regular_expressions_agree(texts: list[str]) -> None:
    values = pa.array(texts, pa.large_string())
    for pattern in PATTERNS:
        found = pc.match_substring_regex(values, pattern.expression).to_pylist()
        assert found == [re.search(pattern.expression, text) is not None for text in texts], pattern.noun


@given(st.text("0123456789", min_size=9, max_size=14))
def test_cards_pass_luhn(body: str) -> None:
    number = "4" + body
    if len(number) + 1 == 13:
        full = number + luhn.calc_check_digit(number)
        assert is_card(full)
        assert not is_card(full[:-1] + str((int(full[-1]) + 1) % 10))
    assert not is_card("9" + body + "0")


@given(st.text("0123456789", min_size=18, max_size=18))
def test_ibans_are_those_of_a_public_library(body: str) -> None:
    code = "DE" + iban.calc_check_digits("DE00" + body) + body
    assert is_iban(code)
    wrong = code[:-1] + str((int(code[-1]) + 1) % 10)
    assert not is_iban(wrong)
    assert is_iban(code + "EXTRA")  # what follows the account number is no part of it


def test_ibans_of_all_countries_have_the_lengths_of_a_public_library() -> None:
    from discreet.core.identifiers import _iban_lengths

    for example in ("NO9386011117947", "MT84MALT011000012345MTLCAST001S", "FR1420041010050500013M02606"):
        assert iban.is_valid(example)
        assert is_iban(example)
        assert _iban_lengths()[example[:2]] == len(example)


def test_a_column_of_long_numbers_is_no_column_of_cards() -> None:
    numbers = pa.array([f"{4_000_000_000_000_000 + 7919 * n}" for n in range(1000)])
    assert [pattern.noun for pattern, _ in identifiers_in(numbers)] == []


def test_engines_find_the_same() -> None:
    duckdb = pytest.importorskip("duckdb")
    frame = pa.table({
        "text": [*SHOWN.values(), None, "flu"], "code": [4_111_111_111_111_111] * 12,
        "small": [1] * 12, "half": [0.5] * 12,
    })  # fmt: skip

    def looked(native) -> dict:
        return {
            facts.name: (facts.type, facts.is_free_text, sorted(texts.to_pylist()))
            for facts, texts in engine_of(native).matching_texts(native, LIKELY)
        }

    expected = looked(frame)
    assert set(expected) == {"text", "code", "small"}
    assert expected["code"][2] == ["4111111111111111"]
    assert looked(frame.to_pandas()) == looked(duckdb.from_arrow(frame)) == expected


@pytest.mark.parametrize(
    ("name", "letter"),
    [
        ("patient_name", "A"),
        ("zip_code", "B"),
        ("dateOfBirth", "C"),
        ("fax", "E"),
        ("MRN", "H"),
        ("diagnosis", None),
    ],
)
def test_names_of_columns(name: str, letter: str | None) -> None:
    assert named_letter(name) == letter
