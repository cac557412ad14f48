"""ItemBits: baskets on end and back, columns chosen, and bits that do not fit."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies.baskets import baskets

from discreet import Baskets
from discreet.core.baskets.bits import ItemBits
from discreet.core.errors import InputError


@given(baskets())
def test_there_and_back(found: Baskets) -> None:
    bits = found.bits()
    assert (len(bits), bits.n_items) == (len(found), found.n_items)
    assert bits.counts.tolist() == found.counts.tolist()
    assert bits.baskets().equals(found)


@given(baskets(), st.data())
def test_chosen_columns(found: Baskets, data: st.DataObject) -> None:
    chosen = data.draw(st.permutations(range(found.n_items)))[: found.n_items // 2 + 1]
    codes = np.array(chosen, np.int32)
    asked, taken = found.bits(items=codes), found.bits().take(codes)
    assert asked.names.equals(taken.names)
    assert asked.names.to_pylist() == [found.names[code].as_py() for code in chosen]
    assert (asked.blocks == taken.blocks).all()
    assert taken.blocks.flags.c_contiguous
    assert taken.counts.tolist() == found.counts[codes].tolist()


def test_many_blocks() -> None:
    rng = np.random.default_rng(3)
    entries = rng.integers(0, [20_000, 7], (60_000, 2))
    found = Baskets.from_entries(
        entries[:, 0], entries[:, 1].astype(np.int32), pa.array(list("abcdefg")), n=20_000
    )
    bits = found.bits()
    assert bits.blocks.shape == (3, 7, 128)
    dense = found.to_sparse().toarray().astype(bool)
    unpacked = np.unpackbits(bits.blocks.view(np.uint8), axis=2, bitorder="little")
    assert (unpacked.transpose(0, 2, 1).reshape(-1, 7)[:20_000] == dense).all()
    assert bits.baskets().equals(found)


def test_repr_tells_no_item() -> None:
    assert repr(Baskets.from_lists([["secret"]]).bits()) == "ItemBits(1 baskets, 1 items)"


def test_bits_that_do_not_fit() -> None:
    blocks = np.zeros((1, 2, 128), np.uint64)
    names = pa.array(["a", "b"])
    with pytest.raises(InputError, match="do not fit"):
        ItemBits(blocks, 8193, names)
    with pytest.raises(InputError, match="do not fit"):
        ItemBits(blocks, 10, pa.array(["a"]))
    with pytest.raises(InputError, match="do not fit"):
        ItemBits(blocks.astype(np.int64), 10, names)  # type: ignore[arg-type]
    for basket in (10, 64, 8191):
        stray = blocks.copy()
        stray[0, 1, basket // 64] = np.uint64(1) << np.uint64(basket % 64)
        with pytest.raises(InputError, match="beyond the last basket"):
            ItemBits(stray, 10, names)
        assert ItemBits(stray, basket + 1, names).counts.tolist() == [0, 1]
