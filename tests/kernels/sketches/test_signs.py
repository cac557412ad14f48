"""The signs: right in the large field, exactly 4-wise independent in a small one; sketches against the plain sum."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import sketches as oracles

from discreet.kernels.sketches import sign_sums as kernel
from discreet.kernels.sketches.exact_sums import on_grid, spare_squares
from discreet.kernels.sketches.sign_sums import sum_rows
from discreet.kernels.sketches.signs import expand, tabulate

ELEMENTS = st.one_of(
    st.integers(0, oracles.PRIME - 1),
    st.sampled_from([0, 1, oracles.PRIME - 1, oracles.PRIME - 2, 2**32, 2**32 - 1, 2**60, 2**29 - 1]),
)


@given(
    points=st.lists(ELEMENTS, min_size=1, max_size=4),
    polynomials=st.lists(st.tuples(ELEMENTS, ELEMENTS, ELEMENTS, ELEMENTS), min_size=1, max_size=70),
)
def test_signs_are_the_polynomials_parity(points: list[int], polynomials: list[tuple[int, ...]]) -> None:
    table = tabulate(np.array(points, np.uint64), np.array(polynomials, np.uint64))
    found = expand(table, 0, len(polynomials))
    assert found.tolist() == [[oracles.sign(one, x) for one in polynomials] for x in points]


@pytest.mark.parametrize("bits", [3, 5])
def test_signs_are_exactly_4_wise_independent_over_a_small_field(bits: int) -> None:
    """Over all polynomials, every pattern of signs at four points comes as often as the single signs say.

    Of p values (p + 1)/2 are even, so that is the number of polynomials in which a sign is +1, out of p for each
    point.
    """
    prime = 2**bits - 1
    polynomials = np.stack(np.meshgrid(*[np.arange(prime)] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    table = tabulate(np.arange(prime, dtype=np.uint64), polynomials.astype(np.uint64), field_bits=bits)
    found = expand(table, 0, prime**4) > 0
    even, odd = (prime + 1) // 2, prime // 2
    points = list(itertools.combinations(range(prime), 4))
    for four in points if bits == 3 else points[:: len(points) // 40]:
        pattern = found[four[0]] * 8 + found[four[1]] * 4 + found[four[2]] * 2 + found[four[3]]
        counts = np.bincount(pattern, minlength=16)
        for at, count in enumerate(counts):
            ups = at.bit_count()
            assert count == even**ups * odd ** (4 - ups)


def test_signs_are_not_5_wise_independent_so_the_test_above_can_fail() -> None:
    prime = 7
    polynomials = np.stack(np.meshgrid(*[np.arange(prime)] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    table = tabulate(np.arange(prime, dtype=np.uint64), polynomials.astype(np.uint64), field_bits=3)
    found = expand(table, 0, prime**4) > 0
    ups = found[:5].sum(axis=0)
    assert [(ups == n).sum() for n in (0, 5)] != [3**5 / prime, 4**5 / prime]


@st.composite
def rows(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    lengths = draw(st.lists(st.integers(0, 40), min_size=1, max_size=4))
    n = sum(lengths)
    items = np.array(draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)), np.int32)
    weights = np.array(draw(st.lists(st.integers(-50, 50), min_size=n, max_size=n)), np.float64)
    widths = draw(st.lists(st.integers(0, 150), min_size=len(lengths), max_size=len(lengths)))
    return np.cumsum([0, *lengths]), items, weights, np.cumsum([0, *widths])


@given(given=rows(), block=st.sampled_from([64, 1 << 30]))
def test_sketches_are_signed_sums(given: tuple[np.ndarray, ...], block: int) -> None:
    indptr, items, weights, bounds = given
    rng = np.random.default_rng(3)
    table = tabulate(
        rng.integers(0, oracles.PRIME, 10).astype(np.uint64),
        rng.integers(0, oracles.PRIME, (150, 4)).astype(np.uint64),
    )
    signs = expand(table, 0, 150).astype(np.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "_TABLE_BYTES", block)
        weighed = sum_rows(indptr, items, weights, table, bounds)
        counted = sum_rows(indptr, items, None, table, bounds)
    for row in range(indptr.size - 1):
        own = slice(indptr[row], indptr[row + 1])
        width = bounds[row + 1] - bounds[row]
        whole = signs[items[own], :width]
        assert weighed[bounds[row] : bounds[row + 1]].tolist() == (weights[own] @ whole).tolist()
        assert counted[bounds[row] : bounds[row + 1]].tolist() == whole.sum(axis=0).tolist()


@pytest.mark.parametrize("parts", [1, 2, 5, 126])
def test_sums_that_run_over_spoil_no_other_row(parts: int) -> None:
    """Rows of every length, cut between blocks of components and between threads, the last of which ends first."""
    rng = np.random.default_rng(parts)
    table = tabulate(
        rng.integers(0, oracles.PRIME, 6).astype(np.uint64),
        rng.integers(0, oracles.PRIME, (200, 4)).astype(np.uint64),
    )
    widths = np.concatenate([rng.integers(0, 201, 60), rng.integers(0, 4, 60), [200, 1, 0, 65, 64, 63]])
    indptr = np.cumsum([0, *rng.integers(0, 9, widths.size)])
    items = rng.integers(0, 6, indptr[-1]).astype(np.int32)
    bounds = np.cumsum([0, *widths])
    signs = expand(table, 0, 200).astype(np.int64)
    expected = np.concatenate(
        [
            signs[items[indptr[row] : indptr[row + 1]], :width].sum(axis=0)
            for row, width in enumerate(widths.tolist())
        ]
    )

    def backwards(work: Callable[[int, int], None], size: int) -> None:
        cuts = [size * part // parts for part in range(parts + 1)]
        for start, stop in reversed(list(itertools.pairwise(cuts))):
            work(start, stop)

    for block in (64 * 6, 128 * 6, 1 << 30):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kernel, "_TABLE_BYTES", block)
            patch.setattr(kernel, "in_threads", backwards)
            counted = sum_rows(indptr, items, None, table, bounds)
            weighed = sum_rows(indptr, items, np.full(items.size, 0.5), table, bounds)
        assert counted.tolist() == expected.tolist()
        assert weighed.tolist() == (expected / 2).tolist()


def test_a_row_that_gets_no_component_does_not_widen_the_others() -> None:
    table = np.zeros((1, 1), np.uint64)
    indptr, items = np.array([0, 2, 130]), np.zeros(130, np.int32)
    assert sum_rows(indptr, items, None, table, np.array([0, 3, 3])).dtype == np.int8
    assert sum_rows(indptr, items, None, table, np.array([0, 3, 4])).dtype == np.int16


def test_long_rows_of_ones_do_not_overflow_a_byte() -> None:
    table = np.zeros((1, 1), np.uint64)
    for n in (1, 3, 4, 31, 32, 127, 128, 254, 255, 256, 1000, 2**15 - 1, 2**15):
        found = sum_rows(np.array([0, n]), np.zeros(n, np.int32), None, table, np.array([0, 3]))
        assert found.tolist() == [n] * 3
        found = sum_rows(np.array([0, n]), np.zeros(n, np.int32), None, ~table, np.array([0, 64]))
        assert found.tolist() == [-n] * 64


@given(st.lists(st.floats(-1e6, 1e6).filter(lambda value: abs(value) > 1e-100), min_size=1, max_size=40))
def test_values_on_the_grid_are_near_and_add_up_alike_in_any_order(values: list[float]) -> None:
    held = np.array(values)
    rounded = on_grid(np.array([0, held.size]), held)
    assert np.abs(rounded - held).max() <= 2.0**-46 * np.abs(held).max()
    forth, back = 0.0, 0.0
    for one, other in zip(rounded, rounded[::-1], strict=True):
        forth, back = forth + one, back + other
    assert forth == back


@given(st.lists(st.integers(-(2**20), 2**20).filter(bool), min_size=1, max_size=40))
def test_whole_numbers_are_on_the_grid(values: list[int]) -> None:
    held = np.array(values, np.float64)
    bounds = np.array([0, held.size])
    assert on_grid(bounds, held).tolist() == values
    squares = sorted(value**2 for value in values)
    assert spare_squares(bounds, held).tolist() == [sum(squares[:-1])]
