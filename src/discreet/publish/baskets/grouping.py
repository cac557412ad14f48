"""Sensitive items: what publishers of baskets have in common, from separating the items to the shuffled release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from discreet.core.arrays import CodeArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.errors import InfeasibleError, InputError
from discreet.core.params import InstanceOf, IntIn, require
from discreet.core.release import Evidence, Release
from discreet.core.rng import RandomState, seed_of
from discreet.guarantees import Guarantee, PrivacyDegree

Rows = tuple[IntArray, CodeArray, int]
_SHOWN = 5


class ItemNames:
    """A list of one or more items."""

    def admits(self, value: object) -> bool:
        """Return whether the value is a sequence that is no text, and not empty."""
        return isinstance(value, Sequence) and not isinstance(value, str | bytes) and len(value) > 0

    def __str__(self) -> str:
        return "a list of one or more item names"


ITEM_NAMES = ItemNames()
DEGREE = (IntIn(1), InstanceOf((PrivacyDegree,), "a PrivacyDegree"))
"""The constraint of a privacy degree: its letter, or the guarantee."""


class BasketPublisher(Protocol):
    """What a publisher of grouped baskets reports about itself."""

    random_state: RandomState

    @property
    def sensitive(self) -> Sequence[Any] | None:
        """The names of the sensitive items."""
        ...

    @property
    def guarantee(self) -> Guarantee:
        """What every group must keep."""
        ...


@dataclass(frozen=True, repr=False)
class SplitBaskets:
    """Baskets with their ordinary and their sensitive items apart, each with codes of their own."""

    whole: Baskets
    ordinary: Baskets
    held: Baskets

    @property
    def arrays(self) -> tuple[Rows, Rows]:
        """The ordinary and the sensitive items, each as row pointers, codes and the number of items."""
        first, second = ((one.indptr, one.items, one.n_items) for one in (self.ordinary, self.held))
        return first, second


def split_baskets(publisher: BasketPublisher, baskets: Baskets, *, degree: str = "p") -> SplitBaskets:
    """Separate sensitive items from ordinary ones; refuse what no release can keep; ``degree`` is named."""
    require(publisher, "baskets", baskets, InstanceOf((Baskets,), "Baskets"))
    require(publisher, "sensitive", publisher.sensitive, ITEM_NAMES)
    kept: Any = publisher.guarantee
    require(publisher, degree, kept, InstanceOf((PrivacyDegree,), "an int or a PrivacyDegree, for baskets"))
    if len(baskets) == 0:
        raise InputError("There are no baskets.")
    is_sensitive = np.zeros(baskets.n_items, np.bool_)
    is_sensitive[baskets.codes_of(publisher.sensitive or (), parameter="sensitive")] = True
    sensitive = baskets.keep(is_sensitive)
    refuse_too_frequent(sensitive, kept.p, degree=degree)
    return SplitBaskets(baskets, baskets.keep(~is_sensitive), sensitive)


def refuse_too_frequent(sensitive: Baskets, p: int, *, degree: str = "p") -> None:
    """Raise an InfeasibleError where a sensitive item is in more than one basket of p; it names the items.

    Otherwise all baskets as one group have the degree p, so a release exists.
    """
    n, most = len(sensitive), int(sensitive.counts.max(initial=0))
    if most * p <= n:
        return
    too_many = np.flatnonzero(sensitive.counts > n // p)
    worst = too_many[np.argsort(-sensitive.counts[too_many], kind="stable")][:_SHOWN]
    named = ", ".join(f"{sensitive.names[int(code)].as_py()!r} ({sensitive.counts[code]})" for code in worst)
    more = f" and {too_many.size - _SHOWN} more" if too_many.size > _SHOWN else ""
    raise InfeasibleError(
        f"No release can keep the promise: with {degree}={p} a sensitive item may be in at most {n // p} of the {n} "
        f"baskets, and these are in more: {named}{more}. Use {degree}={n // most} at most, or leave them out."
    )


def publish_groups(
    publisher: BasketPublisher,
    parts: SplitBaskets,
    group: CodeArray,
    rng: np.random.Generator,
    *,
    parameters: Mapping[str, object],
    details: Mapping[str, object],
) -> Release:
    """Make the release of groups, numbered at random and their baskets shuffled, so that no order reveals anything."""
    _, dense = np.unique(group, return_inverse=True)
    numbers = rng.permutation(int(dense.max()) + 1).astype(np.int32)[dense]
    shuffled = rng.permutation(numbers.size)
    order = shuffled[np.argsort(numbers[shuffled], kind="stable")]
    data = GroupedBaskets.of(parts.ordinary.take(order), numbers[order], parts.held.take(order))
    recipe = {
        "format": 1,
        "method": type(publisher).__name__,
        "parameters": {**parameters, "sensitive_items": parts.held.n_items},
        "guarantee": publisher.guarantee.to_dict(),
        "seed": seed_of(publisher.random_state),
        "items": "numbers" if pa.types.is_integer(parts.whole.names.type) else "text",
    }
    return Release(
        data=data,
        guarantee=publisher.guarantee,
        evidence=Evidence(len(parts.whole), data.sizes, {}, details=details),
        recipe=recipe,
        kind="baskets",
        original=parts.whole,
    )
