"""All ways to specify a hierarchy.

A specification says how to generalize; ``bind`` builds the `Hierarchy` over a column's values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from discreet.core.boundary import reads
from discreet.core.errors import HierarchyError
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec
from discreet.core.hierarchy.code_systems import Codes, code_system
from discreet.core.hierarchy.ranges import Cuts, Intervals, cuts, intervals
from discreet.core.hierarchy.scales import Scale, scale
from discreet.core.hierarchy.structured_codes import Addresses, Icd, icd, ip_addresses
from discreet.core.hierarchy.suggestion import suggest
from discreet.core.hierarchy.trees import (
    Flat,
    Masked,
    Rows,
    flat,
    from_mapping,
    masked,
    read_hierarchy,
    tree,
    tree_rows,
)

__all__ = [
    "Addresses",
    "Codes",
    "Cuts",
    "Flat",
    "Hierarchy",
    "HierarchySpec",
    "Icd",
    "Intervals",
    "Masked",
    "Rows",
    "Scale",
    "code_system",
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

_MAKERS: dict[str, Callable[..., HierarchySpec]] = {
    "intervals": lambda widths, **options: intervals(*widths, **options),
    "cuts": lambda levels: cuts(*levels),
    "flat": flat,
    "masked": masked,
    "rows": tree_rows,
    "scale": scale,
    "icd": icd,
    "ip": ip_addresses,
    "codes": code_system,
}
"""The makers of specifications, which check what they are given."""


@reads("The hierarchy")
def spec_from_dict(data: Mapping[str, Any]) -> HierarchySpec | Hierarchy:
    """Rebuild a specification, or a bound hierarchy, from what its ``to_dict`` gave."""
    if "leaves" in data and "kind" not in data:
        return Hierarchy.from_dict(data)
    kind = data.get("kind", "")
    maker = _MAKERS.get(kind) if isinstance(kind, str) else None
    if maker is None:
        raise HierarchyError(f"A hierarchy's kind must be one of {', '.join(_MAKERS)}.")
    try:
        return maker(**{name: _tupled(value) for name, value in data.items() if name != "kind"})
    except TypeError:
        raise HierarchyError(
            f"A hierarchy of the kind '{kind}' has fields that do not belong to it."
        ) from None


def _tupled(value: object) -> object:
    return tuple(_tupled(item) for item in value) if isinstance(value, list) else value
