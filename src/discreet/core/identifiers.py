"""Direct identifiers: e-mail addresses, telephone and account numbers in texts, and columns named after them.

The letters are those of HIPAA's list of eighteen (45 CFR 164.514(b)(2)(i)).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.hierarchy.knowledge import speaks_of, tokens
from discreet.core.hierarchy.vocabularies import vocabulary

LETTERS = {
    "A": "names",
    "B": "places smaller than a state",
    "C": "dates finer than a year, and ages over 89",
    "D": "telephone numbers",
    "E": "fax numbers",
    "F": "e-mail addresses",
    "G": "social security numbers",
    "H": "medical record numbers",
    "I": "health plan beneficiary numbers",
    "J": "account numbers",
    "K": "certificate and license numbers",
    "L": "vehicle identifiers",
    "M": "device identifiers",
    "N": "web addresses",
    "O": "IP addresses",
    "P": "biometric identifiers",
    "Q": "photographs of faces",
    "R": "other unique numbers, characteristics and codes",
}
"""The eighteen identifiers of the Safe Harbor method, by their letter."""
DIRECT = "ADEFGHIJKLMNPQR"
"""The letters of what names a person by itself; places, dates and IP addresses have hierarchies."""


@dataclass(frozen=True)
class Pattern:
    """What an identifier looks like: an expression that RE2 and Python both read, and what a match must pass besides.

    ``weak``: one of ten numbers passes the check by chance, so that half of those that could be one must.
    """

    letter: str
    noun: str
    expression: str
    is_valid: Callable[[str], bool] | None = None
    weak: bool = False


def identifiers_in(texts: pa.Array) -> Iterator[tuple[Pattern, int]]:
    """Count the texts that hold an identifier, for each pattern that is found; ``texts`` are different from each other.

    >>> [(pattern.noun, n) for pattern, n in identifiers_in(pa.array(["a@b.org", "c@d.org", "flu"]))]
    [('e-mail addresses', 2)]
    """
    if not len(texts):
        return
    for pattern in PATTERNS:
        candidates = texts.filter(pc.match_substring_regex(texts, pattern.expression))
        n_valid = n_tried = len(candidates)
        if pattern.is_valid is not None and n_tried:
            spans = re.compile(pattern.expression)
            n_valid = sum(
                any(pattern.is_valid(match[0]) for match in spans.finditer(text))
                for text in candidates.to_pylist()
            )
        if n_valid and not (pattern.weak and 2 * n_valid < n_tried):
            yield pattern, n_valid


def named_letter(name: str) -> str | None:
    """Return the letter of the identifier that the name of a column speaks of; None where it speaks of none.

    >>> named_letter("home_phone"), named_letter("SSN"), named_letter("admission_date"), named_letter("disease")
    ('D', 'G', 'C', None)
    """
    words = tokens(name)
    return next((letter for letter in LETTERS if speaks_of(words, f"safe-harbor-{letter}")), None)


def _is_ip(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return address.version == 4 or (len(text) > 7 and any(map(str.isdigit, text)))


def _is_social_security(text: str) -> bool:
    # The areas 000, 666 and those from 900 on are never issued, nor are group 00 and serial 0000.
    area, group, serial = re.findall("[0-9]+", text)
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


def _is_device(text: str) -> bool:
    return any(map(str.isalpha, text))


def _is_telephone(text: str) -> bool:
    return 7 <= sum(map(str.isdigit, text)) <= 15


def is_iban(text: str) -> bool:
    """Return whether a text begins with an international bank account number (ISO 13616): 1 modulo 97.

    >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("GB82 WEST 1234 5698 7654 33")
    (True, False)
    """
    code = text.replace(" ", "").upper()
    length = _iban_lengths().get(code[:2], 0)
    if not length or len(code) < length:
        return False
    turned = code[4:length] + code[:4]
    return int("".join(str(int(char, 36)) for char in turned)) % 97 == 1


@cache
def _iban_lengths() -> dict[str, int]:
    """Return the length of the account numbers of each country."""
    lengths = vocabulary("codes")["iban"]
    return {country: int(length) for length, countries in lengths.items() for country in countries.split()}


def is_card(text: str) -> bool:
    """Return whether a text is the number of a payment card: issuer, length and the digit by Luhn (ISO/IEC 7812).

    >>> is_card("4111 1111 1111 1111"), is_card("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(char) for char in text if char.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return _is_issued(digits) and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_issued(digits: list[int]) -> bool:
    """Return whether digits could be a card by their issuer: Visa, Mastercard, American Express, Diners, Discover."""
    first = int("".join(map(str, digits[:4])))
    lengths = {
        4: (13, 16, 19),
        5: (16,) if 5100 <= first < 5600 else (),
        2: (16,) if 2221 <= first < 2721 else (),
        6: (16,) if first // 100 in (60, 62, 64, 65) else (),
        3: (15,) if first // 100 in (34, 37) else (14, 16) if first // 100 in (30, 35, 36, 38) else (),
    }
    return len(digits) in lengths.get(digits[0], ())


PATTERNS = (
    Pattern("F", "e-mail addresses", r"[\w.+%-]+@[A-Za-z0-9][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"),
    Pattern("N", "web addresses", r"(?i)\b(?:https?|ftp)://[^\s/]+|\bwww\.[a-z0-9-]+\.[a-z]"),
    Pattern("O", "IP addresses", r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b(?:/[0-9]|\.[0-9])?", _is_ip),
    Pattern("O", "IP addresses (IPv6)", r"[0-9A-Fa-f]{0,4}:[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]*", _is_ip),
    Pattern("G", "social security numbers", r"(?:^|[^\w-])[0-9]{3}-[0-9]{2}-[0-9]{4}(?:$|[^\w-])", _is_social_security),
    Pattern(
        "D",
        "telephone numbers",
        r"\+[1-9][0-9]{7,14}\b|\+[1-9][0-9]{0,2}[ ./-]?\(?(?:[0-9]{1,5}[ ()./-]{1,2}){1,5}[0-9]{2,8}\b"
        r"|\([0-9]{3}\) ?[0-9]{3}[ .-][0-9]{4}\b|\b[0-9]{3}[.-][0-9]{3}[.-][0-9]{4}\b"
        r"|(?i:\b(?:tel|phone|fax|mobile|telefon)[a-z]*[.:]{0,2} ?[+(]?[0-9][0-9 ()/.-]{5,}[0-9])",
        _is_telephone,
    ),
    Pattern("J", "bank account numbers", r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b", is_iban),
    Pattern("J", "card numbers", r"\b[2-6][0-9]{3}(?:[ -]?[0-9]){9,15}\b", is_card, weak=True),
    Pattern("M", "device addresses", r"\b(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}\b", _is_device),
    Pattern(
        "H",
        "medical record numbers",
        r"(?i)\bmrn\W{0,3}[a-z]{0,3}-?[0-9]{4,}"
        r"|\b(?:medical record|patient|chart|nhs|pat)[ ._-]{0,2}(?:id|no|nr|num|number)\b\W{0,3}[a-z]{0,3}-?[0-9]{4,}",
    ),
)  # fmt: skip
"""What is looked for in every text that leaves."""
