"""Quantiles between parties equal the definition on the pooled rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from tests.parties.mining.models.pooled import checked
from tests.parties.open_protocols import (
    HorizontalQuantiles,
)
from tests.parties.splits import by_party, n_of, split_rows


@settings(max_examples=8)
@given(split_rows(max_rows=25))
def test_quantiles_equal_the_definition(split: Any) -> None:
    rng, parts = split
    n = n_of(parts)
    values = rng.integers(-3, 19, n)
    q = (0.0, 0.1, 0.5, 1.0)
    protocol = HorizontalQuantiles(columns=("x",), q=q, ranges={"x": (0, 15)}, bits=4)
    run = checked(protocol, by_party({"x": values}, parts))
    ordered = np.sort(np.clip(values, 0, 15))
    expected = [float(ordered[max(1, int(np.ceil(round(one * n, 9)))) - 1]) for one in q]
    for output in run.outputs.values():
        assert output.model["x"].tolist() == expected
