"""Baskets made of arrays that do not fit together, and sparse matrices that are damaged: refused, nothing cut off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from discreet import Baskets, read_baskets
from discreet.core.errors import InputError

NAMES = pa.array(["bread", "milk"])


@pytest.mark.parametrize(
    ("indptr", "items"),
    [
        ([0, 1], [2**32]),
        ([0, 1], np.array([2**64 - 1], np.uint64)),
        ([0, 1], [0.9]),
        ([0.0, 1.5], [0]),
        ([0, 1], [[0]]),
        ([[0, 1]], [0]),
        ([0, 1], ["0"]),
        ([0, 1], [True]),
    ],
)
def test_numbers_are_never_cut_to_size(indptr: Any, items: Any) -> None:
    with pytest.raises(InputError, match=r"row of whole numbers|no name"):
        Baskets(np.array(indptr), np.array(items), NAMES)


def test_names_must_be_an_arrow_array() -> None:
    with pytest.raises(InputError, match="names of the items must be an Arrow array"):
        Baskets(np.array([0, 1]), np.array([0]), ["bread"])
    chunked = Baskets(np.array([0, 1]), np.array([1]), pa.chunked_array([["bread"], ["milk"]]))
    assert chunked.lists() == [["milk"]]


def test_names_that_are_no_text_are_refused_without_being_shown() -> None:
    with pytest.raises(InputError, match="not of the baskets' kind") as caught:
        Baskets(np.array([0, 1]), np.array([0]), NAMES).codes_of(["\ud800secret"])
    assert caught.value.__suppress_context__


def damaged(**changed: Any) -> Any:
    """Return a matrix whose arrays were changed behind its back."""
    matrix = sparse.csr_array(np.eye(2))
    for name, array in changed.items():
        setattr(matrix, name, np.array(array, getattr(matrix, name).dtype))
    return matrix


@pytest.mark.parametrize("changed", [{"indices": [0, 7]}, {"indices": [0, -1]}, {"indptr": [0, 2, 1]}])
def test_a_damaged_sparse_matrix_is_refused(changed: Any) -> None:
    with pytest.raises(InputError, match="do not fit together") as caught:
        Baskets.from_sparse(damaged(**changed))
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("changed", [{"indices": [0, 7]}, {"indptr": [0, 2, 1]}, {"data": ["secret", "x"]}])
def test_a_damaged_sparse_file_is_refused(tmp_path: Path, changed: Any) -> None:
    whole = {
        "indices": [0, 1],
        "indptr": [0, 1, 2],
        "format": b"csr",
        "shape": [2, 2],
        "data": [1, 1],
        **changed,
    }
    np.savez(tmp_path / "shop.npz", **{name: np.array(value) for name, value in whole.items()})
    with pytest.raises(InputError, match=r"do not fit together|no sparse matrix") as caught:
        read_baskets(tmp_path / "shop.npz")
    assert "secret" not in str(caught.value)


def test_an_array_that_calls_itself_a_sparse_file_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "shop.npz").open("wb") as stream:
        np.save(stream, np.eye(2))
    with pytest.raises(InputError, match="is no sparse matrix of scipy, or is damaged"):
        read_baskets(tmp_path / "shop.npz")
