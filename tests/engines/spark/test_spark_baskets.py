"""Itemsets on a cluster: the sets and the counts of baskets in memory, and no basket comes to the driver."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.engines.spark.test_spark import lent

from discreet import Baskets, ClusterBaskets
from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.engines.spark import session as sessions
from discreet.mine import Itemsets, MaskedItemsets, rules

ITEMS = ["Brot", "brot", "Käse 🧀", "it's", "", "{milk}", "tea", "wine"]


def lists(n: int = 400, seed: int = 2) -> list[list[str] | None]:
    """Return baskets, some empty and one of them null, with items that come twice."""
    rng = np.random.default_rng(seed)
    baskets: list[list[str] | None] = [
        [ITEMS[item] for item in np.minimum(rng.geometric(0.3, rng.integers(0, 7)), 8) - 1] for _ in range(n)
    ]
    baskets[3] = None
    return baskets


def sets(found: Any) -> Any:
    """Return what was found as plain data."""
    return (
        found.indptr.tolist(),
        [found.names[code].as_py() for code in found.codes],
        found.counts.tolist(),
        found.n,
    )


@pytest.mark.parametrize("kind", ["frequent", "closed", "maximal"])
def test_sets_are_those_in_memory(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch, sizes = sessions.fetched, []

    def counted(frame: Any) -> pa.Table:
        table = fetch(frame)
        sizes.append(table.num_rows)
        return table

    monkeypatch.setattr(sessions, "fetched", counted)
    here = Baskets.from_lists([basket or [] for basket in lists()])
    there = ClusterBaskets.from_lists(lent(pa.table({"other": [1] * 400, "Items": lists()})), column="Items")
    assert repr(there) == repr(here).replace("Baskets", "ClusterBaskets")
    for miner in (Itemsets(0.02, kind=kind), Itemsets(4, kind=kind, max_length=2, exclude=["tea"])):
        assert sets(miner.mine(there)) == sets(miner.mine(here))
    assert max(sizes) <= len(ITEMS) ** 2
    monkeypatch.setattr("discreet.engines.spark.baskets._AT_ONCE", 3)
    monkeypatch.setattr("discreet.mine.itemsets.apriori._STRIP", 8)
    assert sets(Itemsets(3, kind=kind).mine(there)) == sets(Itemsets(3, kind=kind).mine(here))
    assert rules(Itemsets(0.02).mine(there)).equals(rules(Itemsets(0.02).mine(here)))


def test_entries_of_whole_numbers_are_mined() -> None:
    rng = np.random.default_rng(5)
    entries = pa.table(
        {"visit": rng.integers(0, 90, 600), "code": pa.array(rng.integers(0, 9, 600), pa.int32())}
    )
    here = Baskets.from_long(entries, basket="visit", item="code")
    there = ClusterBaskets.from_long(lent(entries), basket="visit", item="code")
    for miner in (Itemsets(2), MaskedItemsets(SimpleNamespace(p=0.9, q=0.95), 0.3)):
        assert sets(miner.mine(there)) == sets(miner.mine(here))


def test_what_is_no_basket_is_refused() -> None:
    frame = lent(
        pa.table({"visit": [1, None], "code": ["a", "b"], "cost": [1.5, 2.5], "l": [["a", None], []]})
    )
    cases = [
        (lambda: ClusterBaskets.from_long(frame, basket="visit", item="code"), InputError, "1 of the 2 rows"),
        (
            lambda: ClusterBaskets.from_long(frame, basket="code", item="cost"),
            SchemaError,
            "'cost' are neither",
        ),
        (lambda: ClusterBaskets.from_long(frame, basket="code", item="l"), SchemaError, "'l' are neither"),
        (lambda: ClusterBaskets.from_lists(frame, column="code"), SchemaError, "holds no lists"),
        (lambda: ClusterBaskets.from_lists(frame, column="absent"), SchemaError, "no columns named 'absent'"),
        (
            lambda: ClusterBaskets.from_lists(frame, column="l"),
            InputError,
            "1 of the 2 baskets hold a null item",
        ),
        (lambda: Baskets.from_long(frame, basket="code", item="code"), InputError, "not fetched"),
        (lambda: Itemsets(1).mine(frame), InputError, "not fetched"),
    ]
    for make, kind, words in cases:
        with pytest.raises(kind, match=words):
            make()
    with pytest.raises(ParameterError, match="min_support"):
        Itemsets(0).mine(ClusterBaskets.from_long(frame, basket="code", item="code"))
