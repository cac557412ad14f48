"""Bit files: there and back, mapped without copying, and headers that do not match."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from tests.strategies.baskets import baskets

from discreet import Baskets, read_bits, write_bits
from discreet.core.errors import InputError, OutputError
from discreet.engines.baskets import bits as bit_files

FOUND = Baskets.from_lists([["milk", "Łódź"], [], ["milk"]])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(baskets())
def test_there_and_back(tmp_path: Path, found: Baskets) -> None:
    bits = found.bits()
    write_bits(bits, tmp_path / "a.bits", overwrite=True)
    again = read_bits(tmp_path / "a.bits")
    assert (again.blocks == bits.blocks).all()
    assert again.names.equals(bits.names)
    assert again.n == bits.n
    assert again.baskets().equals(found)


def test_the_words_stay_on_disk(tmp_path: Path) -> None:
    path = write_bits(FOUND.bits(), tmp_path / "a.bits")
    bits = read_bits(path)
    base = bits.blocks
    while not isinstance(base, np.memmap):
        assert isinstance(base, np.ndarray), "the words were copied"
        base = base.base
    assert base.offset % 4096 == 0
    assert not bits.blocks.flags.writeable
    assert bits.counts.tolist() == [2, 1]


def test_writing_is_all_or_nothing(tmp_path: Path) -> None:
    path = write_bits(FOUND.bits(), tmp_path / "a.bits")
    before = path.read_bytes()
    with pytest.raises(OutputError, match="is there already"):
        write_bits(FOUND.bits(), path)
    assert path.read_bytes() == before
    write_bits(FOUND.take(np.array([0])).bits(), path, overwrite=True)
    assert len(read_bits(path)) == 1
    assert [left.name for left in tmp_path.iterdir()] == ["a.bits"]


def test_the_same_bytes_every_time(tmp_path: Path) -> None:
    one, two = (write_bits(FOUND.bits(), tmp_path / name).read_bytes() for name in ("a.bits", "b.bits"))
    assert one == two


def damaged(folder: Path, place: int, patch: bytes) -> Path:
    content = bytearray(write_bits(FOUND.bits(), folder / "a.bits", overwrite=True).read_bytes())
    content[place : place + len(patch)] = patch
    (folder / "b.bits").write_bytes(content)
    return folder / "b.bits"


def sealed(folder: Path, *, n: int = 3, n_items: int = 2) -> Path:
    """Write a file whose header is whole but says something else."""
    content = bytearray(write_bits(FOUND.bits(), folder / "a.bits", overwrite=True).read_bytes())
    size = struct.unpack_from("<Q", content, 32)[0]
    struct.pack_into("<QQ", content, 16, n, n_items)
    struct.pack_into("<I", content, 40, 0)
    struct.pack_into("<I", content, 40, zlib.crc32(bytes(content[: 48 + size])))
    (folder / "b.bits").write_bytes(content)
    return folder / "b.bits"


@pytest.mark.parametrize(
    ("place", "patch", "words"),
    [
        (0, b"DISCBITS", "no bit file"),
        (8, struct.pack("<I", 2), "version 2; only version 1"),
        (12, struct.pack("<I", 64), "checksum"),
        (16, struct.pack("<Q", 4), "checksum"),
        (24, struct.pack("<Q", 3), "checksum"),
        (32, struct.pack("<Q", 8), "checksum"),
        (32, struct.pack("<Q", 2**62), "cut short, or its header is damaged"),
        (60, b"\x7f\x7f", "checksum"),
    ],
)
def test_headers_that_do_not_match(tmp_path: Path, place: int, patch: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read_bits(damaged(tmp_path, place, patch))
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("n", "n_items", "words"),
    [
        (8193, 2, "cut short: 4096 bytes of bits are announced, 2048 there"),
        (0, 2, "too long"),
        (2, 2, "bits set beyond its last basket"),
        (3, 3, "3 items, 2 names"),
    ],
)
def test_sizes_that_disagree(tmp_path: Path, n: int, n_items: int, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_bits(sealed(tmp_path, n=n, n_items=n_items))


@pytest.mark.parametrize("length", [0, 3, 8, 30, 100, 4096, 5000, -8])
def test_files_cut_short(tmp_path: Path, length: int) -> None:
    content = write_bits(FOUND.bits(), tmp_path / "a.bits").read_bytes()
    (tmp_path / "b.bits").write_bytes(content[:length])
    with pytest.raises(InputError, match=r"cut short|is empty|no bit file|checksum"):
        read_bits(tmp_path / "b.bits")


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no file"):
        read_bits(tmp_path / "none.bits")
    with pytest.raises(InputError, match="is a folder"):
        read_bits(tmp_path)


def test_bit_files_are_known_by_their_beginning(tmp_path: Path) -> None:
    path = write_bits(FOUND.bits(), tmp_path / "no-ending")
    assert bit_files.is_bit_file(path)
    from discreet import read_baskets

    assert read_baskets(path).equals(FOUND)
