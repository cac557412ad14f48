"""All ways to specify a hierarchy.

A specification says how to generalize; ``bind`` builds the `Hierarchy` over a column's values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.core.errors import HierarchyError
from discreet.core.hierarchy.addresses import Addresses, ip_addresses
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec
from discreet.core.hierarchy.icd import Icd, icd
from discreet.core.hierarchy.ranges import Cuts, Intervals, cuts, intervals
from discreet.core.hierarchy.scales import Scale, scale
from discreet.core.hierarchy.suggestion import suggest
from discreet.core.hierarchy.trees import Flat, Masked, Rows, flat, from_mapping, masked, read_hierarchy, tree

__all__ = [
    "Addresses",
    "Cuts",
    "Flat",
    "Hierarchy",
    "HierarchySpec",
    "Icd",
    "Intervals",
    "Masked",
    "Rows",
    "Scale",
    "cuts",
    "flat",
    "from_mapping",
    "icd",
    "intervals",
    "ip_addresses",
    "masked",
    "read_hierarchy",
    "scale",
    "spec_from_dict",
    "suggest",
    "tree",
]

_SPECS: dict[str, type[HierarchySpec]] = {
    one.kind: one for one in (Intervals, Cuts, Flat, Masked, Rows, Scale, Icd, Addresses)
}


def spec_from_dict(data: Mapping[str, Any]) -> HierarchySpec | Hierarchy:
    """Rebuild a specification, or a bound hierarchy, from what its ``to_dict`` gave."""
    if "leaves" in data and "kind" not in data:
        return Hierarchy.from_dict(data)
    made = _SPECS.get(data.get("kind", ""))
    if made is None:
        raise HierarchyError(f"A hierarchy's kind must be one of {', '.join(_SPECS)}.")
    try:
        return made(**{name: _tupled(value) for name, value in data.items() if name != "kind"})
    except TypeError:
        raise HierarchyError(
            f"A hierarchy of the kind '{made.kind}' has fields that do not belong to it."
        ) from None


def _tupled(value: object) -> object:
    return tuple(_tupled(one) for one in value) if isinstance(value, list) else value
