"""Baskets of several shops with tastes in common, and a few of their own; nobody bought them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from discreet.core.baskets.baskets import Baskets
from discreet.core.boundary import public
from discreet.core.params import IntIn, require
from discreet.core.rng import RandomState, generator

PRODUCTS = (
    "apples", "bananas", "beer", "bread", "butter", "cereal", "cheese", "chips", "chocolate", "coffee", "cookies",
    "cream", "eggs", "flour", "ham", "honey", "jam", "juice", "lemons", "lettuce", "milk", "nappies", "olives",
    "onions", "pasta", "rice", "salmon", "sauce", "sugar", "tea", "tomatoes", "wine",
)  # fmt: skip
_TASTES = (
    ("bread", "butter", "jam"),
    ("pasta", "sauce", "cheese"),
    ("beer", "chips"),
    ("milk", "cereal", "bananas"),
    ("flour", "sugar", "eggs", "butter"),
    ("beer", "nappies"),
    ("coffee", "cream", "sugar"),
    ("salmon", "lemons", "wine"),
    ("lettuce", "tomatoes", "olives"),
    ("tea", "honey", "cookies"),
)


@public
def shops(
    n_baskets: int = 4000,
    *,
    names: tuple[str, ...] = ("north", "south", "west"),
    random_state: RandomState = 0,
) -> dict[str, Baskets]:
    """Return the baskets of several shops, by their names.

    A basket is a few single products and one or two tastes, of which now and then a product is missing. Shops differ
    in size, and in how often each taste is met.

    >>> north = shops(1000)["north"]
    >>> len(north), north.n_items
    (1000, 32)
    """
    require("shops", "n_baskets", n_baskets, IntIn(1, 10**7))
    rng = generator(random_state)
    sizes = [max(1, round(n_baskets / (1 + 0.4 * number))) for number in range(len(names))]
    return {name: _shop(size, rng) for name, size in zip(names, sizes, strict=True)}


def _shop(n: int, rng: np.random.Generator) -> Baskets:
    code = {product: number for number, product in enumerate(PRODUCTS)}
    weights = rng.dirichlet(np.full(len(_TASTES), 2.0))
    singles = rng.poisson(1.5, n)
    rows = [np.repeat(np.arange(n), singles)]
    items = [rng.integers(0, len(PRODUCTS), singles.sum())]
    for _ in range(2):
        tastes = rng.choice(len(_TASTES), n, p=weights)
        bought_by_taste = rng.random(n) < 0.6
        for number, taste in enumerate(_TASTES):
            here = np.flatnonzero(bought_by_taste & (tastes == number))
            for product in taste:
                bought = here[rng.random(here.size) < 0.9]
                rows.append(bought)
                items.append(np.full(bought.size, code[product]))
    return Baskets.from_entries(
        np.concatenate(rows), np.concatenate(items).astype(np.int32), pa.array(PRODUCTS), n=n
    )
