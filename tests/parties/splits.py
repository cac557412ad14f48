"""Random rows and columns, split between parties at random; pooled again for the oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

Rows = dict[str, np.ndarray[Any, Any]]


@st.composite
def split_rows(
    draw: st.DrawFn, *, n_parties: Sequence[int] = (2, 4), min_rows: int = 1, max_rows: int = 60
) -> Any:
    """A generator of random rows, and the places of each party's rows; some parties have none."""
    n = draw(st.integers(min_rows, max_rows))
    parties = draw(st.integers(*n_parties))
    owners = np.array(draw(st.lists(st.integers(0, parties - 1), min_size=n, max_size=n)))
    seed = draw(st.integers(0, 2**32 - 1))
    return np.random.default_rng(seed), [np.flatnonzero(owners == party) for party in range(parties)]


def n_of(parts: Sequence[np.ndarray[Any, Any]]) -> int:
    return sum(map(len, parts))


def by_party(rows: Mapping[str, Any], parts: Sequence[np.ndarray[Any, Any]]) -> dict[str, Rows]:
    """Each party's own rows, by name."""
    return {
        f"p{number}": {name: np.asarray(column)[part] for name, column in rows.items()}
        for number, part in enumerate(parts)
    }


def quarter(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Values that lie on a coarse grid, so that ties occur and rounding changes nothing."""
    return np.rint(values * 4) / 4


def frame(rows: Mapping[str, Any], names: Sequence[str]) -> Any:
    import pandas as pd

    return pd.DataFrame({name: rows[name] for name in names})
