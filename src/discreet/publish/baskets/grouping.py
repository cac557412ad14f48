"""Sensitive items: what publishers of baskets have in common, from separating the items to the shuffled release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray, CodeArray, IntArray
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
    keep_empty: bool

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
    """Baskets with their ordinary and their sensitive items apart, each with codes of their own.

    Attributes
    ----------
    whole
        All baskets that came in.
    is_sensitive
        Whether each of their items is sensitive.
    ordinary, held
        The ordinary and the sensitive items of the baskets with ordinary items, which a method groups.
    published
        The baskets that are published: those with ordinary items, then those without any that are kept.
    """

    whole: Baskets
    is_sensitive: BoolArray
    ordinary: Baskets
    held: Baskets
    published: IntArray

    @property
    def arrays(self) -> tuple[Rows, Rows]:
        """The ordinary and the sensitive items, each as row pointers, codes and the number of items."""
        first, second = ((one.indptr, one.items, one.n_items) for one in (self.ordinary, self.held))
        return first, second


def split_baskets(publisher: BasketPublisher, baskets: Baskets, *, degree: str = "p") -> SplitBaskets:
    """Separate sensitive items from ordinary ones; refuse what no release can keep; ``degree`` is named.

    A basket without ordinary items would stand out: unless baskets may be empty, it holds a sensitive one. Such baskets
    are left out, all of them: what is left out follows from ordinary items alone, which the attacker may know. Where
    they are kept they become a group of their own, in which none stands out.
    """
    require(publisher, "baskets", baskets, InstanceOf((Baskets,), "Baskets"))
    require(publisher, "sensitive", publisher.sensitive, ITEM_NAMES)
    promise: Any = publisher.guarantee
    require(
        publisher, degree, promise, InstanceOf((PrivacyDegree,), "an int or a PrivacyDegree, for baskets")
    )
    if len(baskets) == 0:
        raise InputError("There are no baskets.")
    is_sensitive = np.zeros(baskets.n_items, np.bool_)
    is_sensitive[baskets.codes_of(publisher.sensitive or (), parameter="sensitive")] = True
    ordinary, sensitive = baskets.keep(~is_sensitive), baskets.keep(is_sensitive)
    filled, empty = np.flatnonzero(ordinary.lengths), np.flatnonzero(ordinary.lengths == 0)
    if not publisher.keep_empty and promise.p > 1:  # p = 1 promises nothing, and leaves nothing out
        published, bare = filled, empty[:0]
    else:
        published, bare = np.concatenate([filled, empty]), empty
    if published.size == 0:
        raise InfeasibleError(
            "No basket holds an ordinary item, and baskets without any are left out. Publish them as a group of their "
            "own with keep_empty=True.",
            fix={"keep_empty": True},
        )
    held = sensitive.take(filled)
    which = "baskets with ordinary items" if empty.size else "baskets"
    _refuse_too_frequent(held, promise.p, degree, which, "leave them out")
    which, remedy = "baskets without ordinary items", "leave those baskets out (keep_empty=False)"
    _refuse_too_frequent(sensitive.take(bare), promise.p, degree, which, remedy)
    return SplitBaskets(baskets, is_sensitive, ordinary.take(filled), held, published)


def _refuse_too_frequent(sensitive: Baskets, p: int, degree: str, which: str, remedy: str) -> None:
    """Raise an InfeasibleError where a sensitive item is in more than one basket of p; it names the items.

    Otherwise these baskets as one group have the degree p, so a release exists.
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
        f"{which}, and these are in more: {named}{more}. Use {degree}={n // most} at most, or {remedy}."
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
    n_bare = parts.published.size - group.size
    together = np.concatenate([group, np.full(n_bare, group.max(initial=-1) + 1, np.int32)])
    _, dense = np.unique(together, return_inverse=True)
    numbers = rng.permutation(int(dense.max()) + 1).astype(np.int32)[dense]
    shuffled = rng.permutation(numbers.size)
    order = shuffled[np.argsort(numbers[shuffled], kind="stable")]
    baskets = parts.whole.take(parts.published[order])
    # Sensitive items of left-out baskets alone are not named: that they exist would say what those baskets held.
    sensitive = baskets.keep(parts.is_sensitive & (baskets.counts > 0))
    data = GroupedBaskets.of(baskets.keep(~parts.is_sensitive), numbers[order], sensitive)
    recipe = {
        "format": 1,
        "method": type(publisher).__name__,
        "parameters": {
            **parameters,
            "keep_empty": publisher.keep_empty,
            "sensitive_items": sensitive.n_items,
        },
        "guarantee": publisher.guarantee.to_dict(),
        "seed": seed_of(publisher.random_state),
        "items": "numbers" if pa.types.is_integer(parts.whole.names.type) else "text",
    }
    return Release(
        data=data,
        guarantee=publisher.guarantee,
        evidence=Evidence(
            len(parts.whole), data.sizes, suppressed=len(parts.whole) - len(data), details=details
        ),
        recipe=recipe,
        kind="baskets",
        original=parts.whole,
    )
