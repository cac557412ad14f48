"""Network addresses: IPv4 by octets, IPv6 by the usual prefixes."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from discreet.core.boundary import public
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec, arrange, domain_of
from discreet.core.tables.labels import STAR, texts

_PREFIXES = {4: (24, 16, 8), 6: (64, 48, 32)}
_NO_ADDRESS = "no valid address"


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
        return arrange(leaves, [*upper, [STAR] * len(leaves)], column=column, ordered=False)


def is_address(text: str) -> bool:
    """Return whether a text is an IP address."""
    return _networks(text)[0] != _NO_ADDRESS


def _networks(text: str) -> tuple[str, ...]:
    try:
        address = ipaddress.ip_address(text.strip())
    except ValueError:
        return (_NO_ADDRESS,) * 3
    mapped = getattr(address, "ipv4_mapped", None) or address
    host = str(mapped).partition("%")[0]
    prefixes = _PREFIXES[mapped.version]
    return tuple(str(ipaddress.ip_network(f"{host}/{prefix}", strict=False)) for prefix in prefixes)
