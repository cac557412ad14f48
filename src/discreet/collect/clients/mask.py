"""The customer's side of MASK and EMASK: distort one basket where it arises, with nothing but Python itself.

This file imports the standard library alone and can be copied as it is to a till, a phone or a browser's Python. The
draws come from the operating system, which is what a person's privacy should rest on.
"""

import math
from collections.abc import Iterable
from operator import index
from secrets import SystemRandom

_SYSTEM = SystemRandom()


def flip(items: Iterable[int], n_items: int, p: float, q: float) -> list[int]:
    """Distort one basket: an item in it is reported with probability p, one not in it is left out with probability q.

    Parameters
    ----------
    items
        The items of the basket, as codes from 0 to ``n_items - 1``; a repeated one counts once.
    n_items
        The number of items there are.
    p, q
        The probabilities; ``p + q = 1`` is refused, since nothing could be learned from such baskets.

    Returns
    -------
    list of int
        The items of the distorted basket, ascending. Work grows with their number, not with ``n_items``.

    Examples
    --------
    >>> flip([3, 1, 4], 10, 1.0, 1.0)
    [1, 3, 4]
    """
    if not (0 <= p <= 1 and 0 <= q <= 1) or abs(p + q - 1) < 1e-12:
        raise ValueError("p and q must lie in [0, 1], and p + q must not be 1.")
    try:
        basket = {index(item) for item in items}
    except TypeError:
        basket = {-1}
    if not all(0 <= item < n_items for item in basket):
        raise ValueError("The items must be whole numbers from 0 up to n_items - 1.")
    reported = [item for item in basket if _SYSTEM.random() < p]
    false = [item for item in _skipping(n_items, q) if item not in basket]
    return sorted(reported + false)


def _skipping(n_items: int, q: float) -> Iterable[int]:
    """Choose each item with probability 1 - q, jumping from one to the next."""
    item = -1
    while q < 1:
        item += 1
        if q > 0:
            # How many items are left out before the next false one is geometric: one draw for each false
            # item. It is compared before it becomes an int, as it may be very large.
            gap = math.log(1.0 - _SYSTEM.random()) / math.log(q)
            if gap >= n_items - item:
                return
            item += int(gap)
        if item >= n_items:
            return
        yield item
