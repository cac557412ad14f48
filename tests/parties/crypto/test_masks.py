"""Known answers of the primitives, and properties of the ones that have none."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.parties import PartyError
from discreet.parties.crypto.masks import add_stream, agree, derive, public_key, seal, unseal
from discreet.parties.crypto.ristretto import ELEMENT, UNIFORM, ristretto, scalar_from
from discreet.parties.crypto.shamir import PRIME, SHARE_BYTES, combine_shares, split_secret
from discreet.parties.sets.private_sets import in_random_order
from discreet.parties.sets.set_union import BLOCK, blocks_for, embed, extract


def test_hkdf_as_in_rfc_5869() -> None:
    found = derive(
        bytes([0x0B] * 22),
        salt=bytes(range(13)),
        info=bytes(range(0xF0, 0xFA)),
        length=42,
    )
    expected = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
    assert found.hex() == expected


def test_aes_256_in_counter_mode_of_the_zero_key() -> None:
    """The first two blocks are the key-check values of the AES and GCM test vectors of NIST."""
    expected = "dc95c078a2408989ad48a21492842087" + "530f8afbc74536b9a963b4f1c4cb738b"
    words = np.zeros(4, "<u8")
    add_stream(words, bytes(32))
    assert words.tobytes().hex() == expected


@pytest.mark.parametrize("length", [1, 4095, 4096, 4097, 9000])
def test_a_stream_in_blocks_is_the_stream_at_once(length: int) -> None:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    key = os.urandom(32)
    whole = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update(bytes(8 * length))
    words = np.full(length, 7, np.uint64)
    add_stream(words, key)
    assert np.array_equal(words, np.frombuffer(whole, "<u8") + np.uint64(7))
    add_stream(words, key, sign=-1)
    assert (words == 7).all()


def test_aes_256_gcm_of_the_zero_key() -> None:
    """Test case 14 of the GCM specification."""
    sealed = seal(bytes(32), bytes(16))
    assert sealed.hex() == "cea7403d4d606b6e074ec5d3baf39d18" + "d0d1c8a799996bf0265b98b5d48ab919"
    assert unseal(bytes(32), sealed) == bytes(16)
    with pytest.raises(PartyError, match="was changed"):
        unseal(bytes(32), sealed[:-1] + b"\0")


def test_x25519_as_in_rfc_7748() -> None:
    bob = bytes.fromhex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
    alice_key = bytes.fromhex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
    shared = bytes.fromhex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
    assert public_key(bob).hex() == "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"
    assert agree(bob, alice_key) == shared


def test_both_ends_agree() -> None:
    a, b = os.urandom(32), os.urandom(32)
    assert agree(a, public_key(b)) == agree(b, public_key(a))


def test_a_key_of_small_order_is_refused() -> None:
    with pytest.raises(PartyError, match="public key that is not valid"):
        agree(os.urandom(32), bytes(32))


def test_streams_of_different_keys_differ_and_are_uniform() -> None:
    words, others = np.zeros(50_000, np.uint64), np.zeros(50_000, np.uint64)
    add_stream(words, os.urandom(32))
    add_stream(others, os.urandom(32))
    assert not np.array_equal(words, others)
    counts = np.bincount(words.view(np.uint8), minlength=256)
    assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < 400


# Shamir.


@given(st.binary(min_size=32, max_size=32), st.data())
def test_any_shares_at_the_threshold_determine_the_secret(secret: bytes, data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 9))
    threshold = data.draw(st.integers(2, n))
    shares = split_secret(secret, n_shares=n, threshold=threshold, random_bytes=os.urandom)
    chosen = data.draw(st.permutations(range(n)))[:threshold]
    assert all(len(share) == SHARE_BYTES for share in shares)
    assert combine_shares({place: shares[place] for place in chosen}, threshold=threshold) == secret
    with pytest.raises(PartyError, match="are not enough"):
        combine_shares({place: shares[place] for place in chosen[:-1]}, threshold=threshold)


def test_one_share_too_few_fits_every_secret() -> None:
    """With a share made up for the missing one, any other secret comes out: the shares exclude none."""
    shares = split_secret(b"s" * 32, n_shares=3, threshold=3, random_bytes=os.urandom)
    found = set()
    for guess in range(50):
        try:
            found.add(
                combine_shares(
                    {0: shares[0], 1: shares[1], 2: guess.to_bytes(SHARE_BYTES, "big")}, threshold=3
                )
            )
        except PartyError:
            continue
    assert len(found) > 40


def test_the_field_is_the_smallest_above_every_secret() -> None:
    assert all(not _is_prime(value) for value in range((1 << 256) + 1, PRIME, 2))
    assert _is_prime(PRIME)


def _is_prime(number: int) -> bool:
    odd, power = number - 1, 0
    while odd % 2 == 0:
        odd, power = odd // 2, power + 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        value = pow(base, odd, number)
        if value not in (1, number - 1) and all(
            pow(value, 2**i, number) != number - 1 for i in range(1, power)
        ):
            return False
    return True


# Embedding.


@given(st.binary(max_size=70), st.integers(70, 90))
def test_an_embedded_text_comes_back_through_encryption(text: bytes, max_bytes: int) -> None:
    group, secret = ristretto(), scalar_from(os.urandom(UNIFORM))
    elements = embed(text, max_bytes=max_bytes)
    pieces = [elements[at : at + ELEMENT] for at in range(0, len(elements), ELEMENT)]
    assert len(pieces) == blocks_for(max_bytes)
    assert all(group.is_valid(piece) for piece in pieces)
    encrypted = [group.multiply(secret, piece) for piece in pieces]
    plain = b"".join(group.multiply(group.invert(secret), piece) for piece in encrypted)
    assert extract(plain, max_bytes=max_bytes) == text


def test_similar_texts_share_no_block_and_random_elements_hold_no_text() -> None:
    texts = [b"a" * n for n in range(100)]
    blocks = [
        embed(text, max_bytes=100)[at + 1 : at + 1 + BLOCK] for text in texts for at in range(0, 128, ELEMENT)
    ]
    assert len(set(blocks)) == len(blocks)
    group = ristretto()
    assert all(extract(group.from_uniform(os.urandom(UNIFORM)), max_bytes=20) is None for _ in range(200))


def test_every_order_is_as_likely_in_a_shuffle() -> None:
    counts = dict.fromkeys(["abc", "acb", "bac", "bca", "cab", "cba"], 0)
    for _ in range(6000):
        counts["".join(in_random_order("abc", os.urandom))] += 1
    assert sum((count - 1000) ** 2 / 1000 for count in counts.values()) < 35
