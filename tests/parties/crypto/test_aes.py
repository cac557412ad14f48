"""Known answers of the primitives, and slow definitions of the fast ones."""

from __future__ import annotations

import secrets

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

from discreet.kernels.parties.bit_matrix import transposed
from discreet.parties.crypto.aes import KeyStream, RowHash
from discreet.parties.crypto.oprf import blind_input, evaluate, evaluate_blinded, finalize

KEY = bytes.fromhex("5ebcea5ee37023ccb9fc2d2019f9d7737be85591ae8652ffa9ef0f4d37063b0e")
BLIND = bytes.fromhex("64d37aed22a27f5191de1c1d69fadb899d8862b58eb4220029e036ec4c1f6706")
VECTORS = [
    (
        "00",
        "609a0ae68c15a3cf6903766461307e5c8bb2f95e7e6550e1ffa2dc99e412803c",
        "7ec6578ae5120958eb2db1745758ff379e77cb64fe77b0b2d8cc917ea0869c7e",
        (
            "527759c3d9366f277d8c6020418d96bb393ba2afb20ff90df23fb7708264e2f3"
            "ab9135e3bd69955851de4b1f9fe8a0973396719b7912ba9ee8aa7d0b5e24bcf6"
        ),
    ),
    (
        "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a",
        "da27ef466870f5f15296299850aa088629945a17d1f5b7f5ff043f76b3c06418",
        "b4cbf5a4f1eeda5a63ce7b77c7d23f461db3fcab0dd28e4e17cecb5c90d02c25",
        (
            "f4a74c9c592497375e796aa837e907b1a045d34306a749db9f34221f7e750cb4"
            "f2a6413a6bf6fa5e19ba6348eb673934a722a7ede2e7621306d18951e7cf2c73"
        ),
    ),
]
"""RFC 9497, appendix A.1.1: input, blinded element, evaluated element, output."""


@pytest.mark.parametrize(("data", "blinded", "evaluated", "output"), VECTORS)
def test_oprf_vectors(data: str, blinded: str, evaluated: str, output: str) -> None:
    plain = bytes.fromhex(data)
    assert blind_input(plain, BLIND).hex() == blinded
    assert evaluate_blinded(KEY, bytes.fromhex(blinded)).hex() == evaluated
    assert finalize(plain, BLIND, bytes.fromhex(evaluated)).hex() == output
    assert evaluate(KEY, plain).hex() == output


def test_key_stream_is_aes_in_counter_mode() -> None:
    seed = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
    block = Cipher(algorithms.AES128(seed), modes.ECB()).encryptor()
    blocks = [block.update(counter.to_bytes(16, "big")) for counter in range(5)]
    stream = KeyStream(seed)
    parts = [stream.take(n).tobytes() for n in (1, 15, 16, 30)]
    assert b"".join(parts) == b"".join(blocks)[:62]


def test_counter_mode_vector_of_sp_800_38a() -> None:
    """NIST SP 800-38A, F.5.1: the cipher below the stream, from the counter block of the vector."""
    key = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
    counter = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    text = bytes.fromhex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
    encryptor = Cipher(algorithms.AES128(key), modes.CTR(counter)).encryptor()
    expected = "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
    assert encryptor.update(text).hex() == expected


def test_long_streams_equal_short_ones() -> None:
    seed = secrets.token_bytes(16)
    whole = KeyStream(seed).take((1 << 18) + 1000)
    parts = KeyStream(seed)
    assert np.array_equal(whole, np.concatenate([parts.take(1 << 18), parts.take(1000)]))


@given(st.integers(0, 40), st.integers(0, 2**63), st.integers(1, 5))
def test_row_hash_by_definition(n: int, start: int, blocks: int) -> None:
    session = secrets.token_bytes(32)
    rows = np.frombuffer(secrets.token_bytes(16 * n), np.uint64).reshape(n, 2)
    hashes = RowHash(session, "test")
    found = np.empty((n, 2 * blocks), np.uint64)
    hashes.write(found, rows, start)
    permutation = hashes._permutation
    for row, block in np.ndindex(n, blocks):
        first = permutation.update(rows[row].tobytes())
        tweak = (start + row).to_bytes(8, "little") + block.to_bytes(8, "little")
        mixed = bytes(a ^ b for a, b in zip(first, tweak, strict=True))
        expected = bytes(a ^ b for a, b in zip(permutation.update(mixed), first, strict=True))
        assert found[row, 2 * block : 2 * block + 2].tobytes() == expected


def test_row_hashes_differ_by_session_and_label() -> None:
    found = np.zeros((4, 2), np.uint64)
    for place, session in zip(found.reshape(2, 2, 2), (bytes(32), b"1" * 32), strict=True):
        for label in (0, 1):
            RowHash(session, f"label {label}").write(place[label : label + 1], np.zeros((1, 2), np.uint64), 0)
    assert len(np.unique(found, axis=0)) == 4


@given(st.integers(1, 4), st.integers(1, 5))
def test_transpose_by_definition(groups: int, words: int) -> None:
    columns = np.frombuffer(secrets.token_bytes(64 * groups * words * 8), np.uint64).reshape(-1, words)
    found = transposed(columns)
    assert found.shape == (64 * words, groups)
    bits = np.unpackbits(columns.view(np.uint8), axis=1, bitorder="little")
    assert np.array_equal(np.unpackbits(found.view(np.uint8), axis=1, bitorder="little"), bits.T)


def test_transpose_of_nothing() -> None:
    assert transposed(np.empty((128, 0), np.uint64)).shape == (0, 2)
