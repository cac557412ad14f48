"""The methods a job can name, with the parameters it may give them; a publisher is loaded when it is needed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from discreet.core.errors import ParameterError

_LATTICE = (
    "measure",
    "max_suppressed",
    "aggregate",
    "weights",
    "lowest",
    "highest",
    "visit",
    "time_limit",
)
_LOCAL = ("max_rounds", "cells")

METHODS: dict[str, tuple[str, tuple[str, ...]]] = {
    "mondrian": ("Mondrian", ("strict", "summary", "weights")),
    "generalization": ("Generalization", ("levels", "max_suppressed")),
    "optimal": ("OptimalLattice", _LATTICE),
    "samarati": ("Samarati", ("max_suppressed", "measure")),
    "incognito": ("Incognito", ("max_suppressed", "measure", "super_roots", "precompute")),
    "local": ("LocalRecoding", (*_LATTICE, *_LOCAL)),
}
"""The publishers' names in `discreet.publish` by method, with the parameters a job may give them."""


def publisher_of(method: str, guarantee: Any, options: Mapping[str, Any], seed: int | None) -> Any:
    """Make the publisher of a method."""
    made = _publisher(method)
    if method != "local":
        return made(guarantee, **options, random_state=seed)
    search = {name: value for name, value in options.items() if name not in _LOCAL}
    own = {name: value for name, value in options.items() if name in _LOCAL}
    return made(publisher_of("optimal", guarantee, search, seed), **own, random_state=seed)


def _publisher(method: str) -> Any:
    name = METHODS[method][0]
    found = getattr(import_module("discreet.publish"), name, None)
    if found is None:
        raise ParameterError(f"The method {method} needs {name}, which this version does not have.")
    return found
