"""Vectors as words of 64 bits: integers, integers modulo 2**64, and reals in fixed point."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.errors import ParameterError

Words = np.ndarray[Any, np.dtype[np.uint64]]


def encode(values: Any, *, kind: str, length: int, n_parties: int, fraction_bits: int) -> Words:
    """Return a vector as words; refuse one of another length, or whose sum over the parties could overflow.

    >>> encode([-1, 2], kind="integer", length=2, n_parties=3, fraction_bits=0)
    array([18446744073709551615,                    2], dtype=uint64)
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise ParameterError("The vector of a secure sum must be a sequence of numbers.") from None
    if array.ndim != 1 or len(array) != length:
        found = f"{len(array)} values" if array.ndim == 1 else f"{array.ndim} dimensions"
        raise ParameterError(f"The vector of a secure sum must have {length} values. Got {found}.")
    if kind == "modular":
        return _modular(array)
    if kind == "real":
        return _real(array, n_parties, fraction_bits)
    return _integer(array, n_parties)


def decode(words: Words, *, kind: str, fraction_bits: int) -> np.ndarray[Any, Any]:
    """Return the sum that words stand for."""
    if kind == "modular":
        return words
    signed = words.view(np.int64)
    return signed if kind == "integer" else np.ldexp(signed.astype(np.float64), -fraction_bits)


def largest(n_parties: int) -> int:
    """Return the largest magnitude a value may have so that the sum over the parties fits into 64 bits."""
    return ((1 << 63) - 1) // n_parties


def _modular(array: np.ndarray[Any, Any]) -> Words:
    if array.dtype != np.uint64:
        raise ParameterError("The vector of a modular secure sum must be of dtype uint64.")
    return np.ascontiguousarray(array)


def _integer(array: np.ndarray[Any, Any], n_parties: int) -> Words:
    if array.size and array.dtype.kind not in "iub":
        raise ParameterError("The vector of an integer secure sum must hold integers and no missing value.")
    limit = largest(n_parties)
    if array.size and (int(array.max()) > limit or int(array.min()) < -limit):
        raise ParameterError(
            f"A value of the vector is out of range; among {n_parties} parties it is ±{limit}."
        )
    return array.astype(np.int64).view(np.uint64)


def _real(array: np.ndarray[Any, Any], n_parties: int, fraction_bits: int) -> Words:
    if array.size and array.dtype.kind not in "iubf":
        raise ParameterError("The vector of a real secure sum must hold numbers and no missing value.")
    with np.errstate(over="ignore"):
        scaled = np.ldexp(array.astype(np.float64), fraction_bits)
    if not np.isfinite(scaled).all():
        raise ParameterError("The vector of a real secure sum must hold finite numbers.")
    limit = largest(n_parties)
    if array.size and float(np.abs(scaled).max()) >= float(limit):
        bound = limit / 2.0**fraction_bits
        raise ParameterError(
            f"A value of the vector is out of range; among {n_parties} parties it is ±{bound:.6g}."
        )
    words: Words = np.rint(scaled).astype(np.int64).view(np.uint64)
    return words
