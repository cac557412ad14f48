"""Singling out, linkability and inference (WP29 Opinion 05/2014) against published baskets, generalized or grouped."""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import CodeArray, IntArray
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.grouped import GroupedBaskets
from discreet.core.boundary import public
from discreet.core.hierarchy.bound import Hierarchy, HierarchySpec
from discreet.core.params import NONE, InstanceOf, IntIn, require
from discreet.core.release import Release
from discreet.core.rng import RandomState, generator
from discreet.kernels import ragged
from discreet.measure.attacks.basket_people import BasketPeople, ItemHolders, item_tree_of
from discreet.measure.attacks.regulators import Attacks
from discreet.measure.attacks.success import AttackSuccess, Rate
from discreet.measure.baskets.risk import drawn_sets
from discreet.measure.tables.matches import spans

_TRIES = 4
"""How many sets of each size are drawn for every one that is claimed."""
_PEOPLE = 10
"""How many people are looked at for every one about whom something is claimed."""


@public
def basket_attacks(
    released: Baskets | GroupedBaskets | Release,
    original: Baskets,
    *,
    control: Baskets | None = None,
    hierarchy: Hierarchy | HierarchySpec | None = None,
    m: int = 3,
    n_attacks: int = 1_000,
    random_state: RandomState = None,
) -> Attacks:
    """Attack published baskets as the Article 29 Working Party names it: single out, link, infer.

    The attacker has the release, and knows which items a generalized one stands for. Where he cannot decide, he draws.

    - Singling out: he takes sets of at most m published items, those that fewest released baskets hold, and claims that
      exactly one basket of the original holds them. Guessing: as many items, drawn one by one.
    - Linkability: of some people he has two records without names, each with half of the items of their basket, and
      links them by a released basket that holds both, the longest second half first. Guessing: any second record.
    - Inference, where sensitive items are published as counts of groups: he knows all ordinary items of a person, takes
      the groups of the baskets with just these, and claims the likeliest sensitive item. Where no such group has any,
      he claims nothing; where no basket fits, the commonest. Guessing: the commonest of the release.

    The control group are people who are not in the release.

    Parameters
    ----------
    released
        The release, or baskets as published.
    original
        The baskets that it was made of.
    control
        Baskets of people of the same kind who are not in the original; None compares with guessing alone.
    hierarchy
        The tree over the items by which they were generalized; not needed for even ranges of a release.
    m
        How many items a set has at most.
    n_attacks
        How many guesses, or people, each attack takes at most.
    random_state
        Seeds who is attacked, and what is drawn.

    Examples
    --------
    Everybody's basket is published as it is, so that everybody is found:

    >>> bought = Baskets.from_lists([[n, 100 + n, 200 + n] for n in range(100)])
    >>> attacks = basket_attacks(bought, bought, random_state=0)
    >>> attacks.singling_out.rate.share, attacks.linkability.rate.share, attacks.inference
    (1.0, 1.0, {})
    """
    owner = "basket_attacks"
    kinds = InstanceOf((Baskets, GroupedBaskets, Release), "baskets or a release of them")
    require(owner, "released", released, kinds)
    require(owner, "original", original, InstanceOf((Baskets,), "Baskets"))
    require(owner, "control", control, InstanceOf((Baskets,), "Baskets"), NONE)
    require(owner, "hierarchy", hierarchy, InstanceOf((Hierarchy, HierarchySpec), "a hierarchy"), NONE)
    require(owner, "m", m, IntIn(1))
    require(owner, "n_attacks", n_attacks, IntIn(10))
    rng = generator(random_state, owner=owner)
    data = released.data if isinstance(released, Release) else released
    tree = item_tree_of(released, original, hierarchy)
    index = ItemHolders.of(data.ordinary)
    people = BasketPeople.of(original, data, tree)
    others = None if control is None else BasketPeople.of(control, data, tree)
    inference = {}
    if isinstance(data, GroupedBaskets) and data.sensitive.counts.size:
        inference["a sensitive item"] = _inference(data, index, people, others, n_attacks, rng)
    return Attacks(
        _singling_out(index, people, others, m, n_attacks, rng),
        _linkability(index, people, others, n_attacks, rng),
        inference,
        None,
        len(original),
        None if control is None else len(control),
    )


# Singling out. A set with fewer than m items repeats its last one, which changes nobody's holding it.


def _singling_out(
    index: ItemHolders,
    people: BasketPeople,
    others: BasketPeople | None,
    m: int,
    n_attacks: int,
    rng: np.random.Generator,
) -> AttackSuccess:
    sets = _rarest_sets(index, m, n_attacks, rng)
    # As many items, drawn one by one as often as baskets hold them; one that is drawn twice counts once.
    sizes = 1 + (np.diff(sets, axis=1) > 0).sum(axis=1)
    places = np.minimum(np.arange(m), sizes[:, None] - 1)
    entries = index.baskets.items
    drawn = entries[rng.integers(max(entries.size, 1), size=sets.shape)] if sets.size else sets
    guesses = np.take_along_axis(drawn, places, axis=1)
    holders = ItemHolders.of(people.ordinary)
    control = None if others is None else _isolated(ItemHolders.of(others.ordinary), sets)
    return AttackSuccess.of(
        "singling out", _isolated(holders, sets), control, _isolated(holders, guesses).share
    )


def _rarest_sets(index: ItemHolders, m: int, n_attacks: int, rng: np.random.Generator) -> CodeArray:
    """Return sets of items of released baskets, of any size up to m: of those drawn, what fewest baskets hold."""
    parts = [np.empty((0, m), np.int32)]
    for size in range(1, m + 1):
        long_enough = np.flatnonzero(index.baskets.lengths >= size)
        if long_enough.size:
            chosen = rng.choice(long_enough, _TRIES * n_attacks)
            sets = np.sort(drawn_sets(index.baskets, size, chosen, rng), axis=1)
            parts.append(np.pad(sets, ((0, 0), (0, m - size)), mode="edge"))
    different = rng.permutation(np.unique(np.concatenate(parts), axis=0))
    fewest = np.argsort(index.count(different), kind="stable")[:n_attacks]
    rarest: CodeArray = different[fewest]
    return rarest


def _isolated(holders: ItemHolders, sets: CodeArray) -> Rate:
    """Return how many sets exactly one basket holds."""
    return Rate.of(int((holders.count(sets) == 1).sum()), len(sets))


# Linkability. The items of each basket are dealt to two sources; a released basket ties the halves together.


def _linkability(
    index: ItemHolders,
    people: BasketPeople,
    others: BasketPeople | None,
    n_attacks: int,
    rng: np.random.Generator,
) -> AttackSuccess | None:
    rate = _linked(index, *_halves(people, n_attacks, rng), rng)
    if rate.n_attempts == 0:
        return None
    control = None if others is None else _linked(index, *_halves(others, n_attacks, rng), rng)
    return AttackSuccess.of("linkability", rate, control, 1 / rate.n_attempts)


def _halves(people: BasketPeople, n_attacks: int, rng: np.random.Generator) -> tuple[Baskets, Baskets]:
    """Deal the items of some people with two or more, in random order, in turn."""
    n = len(people.ordinary)
    order = np.lexsort((rng.random(people.rows.size), people.rows))
    rows, codes = people.rows[order], people.codes[order]
    lengths = np.bincount(rows, minlength=n)
    is_second = (np.arange(rows.size) - ragged.bounds(lengths)[rows]) % 2 == 1
    able = np.flatnonzero(lengths >= 2)
    chosen = np.sort(rng.choice(able, min(n_attacks, able.size), replace=False))
    first, second = (
        Baskets.from_entries(rows[side], codes[side], people.ordinary.names, n=n).take(chosen)
        for side in (~is_second, is_second)
    )
    return first, second


def _linked(index: ItemHolders, first: Baskets, second: Baskets, rng: np.random.Generator) -> Rate:
    """Link halves: a released basket that holds the first is drawn, and one of the longest second halves it holds."""
    n, owner, right = len(first), second.rows(), 0
    for person, items in enumerate(first):
        fits, candidates = index.holding(items), np.empty(0, np.int64)
        if fits.size:
            row = rng.choice(fits)
            holds = np.zeros(index.baskets.n_items, np.bool_)
            holds[index.baskets.items[index.baskets.indptr[row] : index.baskets.indptr[row + 1]]] = True
            candidates = np.flatnonzero(
                np.bincount(owner[holds[second.items]], minlength=n) == second.lengths
            )
            # The two halves make up a basket: of those that it holds, the longest leave the least of it unexplained.
            longest = second.lengths[candidates].max(initial=0)
            candidates = candidates[second.lengths[candidates] == longest]
        guess = rng.choice(candidates) if candidates.size else rng.integers(n)
        right += int(guess == person)
    return Rate.of(right, n)


# Inference. Every basket that fits is as likely the person's, and holds an item with its share in the group.


def _inference(
    data: GroupedBaskets,
    index: ItemHolders,
    people: BasketPeople,
    others: BasketPeople | None,
    n_attacks: int,
    rng: np.random.Generator,
) -> AttackSuccess:
    usual = int(np.bincount(data.sensitive.values, data.sensitive.counts).argmax())
    rate = _inferred(data, index, people, usual, n_attacks, rng)
    control = None if others is None else _inferred(data, index, others, usual, n_attacks, rng)
    sensitive = people.sensitive
    baseline = 0.0 if sensitive is None else float(sensitive.counts[usual]) / max(len(sensitive), 1)
    return AttackSuccess.of("inference of a sensitive item", rate, control, baseline)


def _inferred(
    data: GroupedBaskets,
    index: ItemHolders,
    people: BasketPeople,
    usual: int,
    n_attacks: int,
    rng: np.random.Generator,
) -> Rate:
    """Return how many of the claims are right, over people in random order until there are enough."""
    sensitive, lengths = people.sensitive, index.baskets.lengths
    claims = right = 0
    if sensitive is None:
        return Rate.of(0, 0)
    for person in rng.permutation(len(sensitive))[: _PEOPLE * n_attacks].tolist():
        known = people.ordinary.items[people.ordinary.indptr[person] : people.ordinary.indptr[person + 1]]
        fits = index.holding(known)
        guess = _likeliest(data, fits[lengths[fits] == known.size], usual)
        if guess is not None:
            claims += 1
            right += int(guess in sensitive.items[sensitive.indptr[person] : sensitive.indptr[person + 1]])
        if claims == n_attacks:
            break
    return Rate.of(right, claims)


def _likeliest(data: GroupedBaskets, fits: IntArray, usual: int) -> int | None:
    """Return the sensitive item to claim: the usual one where no basket fits, none where no group that fits has any."""
    if fits.size == 0:
        return usual
    groups, times = np.unique(data.group[fits], return_counts=True)
    counts = data.sensitive
    starts, lengths = counts.indptr[:-1][groups], np.diff(counts.indptr)[groups]
    entries = spans(starts, lengths)
    if entries.size == 0:
        return None
    weights = counts.counts[entries] * np.repeat(times / data.sizes[groups], lengths)
    return int(np.bincount(counts.values[entries], weights).argmax())
