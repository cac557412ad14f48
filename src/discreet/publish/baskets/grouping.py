"""Sensitive items: what publishers of baskets have in common, from separating the items to the shuffled release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray, CodeArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.errors import InfeasibleError, InputError
from discreet.core.params import BOOL, Constraints, InstanceOf, IntIn, check_parameters, require
from discreet.core.release import Evidence, Release
from discreet.core.rng import RANDOM_STATE, RandomState, generator
from discreet.guarantees import Guarantee, PrivacyDegree
from discreet.publish.recipes.recipe_parts import recipe_header

Rows = tuple[IntArray, CodeArray, int]
_SHOWN = 5


class ItemNameList:
    """The constraint of a list of one or more items."""

    def admits(self, value: object) -> bool:
        """Whether the value is a sequence that is no text, and not empty."""
        return isinstance(value, Sequence) and not isinstance(value, str | bytes) and len(value) > 0

    def __str__(self) -> str:
        return "a list of one or more item names"


ITEM_NAMES = ItemNameList()
DEGREE = (IntIn(1), InstanceOf((PrivacyDegree,), "a PrivacyDegree"))
"""The constraint of a privacy degree: its letter, or the guarantee."""


@dataclass(kw_only=True, repr=False, eq=False)
class BasketPublisher(ABC):
    """A publisher of baskets in groups: ordinary items exactly, sensitive ones as counts per group.

    A method declares its letter, the privacy degree, as a field, and writes `_grouped`.

    Parameters
    ----------
    sensitive
        The names of the sensitive items.
    keep_empty
        Whether to publish baskets without ordinary items, as a group of their own. They are left out by default, since
        they would stand out; they can be kept only where at most one in p of them holds the same sensitive item.
    random_state
        Seeds the numbers of the groups and the order of the baskets, which is all that is random.
    """

    sensitive: Sequence[Any] | None
    keep_empty: bool = False
    random_state: RandomState = None

    letter: ClassVar[str] = "p"
    constraints: ClassVar[Constraints] = {
        "sensitive": ITEM_NAMES,
        "keep_empty": BOOL,
        "random_state": RANDOM_STATE,
    }

    @property
    def guarantee(self) -> Any:
        """What every group keeps."""
        degree = getattr(self, self.letter)
        return degree if isinstance(degree, Guarantee) else PrivacyDegree(degree)

    def release(self, baskets: Baskets) -> Release:
        """Group the baskets and publish the groups, numbered at random and shuffled."""
        check_parameters(self)
        return self._published(baskets, generator(self.random_state, owner=self))

    @abstractmethod
    def _grouped(self, parts: SplitBaskets, rng: np.random.Generator) -> tuple[CodeArray, dict[str, object]]:
        """Search: return the group of each basket with ordinary items, and details for the evidence."""

    def _published(self, baskets: Baskets, rng: np.random.Generator) -> Release:
        """Release groups in an order that reveals nothing: their numbers and their baskets are drawn."""
        parts = split_baskets(self, baskets)
        group, details = self._grouped(parts, rng)
        n_bare = parts.published.size - group.size
        # Baskets without ordinary items are one group, behind the others.
        together = np.concatenate([group, np.full(n_bare, group.max(initial=-1) + 1, np.int32)])
        _, dense = np.unique(together, return_inverse=True)
        numbers = rng.permutation(int(dense.max()) + 1).astype(np.int32)[dense]
        # Shuffled before the stable sort, so that chance is the order within a group.
        shuffled = rng.permutation(numbers.size)
        order = shuffled[np.argsort(numbers[shuffled], kind="stable")]
        chosen = baskets.take(parts.published[order])
        # Sensitive items of left-out baskets alone are not named: that they exist would say what those baskets held.
        sensitive = chosen.keep(parts.is_sensitive & (chosen.counts > 0))
        data = GroupedBaskets.of(chosen.keep(~parts.is_sensitive), numbers[order], sensitive)
        apart = {"keep_empty": self.keep_empty, "sensitive_items": sensitive.n_items}
        return Release(
            data=data,
            guarantee=self.guarantee,
            evidence=Evidence(len(baskets), data.sizes, suppressed=len(baskets) - len(data), details=details),
            recipe=basket_recipe(self, baskets, self._parameters() | apart),
            kind="baskets",
            original=baskets,
        )

    def _parameters(self) -> dict[str, object]:
        """Return the parameters that are written into a recipe: the degree, and those of the method alone."""
        names = [name for name in self.constraints if name not in {self.letter, *BasketPublisher.constraints}]
        values = {name: getattr(self, name) for name in names}
        return {
            self.letter: self.guarantee.p,
            **{
                name: int(value) if isinstance(value, np.integer) else value for name, value in values.items()
            },
        }


def basket_recipe(publisher: Any, baskets: Baskets, parameters: Mapping[str, object]) -> dict[str, Any]:
    """Return the recipe of a release of baskets; it is public, and cannot be applied to new ones."""
    items = "numbers" if pa.types.is_integer(baskets.names.type) else "text"
    return recipe_header(publisher, parameters) | {"items": items}


@dataclass(frozen=True, repr=False)
class SplitBaskets:
    """Baskets with their ordinary and their sensitive items apart, each with codes of their own.

    Attributes
    ----------
    is_sensitive
        Whether each of the items that came in is sensitive.
    ordinary, held
        The ordinary and the sensitive items of the baskets with ordinary items, which a method groups.
    published
        The baskets that are published: those with ordinary items, then those without any that are kept.
    """

    is_sensitive: BoolArray
    ordinary: Baskets
    held: Baskets
    published: IntArray

    @property
    def arrays(self) -> tuple[Rows, Rows]:
        """The ordinary and the sensitive items, each as row pointers, codes and the number of items."""
        first, second = ((part.indptr, part.items, part.n_items) for part in (self.ordinary, self.held))
        return first, second


def split_baskets(publisher: BasketPublisher, baskets: Baskets) -> SplitBaskets:
    """Separate sensitive items from ordinary ones; refuse what no release can keep.

    A basket without ordinary items would stand out: unless baskets may be empty, it holds a sensitive one. Such baskets
    are left out, all of them: what is left out follows from ordinary items alone, which the attacker may know. Where
    they are kept they become a group of their own, in which none stands out.
    """
    require(publisher, "baskets", baskets, InstanceOf((Baskets,), "Baskets"))
    require(publisher, "sensitive", publisher.sensitive, ITEM_NAMES)
    guarantee, letter = publisher.guarantee, publisher.letter
    require(
        publisher, letter, guarantee, InstanceOf((PrivacyDegree,), "an int or a PrivacyDegree, for baskets")
    )
    if len(baskets) == 0:
        raise InputError("There are no baskets.")
    is_sensitive = np.zeros(baskets.n_items, np.bool_)
    is_sensitive[baskets.codes_of(publisher.sensitive or (), parameter="sensitive")] = True
    ordinary, sensitive = baskets.keep(~is_sensitive), baskets.keep(is_sensitive)
    filled, empty = np.flatnonzero(ordinary.lengths), np.flatnonzero(ordinary.lengths == 0)
    if not publisher.keep_empty and guarantee.p > 1:  # p = 1 guarantees nothing, and leaves nothing out
        published, bare = filled, empty[:0]
    else:
        published, bare = np.concatenate([filled, empty]), empty
    if published.size == 0:
        raise InfeasibleError(
            "No basket holds an ordinary item, and baskets without any are left out. Publish them as a group of their "
            "own with keep_empty=True.",
            fix={"keep_empty": True},
        )
    secrets = sensitive.take(filled)
    which = "baskets with ordinary items" if empty.size else "baskets"
    _refuse_too_frequent(secrets, guarantee.p, letter, which, "leave them out")
    which, remedy = "baskets without ordinary items", "leave those baskets out (keep_empty=False)"
    _refuse_too_frequent(sensitive.take(bare), guarantee.p, letter, which, remedy)
    return SplitBaskets(is_sensitive, ordinary.take(filled), secrets, published)


def _refuse_too_frequent(sensitive: Baskets, p: int, letter: str, which: str, remedy: str) -> None:
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
        f"No release can keep the guarantee: with {letter}={p} a sensitive item may be in at most {n // p} of the {n} "
        f"{which}, and these are in more: {named}{more}. Use {letter}={n // most} at most, or {remedy}."
    )
