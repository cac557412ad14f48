"""Re-interrogated privacy: the kernel against the definition, one true one at a time."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import mask as oracles_mask

from discreet.collect import EMask
from discreet.core.baskets.baskets import Baskets
from discreet.core.errors import InputError, ParameterError
from discreet.measure import reinterrogated_privacy

N_ITEMS = 6
SETS = [one for length in (1, 2, 3) for one in combinations(range(N_ITEMS), length)]
baskets = st.lists(st.tuples(*[st.sets(st.integers(0, N_ITEMS - 1))] * 2), min_size=1, max_size=12)


def packed(rows: list[set[int]]) -> Baskets:
    indptr = np.concatenate([[0], np.cumsum([len(one) for one in rows])])
    items = np.array([item for one in rows for item in sorted(one)], np.int32)
    return Baskets(indptr.astype(np.int64), items, pa.array(np.arange(N_ITEMS)))


@given(baskets, st.lists(st.sampled_from(SETS), max_size=12, unique=True), st.floats(0, 100))
@settings(max_examples=150)
def test_by_the_slow_definition(
    pairs: list[tuple[set[int], set[int]]], itemsets: list[tuple[int, ...]], basic: float
) -> None:
    true, distorted = [one for one, _ in pairs], [other for _, other in pairs]
    wanted = oracles_mask.reinterrogated_privacy(true, distorted, itemsets, basic)
    assert reinterrogated_privacy(packed(true), packed(distorted), itemsets, basic=basic) == pytest.approx(
        wanted
    )
    bits = packed(distorted).bits()
    assert reinterrogated_privacy(packed(true), bits, itemsets, basic=basic) == pytest.approx(wanted)


def test_over_several_blocks() -> None:
    rng = np.random.default_rng(4)
    rows, items = np.nonzero(rng.random((20_000, N_ITEMS)) < 0.3)
    true = Baskets.from_entries(rows, items.astype(np.int32), pa.array(np.arange(N_ITEMS)), n=20_000)
    distorted = EMask(0.6, 0.9).perturb(true, random_state=1)
    wanted = oracles_mask.reinterrogated_privacy(
        [set(one) for one in true], [set(one) for one in distorted], SETS, 80.0
    )
    assert reinterrogated_privacy(true, distorted, SETS, basic=80.0) == pytest.approx(wanted)


def test_nothing_frequent_and_nothing_held() -> None:
    true = packed([{1}, {2, 3}])
    assert reinterrogated_privacy(true, true, [], basic=91.0) == 91.0
    assert reinterrogated_privacy(packed([set()]), packed([{1}]), [(1,)], basic=91.0) == 91.0


def test_nothing_distorted_leaves_nothing() -> None:
    true = packed([{1}, {2, 3}])
    assert reinterrogated_privacy(true, true, [(1,), (2,), (3,)], basic=91.0) == 0.0


def test_mistakes() -> None:
    true = packed([{1}, {2, 3}])
    with pytest.raises(InputError, match="as many"):
        reinterrogated_privacy(true, packed([{1}]), [(1,)], basic=90)
    with pytest.raises(InputError, match="no name"):
        reinterrogated_privacy(true, true, [(99,)], basic=90)
    with pytest.raises(InputError, match="at least one item"):
        reinterrogated_privacy(true, true, [()], basic=90)
    with pytest.raises(ParameterError, match="'basic'"):
        reinterrogated_privacy(true, true, [(1,)], basic=900)
    with pytest.raises(ParameterError, match="'distorted'"):
        reinterrogated_privacy(true, [[1]], [(1,)], basic=90)  # type: ignore[arg-type]
