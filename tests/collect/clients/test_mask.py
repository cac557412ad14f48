"""The client: it runs in a bare interpreter, and distorts as the kernel does."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.oracles import mask as oracles_mask

from discreet.collect import EMask
from discreet.collect.clients import mask as client
from discreet.core.baskets.baskets import Baskets

FALSE_ALARM = 1e-9
"""The client draws from the operating system: this is how often a right client fails a test, for each comparison."""


def test_it_runs_in_a_bare_interpreter(tmp_path: Path) -> None:
    copied = tmp_path / "client.py"
    copied.write_text(Path(client.__file__).read_text(encoding="utf-8"), encoding="utf-8")
    code = (
        f"import importlib.util as u, sys\ns = u.spec_from_file_location('client', {str(copied)!r})\n"
        "m = u.module_from_spec(s)\ns.loader.exec_module(m)\n"
        "assert m.flip([3, 1], 5, 1, 1) == [1, 3]\nassert set(m.flip([3, 1], 50, 0.5, 0.9)) <= set(range(50))\n"
        "print([name for name in sys.modules if name in ('numpy', 'pyarrow', 'discreet', 'numba')])"
    )
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.9), (0.8, 0.6), (0.3, 0.99)])
def test_it_gives_every_basket_as_often_as_it_should_and_as_the_kernel_does(p: float, q: float) -> None:
    held, n_items, n = {0, 2}, 5, 20_000
    probability = {
        mask: float(np.prod([_chance(item in held, bool(mask >> item & 1), p, q) for item in range(n_items)]))
        for mask in range(1 << n_items)
    }
    expected = [n * probability[mask] for mask in range(1 << n_items)]
    mine = Counter(sum(1 << item for item in client.flip(held, n_items, p, q)) for _ in range(n))
    one = Baskets(
        2 * np.arange(n + 1), np.tile(np.array(sorted(held), np.int32), n), pa.array(np.arange(n_items))
    )
    kernels = Counter(
        sum(1 << item for item in basket) for basket in EMask(p, q).perturb(one, random_state=1)
    )
    for counts in (mine, kernels):
        assert oracles_mask.chi_square([counts[mask] for mask in range(1 << n_items)], expected) > FALSE_ALARM


def _chance(held: bool, seen: bool, p: float, q: float) -> float:
    one = p if held else 1 - q
    return one if seen else 1 - one


@pytest.mark.parametrize(("items", "n_items", "p", "q", "wanted"), [
    ([], 4, 0, 0, [0, 1, 2, 3]),
    ([1, 1, 2], 4, 0, 0, [0, 3]),
    ([1], 0x7FFFFFFF, 1, 1, [1]),
    ([], 0, 0.5, 0.9, []),
])  # fmt: skip
def test_edges(items: list[int], n_items: int, p: float, q: float, wanted: list[int]) -> None:
    if n_items < 10 or q == 1:
        assert client.flip(items, n_items, p, q) == wanted


def test_work_follows_the_items_reported() -> None:
    assert len(client.flip(range(10), 10**9, 0.5, 1 - 1e-8)) < 100


@pytest.mark.parametrize(
    ("items", "p", "q"),
    [
        ([1], 0.5, 0.5),
        ([1], 1.1, 0.9),
        ([1], 0.5, -0.1),
        ([7], 0.5, 0.9),
        ([-1], 0.5, 0.9),
        (["a"], 0.5, 0.9),
    ],
)
def test_mistakes_are_refused(items: list[int], p: float, q: float) -> None:
    with pytest.raises(ValueError):
        client.flip(items, 5, p, q)


def test_it_takes_whole_numbers_of_any_kind_and_nothing_else() -> None:
    assert client.flip(np.array([3, 1]), 5, 1.0, 1.0) == [1, 3]
    for bad in ([1.0], ["1"], [None], [5], [-1]):
        with pytest.raises(ValueError, match="whole numbers from 0 up to n_items - 1") as caught:
            client.flip(bad, 5, 1.0, 1.0)
        assert caught.value.__context__ is None
