"""Parameters of the itemset miners: the minimum support, the longest set, and the items included."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.bits import ItemBits
from discreet.core.baskets.cluster_baskets import ClusterBaskets
from discreet.core.baskets.names import codes_among
from discreet.core.baskets.supports import Support
from discreet.core.errors import ParameterError
from discreet.core.params import NONE, Constraints, InstanceOf, IntIn, check_parameters, require

Names = Iterable[Any]


@dataclass(frozen=True)
class ItemNames:
    """Several names that can be gone through more than once, since a miner may be used again."""

    def admits(self, value: object) -> bool:
        """Return whether the value is a collection that is no text."""
        return isinstance(value, Iterable) and isinstance(value, Sized) and not isinstance(value, str | bytes)

    def __str__(self) -> str:
        return "a list of item names"


MINING: Constraints = {
    "min_support": Support(),
    "max_length": (IntIn(1), NONE),
    "include": (ItemNames(), NONE),
    "exclude": (ItemNames(), NONE),
}
"""What every miner of itemsets has in common."""


class ItemsetMiner(Protocol):
    """A miner of itemsets, with the parameters that all of them have."""

    min_support: float
    max_length: int | None
    include: Names | None
    exclude: Names | None


def check_mining(miner: ItemsetMiner, data: object) -> None:
    """Refuse parameters outside their constraints."""
    check_parameters(miner)
    require(
        miner,
        "baskets",
        data,
        InstanceOf((Baskets, ItemBits, ClusterBaskets), "Baskets, ItemBits or ClusterBaskets"),
    )


def check_channel(data: Baskets | ItemBits | ClusterBaskets, channel: tuple[float, float] | None) -> None:
    """Refuse bits that know how they were distorted, unless they are mined with these probabilities."""
    stated = getattr(data, "distorted", None)
    if stated is None or stated == channel:
        return
    fix = dict(zip(("p", "q"), stated, strict=True))
    if channel is None:
        raise ParameterError(
            f"These baskets were distorted with p = {stated[0]:g} and q = {stated[1]:g}: mined as true ones, they show "
            "noise. Mine them with both probabilities (MaskedItemsets).",
            fix=fix,
        )
    raise ParameterError("These baskets were distorted with other probabilities than these.", fix=fix)


def included_items(names: pa.Array, include: Names | None, exclude: Names | None) -> BoolArray:
    """Return for each item whether it is included; an unknown name is refused."""
    included = np.ones(len(names), np.bool_)
    if include is not None:
        included[:] = False
        included[codes_among(names, include, parameter="include")] = True
    if exclude is not None:
        included[codes_among(names, exclude, parameter="exclude")] = False
    return included
