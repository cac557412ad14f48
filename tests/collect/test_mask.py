"""MASK and EMASK: the right distribution, from the seed alone, and nothing given away on the side."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import mask as oracles_mask

from discreet.collect import EMask, Mask
from discreet.core.baskets.baskets import Baskets
from discreet.core.errors import DiscreetError, ParameterError
from discreet.guarantees import BasicPrivacy, KAnonymity, LocalDP, guarantee_from_dict
from discreet.kernels.baskets.distortion import distort_bits, distort_rows
from discreet.kernels.random import chacha

SECRET = "Zyzzogeton-4711"
FALSE_ALARM = 1e-6
"""How often a statistical test of a right kernel fails; seeds are fixed, so none of these does by chance."""

shares = st.floats(0, 1)
lists = st.lists(st.lists(st.integers(0, 30), max_size=12), max_size=30)


def shop(lists: list[list[int]], n_items: int = 31) -> Baskets:
    rows = [sorted(set(one)) for one in lists]
    indptr = np.concatenate([[0], np.cumsum([len(one) for one in rows], dtype=np.int64)])
    items = np.array([item for one in rows for item in one], np.int32)
    return Baskets(indptr.astype(np.int64), items, pa.array(np.arange(n_items)))


def many(n: int = 30_000, n_items: int = 40) -> Baskets:
    rng = np.random.default_rng(0)
    held = rng.random((n, n_items)) < np.linspace(0.02, 0.4, n_items)
    rows, items = np.nonzero(held)
    return Baskets.from_entries(rows, items.astype(np.int32), pa.array(np.arange(n_items)), n=n)


def same(one: Baskets, other: Baskets) -> bool:
    return np.array_equal(one.indptr, other.indptr) and np.array_equal(one.items, other.items)


@pytest.mark.parametrize(
    ("p", "q"), [(0.5, 0.97), (0.9, 0.9), (0.2, 0.3), (1.0, 0.8), (0.7, 1.0), (0.0, 0.5), (0.6, 0.0)]
)
def test_ones_and_zeros_stay_as_often_as_they_should_in_every_column(p: float, q: float) -> None:
    true = many()
    distorted = EMask(p, q).perturb(true, random_state=3)
    held = np.zeros((len(true), true.n_items), bool)
    held[true.rows(), true.items] = True
    seen = np.zeros_like(held)
    seen[distorted.rows(), distorted.items] = True
    for truth, chance in ((held, p), (~held, 1 - q)):
        counts, cells = (seen & truth).sum(0), truth.sum(0)
        if chance in (0, 1):
            assert (counts == chance * cells).all()
        else:
            z = (counts - cells * chance) / np.sqrt(cells * chance * (1 - chance))
            assert (z**2).sum() < _chi_square_bound(true.n_items)


def _chi_square_bound(cells: int) -> float:
    from scipy.stats import chi2

    return float(chi2.isf(FALSE_ALARM, cells))


@pytest.mark.parametrize("q", [0.5, 0.96, 0.999])
def test_gaps_between_false_items_are_geometric(q: float) -> None:
    n_items = 300
    empty = Baskets(np.zeros(20_001, np.int64), np.empty(0, np.int32), pa.array(np.arange(n_items)))
    distorted = EMask(0.3, q).perturb(empty, random_state=5)
    first = np.full(len(empty), n_items)
    some = np.flatnonzero(distorted.lengths)
    first[some] = distorted.items[distorted.indptr[some]]
    expected = [len(empty) * (1 - q) * q**gap for gap in range(n_items)] + [len(empty) * q**n_items]
    assert oracles_mask.chi_square(np.bincount(first, minlength=n_items + 1), expected) > FALSE_ALARM


def test_neighboring_bits_and_baskets_are_independent() -> None:
    empty = Baskets(np.zeros(50_001, np.int64), np.empty(0, np.int32), pa.array(np.arange(64)))
    bits = np.zeros((50_000, 64))
    distorted = EMask(0.9, 0.7).perturb(empty, random_state=11)
    bits[distorted.rows(), distorted.items] = 1
    bits -= 0.3
    for moved in (bits[:, :-1] * bits[:, 1:], bits[:-1] * bits[1:], bits[:25_000] * bits[25_000:]):
        z = moved.sum() / (0.21 * math.sqrt(moved.size))
        assert abs(z) < 5


@given(lists, shares, shares, st.integers(0, 2**40))
@settings(max_examples=60)
def test_bits_and_baskets_are_the_same_for_any_number_of_threads(
    baskets: list[list[int]], p: float, q: float, seed: int
) -> None:
    true = shop(baskets)
    key = np.random.default_rng(seed).integers(0, 2**32, 8, np.uint32)
    one = distort_rows(true.indptr, true.items, 31, p, q, key, threads=1)
    three = distort_rows(true.indptr, true.items, 31, p, q, key, threads=3)
    assert all(np.array_equal(a, b) for a, b in zip(one, three, strict=True))
    assert np.array_equal(
        distort_bits(true.indptr, true.items, 31, p, q, key), Baskets(*one, true.names).bits().blocks
    )


def test_many_blocks_do_not_depend_on_threads() -> None:
    true = many(40_000)
    key = np.arange(8, dtype=np.uint32)
    one = distort_rows(true.indptr, true.items, true.n_items, 0.5, 0.9, key, threads=1)
    for threads in (2, 5):
        other = distort_rows(true.indptr, true.items, true.n_items, 0.5, 0.9, key, threads=threads)
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    bits = distort_bits(true.indptr, true.items, true.n_items, 0.5, 0.9, key, threads=3)
    assert np.array_equal(bits, Baskets(*one, true.names).bits().blocks)


def test_too_little_room_is_made_good(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.kernels.baskets import distortion

    true = many(20_000)
    key = np.arange(8, dtype=np.uint32)
    right = distort_rows(true.indptr, true.items, true.n_items, 0.5, 0.9, key)
    ends = distortion._ends
    monkeypatch.setattr(distortion, "_ends", lambda *given: ends(*given) // 7)
    again = distort_rows(true.indptr, true.items, true.n_items, 0.5, 0.9, key, threads=2)
    assert all(np.array_equal(a, b) for a, b in zip(right, again, strict=True))


@given(lists)
def test_p_and_q_of_one_return_the_input(baskets: list[list[int]]) -> None:
    true = shop(baskets)
    assert same(EMask(1, 1).perturb(true), true)
    assert same(EMask(1, 1).perturb(true, as_bits=True).baskets(), true)


@given(lists)
def test_p_and_q_of_zero_turn_every_bit(baskets: list[list[int]]) -> None:
    true = shop(baskets)
    turned = EMask(0, 0).perturb(true)
    assert [set(one) for one in turned] == [set(range(31)) - set(one) for one in true]


def test_a_seed_gives_the_same_bytes_and_the_input_and_the_global_generator_are_untouched() -> None:
    true = many(9_000)
    indptr, items = true.indptr.copy(), true.items.copy()
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = (EMask(0.5, 0.9).perturb(true, random_state=7) for _ in range(2))
    assert same(first, second)
    assert not same(first, EMask(0.5, 0.9).perturb(true, random_state=8))
    assert not same(EMask(0.5, 0.9).perturb(true), EMask(0.5, 0.9).perturb(true))
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert np.array_equal(true.indptr, indptr)
    assert np.array_equal(true.items, items)


def test_the_key_stream_is_chacha20() -> None:
    words = np.empty((16, chacha.LANES), np.uint32)
    chacha.fill(np.zeros(8, np.uint32), np.uint64(0), np.uint64(0), words)
    first, second = (words[:, lane].tobytes().hex() for lane in (0, 1))
    assert first.startswith("76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7")
    assert second.startswith("9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed")


@pytest.mark.parametrize(
    ("name", "given"),
    [("p", (1.2, 0.9)), ("p", (-0.1, 0.9)), ("q", (0.5, 2)), ("q", (0.5, math.nan)), ("p", ("a", 1))],
)
def test_a_violated_constraint_names_its_parameter(name: str, given: tuple[object, object]) -> None:
    with pytest.raises(ParameterError, match=f"'{name}' parameter of EMask"):
        EMask(*given)  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [lambda: EMask(0.1, 0.9), lambda: EMask(0, 1), lambda: Mask(0.5)])
def test_p_plus_q_of_one_is_refused_with_the_reason(make) -> None:
    with pytest.raises(ParameterError, match="nothing could be recovered"):
        make()


def test_other_parameters_are_checked() -> None:
    true = shop([[1]])
    with pytest.raises(ParameterError, match="random_state"):
        EMask(0.5, 0.9).perturb(true, random_state=-1)
    with pytest.raises(ParameterError, match="baskets"):
        EMask(0.5, 0.9).perturb([[1]])  # type: ignore[call-overload]
    with pytest.raises(ParameterError, match="as_bits"):
        EMask(0.5, 0.9).perturb(true, as_bits="yes")  # type: ignore[call-overload]
    with pytest.raises(ParameterError, match="n_items"):
        EMask(0.5, 0.9).epsilon_of_record(0)


def test_names_are_never_shown() -> None:
    true = Baskets.from_lists([[SECRET, "milk"], ["milk"]])
    distorted = EMask(0.9, 0.9).perturb(true, random_state=1)
    assert distorted.names.equals(true.names)
    assert SECRET not in repr(distorted) + repr(EMask(0.9, 0.9)) + str(EMask(0.9, 0.9).to_dict())
    with pytest.raises(DiscreetError) as caught:
        EMask(0.9, 0.9).perturb(true.lists())  # type: ignore[call-overload]
    assert SECRET not in str(caught.value)


def test_nothing_and_empty_baskets() -> None:
    nothing = Baskets(np.zeros(1, np.int64), np.empty(0, np.int32), pa.array([1, 2]))
    assert len(EMask(0.5, 0.9).perturb(nothing)) == 0
    assert len(EMask(0.5, 0.9).perturb(nothing, as_bits=True)) == 0
    no_items = Baskets(np.zeros(4, np.int64), np.empty(0, np.int32), pa.array([], pa.int64()))
    assert EMask(0.5, 0.9).perturb(no_items).lists() == [[], [], []]


@given(shares, shares)
def test_epsilon_is_the_largest_log_ratio(p: float, q: float) -> None:
    if abs(p + q - 1) < 1e-9:
        return
    assert EMask(p, q).epsilon == pytest.approx(oracles_mask.epsilon_of_bit(p, q))


@pytest.mark.parametrize(("p", "q"), [(1, 0.5), (0.5, 1), (1, 1), (0, 0.3)])
def test_epsilon_is_infinite_where_a_report_settles_a_bit(p: float, q: float) -> None:
    assert EMask(p, q).epsilon == math.inf
    assert EMask(p, q).epsilon_of_record(3) == math.inf
    assert not LocalDP(100).check(EMask(p, q)).ok


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.integers(1, 12), st.integers(0, 12))
def test_epsilon_of_a_record_is_the_worst_over_all_pairs(
    p: float, q: float, n_items: int, longest: int
) -> None:
    if abs(p + q - 1) < 1e-9:
        return
    channel = EMask(p, q)
    wanted = oracles_mask.epsilon_of_record(n_items, min(longest, n_items), p, q)
    assert channel.epsilon_of_record(n_items, longest=longest) == pytest.approx(wanted)
    assert channel.epsilon_of_record(n_items) == pytest.approx(n_items * channel.epsilon)


def test_guarantees_judge_a_channel_by_construction() -> None:
    channel = EMask(0.5, 0.97)
    kept = (BasicPrivacy(90, support=0.01), LocalDP(3), LocalDP(3000, bits=1000))
    for guarantee in kept:
        verdict = guarantee.check(channel)
        assert verdict.ok
        assert verdict.basis.value == "by construction"
        assert guarantee_from_dict(guarantee.to_dict()) == guarantee
        assert guarantee.describe().endswith(".")
    for guarantee in (BasicPrivacy(93, support=0.01), LocalDP(2), BasicPrivacy(90, support=(0.001, 0.2))):
        assert not guarantee.check(channel).ok
        assert "broken" in str(guarantee.check(channel))
    with pytest.raises(ParameterError, match="'epsilon' parameter of LocalDP"):
        LocalDP(-1)
    with pytest.raises(ParameterError, match="'support' parameter of BasicPrivacy"):
        BasicPrivacy(90, support=())


def test_guarantees_of_a_channel_together() -> None:
    joined = LocalDP(3) & BasicPrivacy(90, support=0.01)
    assert joined.check(EMask(0.5, 0.97)).ok
    assert not (joined & LocalDP(2)).check(EMask(0.5, 0.97)).ok
    assert len((joined & LocalDP(2)).check(EMask(0.5, 0.97)).parts) == 3
    assert guarantee_from_dict(joined.to_dict()) == joined
    with pytest.raises(ParameterError, match="guarantee of a channel"):
        joined.check(Baskets.from_lists([["a"]]))  # type: ignore[arg-type]


def test_a_table_cannot_be_judged_by_a_guarantee_of_a_channel() -> None:
    from discreet.core.tables.groups import Groups

    classes = Groups(sizes=np.array([3, 4]))
    for guarantee in (LocalDP(1), BasicPrivacy(90), KAnonymity(2) & LocalDP(1)):
        with pytest.raises(ParameterError, match="guarantee of a channel"):
            guarantee.check(classes)


def test_mask_speaks_of_its_only_parameter() -> None:
    with pytest.raises(ParameterError, match=r"'p' parameter of Mask must not be 0.5: .*Got 0.5 instead"):
        Mask(0.5)
    with pytest.raises(ParameterError, match="'p' and 'q' parameters of EMask must not add up to 1"):
        EMask(0.3, 0.7)
