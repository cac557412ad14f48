"""What miners are asked for: the least support, the longest set, and the items looked at."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray
from discreet.core.baskets import Baskets
from discreet.core.item_bits import ItemBits
from discreet.core.item_names import codes_among
from discreet.core.params import FloatIn, InstanceOf, IntIn, require
from discreet.core.supports import is_count

Names = Iterable[Any]


@dataclass(frozen=True)
class _Several:
    """Several names that can be gone through more than once, since a miner may be used again."""

    def admits(self, value: object) -> bool:
        return isinstance(value, Iterable) and isinstance(value, Sized) and not isinstance(value, str | bytes)

    def __str__(self) -> str:
        return "a list of item names"


class Asked(Protocol):
    """What every miner of itemsets was asked for."""

    min_support: float
    max_length: int | None
    include: Names | None
    exclude: Names | None


def check_asked(miner: Asked, data: object) -> None:
    """Refuse parameters outside their constraints."""
    require(miner, "baskets", data, InstanceOf((Baskets, ItemBits), "Baskets or ItemBits"))
    if is_count(miner.min_support):
        require(miner, "min_support", miner.min_support, IntIn(1))
    else:
        require(miner, "min_support", miner.min_support, IntIn(1), FloatIn(0, 1, closed="right"))
    if miner.max_length is not None:
        require(miner, "max_length", miner.max_length, IntIn(1))
    for name, value in (("include", miner.include), ("exclude", miner.exclude)):
        require(miner, name, value, _Several(), InstanceOf((type(None),), "None"))


def items_asked(names: pa.Array, include: Names | None, exclude: Names | None) -> BoolArray:
    """Tell of each item whether it is looked at; a name that no item bears is refused."""
    asked = np.ones(len(names), np.bool_)
    if include is not None:
        asked[:] = False
        asked[codes_among(names, include, parameter="include")] = True
    if exclude is not None:
        asked[codes_among(names, exclude, parameter="exclude")] = False
    return asked
