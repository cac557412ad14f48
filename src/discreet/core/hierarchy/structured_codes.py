"""Codes with a structure of their own: diagnoses (ICD-9-CM and ICD-10) and network addresses."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import pyarrow as pa

from discreet.core.boundary import public
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec, build_hierarchy, domain_of
from discreet.core.hierarchy.code_systems import NO_CODE
from discreet.core.hierarchy.vocabularies import vocabulary
from discreet.core.params import OneOf, require
from discreet.core.tables.labels import STAR, texts

_PATTERNS = {
    9: re.compile(r"(\d{3}|V\d\d|E\d{3})\.?(\d{0,2})", re.IGNORECASE),
    10: re.compile(r"([A-Z]\d[0-9A-Z])\.?([0-9A-Z]{0,4})", re.IGNORECASE),
}
_PREFIXES = {4: (24, 16, 8), 6: (64, 48, 32)}
_NO_ADDRESS = "no valid address"


@public
def icd(version: int) -> Icd:
    """Make the hierarchy of diagnosis codes: code, category, block, chapter.

    Parameters
    ----------
    version : {9, 10}
        ICD-9-CM, or ICD-10 and its modifications; codes with or without their dot.

    Examples
    --------
    >>> icd(9).bind(pa.array(["250.83", "V57"]), column="diag").labels[1:]
    ([None, '250', 'V57'], [None, '249-259', 'V50-V59'],
     [None, '240-279 endocrine and metabolic', 'V01-V91 factors and contacts'], ['*'])
    """
    require("icd", "version", version, OneOf((9, 10)))
    return Icd(version)


@dataclass(frozen=True)
class Icd(HierarchySpec):
    """Diagnosis codes below categories, blocks and chapters; made by `icd`.

    What is no code of the version, or of none of its chapters, is generalized to one common label, never to itself.
    """

    kind: ClassVar[str] = "icd"

    version: int

    def bind(self, domain: pa.Array, *, column: str) -> Hierarchy:
        """Put every code below its category, block and chapter, in the order of the chapters."""
        leaves = domain_of(domain)
        paths = [diagnosis_path(code, self.version) for code in texts(leaves).to_pylist()]
        upper = [[path[level] for path in paths] for level in range(3)]
        return build_hierarchy(leaves, [*upper, [STAR] * len(leaves)], column=column, ordered=False)


def is_code(text: str, version: int) -> bool:
    """Return whether a text is a code of one of the chapters of a version."""
    return diagnosis_path(text, version)[0] != NO_CODE


def diagnosis_path(code: str, version: int) -> tuple[str, str, str]:
    """Return the category, the block and the chapter of a code."""
    parts = _PATTERNS[version].fullmatch(code.strip())
    if parts is None:
        return (NO_CODE,) * 3
    category = parts[1].upper()
    for first, last, title, blocks in _chapters(version):
        if len(category) == len(first) and first <= category <= last:
            inside = (
                f"{low}-{high}" if low != high else low for low, high in blocks if low <= category <= high
            )
            return category, next(inside, f"{first}-{last} elsewhere"), f"{first}-{last} {title}"
    return (NO_CODE,) * 3


@cache
def _chapters(version: int) -> tuple[tuple[str, str, str, tuple[tuple[str, str], ...]], ...]:
    """Return the first and last category, the title and the blocks of each chapter."""
    chapters = []
    for heading, blocks in vocabulary("icd")[str(version)].items():
        span, _, title = heading.partition(" ")
        chapters.append((*_ends(span), title, tuple(map(_ends, blocks))))
    return tuple(chapters)


def _ends(span: str) -> tuple[str, str]:
    first, _, last = span.partition("-")
    return first, last


@public
def ip_addresses() -> Addresses:
    """Make the hierarchy of IP addresses: /24, /16 and /8 for IPv4, /64, /48 and /32 for IPv6.

    >>> ip_addresses().bind(pa.array(["10.1.2.3", "10.1.9.9"]), column="ip").labels[1:]
    ([None, '10.1.2.0/24', '10.1.9.0/24'], [None, '10.1.0.0/16'], [None, '10.0.0.0/8'], ['*'])
    """
    return Addresses()


@dataclass(frozen=True)
class Addresses(HierarchySpec):
    """IP addresses below their networks; made by `ip_addresses`."""

    kind: ClassVar[str] = "ip"

    def bind(self, domain: pa.Array, *, column: str) -> Hierarchy:
        """Put every address below its networks; what is no address has one label of its own."""
        leaves = domain_of(domain)
        paths = [_networks(address) for address in texts(leaves).to_pylist()]
        upper = [[path[level] for path in paths] for level in range(3)]
        return build_hierarchy(leaves, [*upper, [STAR] * len(leaves)], column=column, ordered=False)


def is_address(text: str) -> bool:
    """Return whether a text is an IP address."""
    return _networks(text)[0] != _NO_ADDRESS


def _networks(text: str) -> tuple[str, ...]:
    try:
        address = ipaddress.ip_address(text.strip())
    except ValueError:
        return (_NO_ADDRESS,) * 3
    # An IPv4 address written as one of IPv6 has the networks of IPv4; the zone of a local address names no
    # network.
    mapped = getattr(address, "ipv4_mapped", None) or address
    host = str(mapped).partition("%")[0]
    prefixes = _PREFIXES[mapped.version]
    return tuple(str(ipaddress.ip_network(f"{host}/{prefix}", strict=False)) for prefix in prefixes)
