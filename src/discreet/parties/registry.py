"""Protocols by their names in session files, as the registry has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.core.params import check_fields, unknown
from discreet.core.registry import PROTOCOLS
from discreet.parties.protocol import Protocol


def protocol_names() -> tuple[str, ...]:
    """Return the names of all protocols."""
    return tuple(PROTOCOLS)


def protocol_class(name: str) -> type[Protocol]:
    """Return the class of a protocol.

    >>> protocol_class("secure-sum").__name__
    'SecureSum'
    """
    if name not in PROTOCOLS:
        raise unknown("a session", "protocol.name", name, PROTOCOLS)
    declared: type[Protocol] = PROTOCOLS[name].load()
    return declared


def make_protocol(name: str, parameters: Mapping[str, Any]) -> Protocol:
    """Return a protocol with its public parameters; lists become tuples.

    >>> make_protocol("secure-sum", {"length": 3}).parameters()["method"]
    'masks'
    """
    declared = protocol_class(name)
    check_fields(declared.__name__, declared, parameters)
    return declared(
        **{key: tuple(value) if isinstance(value, list) else value for key, value in parameters.items()}
    )
