"""Kernels compile where no folder can be written for their cache, too."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from discreet.kernels.compiled import compiled


def total(values):
    found = 0
    for value in values:
        found += value
    return found


def test_a_kernel_without_a_place_for_its_cache_is_compiled_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: Dispatcher) -> None:
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(Dispatcher, "enable_caching", refuse)
    assert compiled(total)(np.arange(5)) == 10


def test_a_kernel_keeps_its_cache_elsewhere() -> None:
    kernel = compiled(total)
    assert kernel(np.arange(5)) == 10
    assert kernel.stats.cache_path
