"""Scalar products of two parties' vectors by correlated oblivious transfer (Gilboa, 1999)."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.params import IntIn, OneOf, require
from discreet.parties.inputs import private_integers
from discreet.parties.ot.extension import (
    TransferReceiver,
    TransferSender,
    transfer_batches,
    transfer_setup_frames,
)
from discreet.parties.ot.forms import correlated_frames, receive_correlated, send_correlated
from discreet.parties.protocol import Party, Protocol
from discreet.parties.shares.opening import Output, opening_frames, other_share, require_output
from discreet.parties.transcript import FrameShape

_MAX_COLUMNS = 1 << 12
_MAX_PRODUCTS = 1 << 20


@public
@dataclass(frozen=True)
class ScalarProduct(Protocol):
    """The scalar products of the columns of two private matrices, XᵀY, modulo 2^64.

    The first party of the session holds X, n × ``n_first`` integers of ``first_bits`` bits. The second one holds Y,
    n × ``n_second`` integers of ``second_bits`` bits. Vectors stand for matrices of one column. Every bit of Y takes
    one transfer, so the party with fewer bits should be the second.

    The output is an array ``n_first`` × ``n_second``: of int64 where the product is opened, of uint64 where a party
    has a share of it (the two shares add up to the product modulo 2^64), None at a party that learns nothing.

    Parameters
    ----------
    n : int
        The length of the vectors.
    first_bits, second_bits : int
        The bits of the integers of each party; 1 stands for zeros and ones.
    signed : bool
        Whether integers of more than one bit may be negative: those of b bits are in [−2^(b−1), 2^(b−1)) then, and in
        [0, 2^b) otherwise.
    n_first, n_second : int
        The columns of each matrix.
    output : {"both", "first", "second", "shares"}
        Who learns the products.
    malicious : bool
        Whether a second party that chooses inconsistently is caught.

    Examples
    --------
    >>> from discreet.parties import simulate
    >>> product = ScalarProduct(n=4, first_bits=16, second_bits=1, output="second")
    >>> run = simulate(product, {"prices": [3, 5, -7, 11], "members": [1, 1, 0, 1]})
    >>> run.outputs["members"]
    array([[19]])

    References
    ----------
    N. Gilboa. Two party RSA key generation. CRYPTO 1999.
    """

    name: ClassVar[str] = "scalar-product"
    max_parties: ClassVar[int | None] = 2

    n: int
    first_bits: int = 32
    second_bits: int = 1
    signed: bool = True
    n_first: int = 1
    n_second: int = 1
    output: Output = "both"
    malicious: bool = False

    def __post_init__(self) -> None:
        require(self, "n", self.n, IntIn(1, 1 << 40))
        require(self, "first_bits", self.first_bits, IntIn(1, 62))
        require(self, "second_bits", self.second_bits, IntIn(1, 62))
        require(self, "n_first", self.n_first, IntIn(1, _MAX_COLUMNS))
        require(self, "n_second", self.n_second, IntIn(1, _MAX_COLUMNS))
        require(self, "signed", self.signed, OneOf((False, True)))
        require(self, "malicious", self.malicious, OneOf((False, True)))
        require_output(self, self.output)
        if self.n_first * self.n_second > _MAX_PRODUCTS:
            raise ParameterError(f"At most {_MAX_PRODUCTS} products can be computed at once.")
        # A product is below 2^(first_bits + second_bits) in size, so a sum of n of them lies within int64 and
        # is read off its residue modulo 2^64.
        if self.n << (self.first_bits + self.second_bits) > 1 << 63:
            raise ParameterError(
                f"Products of {self.n} integers of {self.first_bits} and {self.second_bits} bits may not fit into 64 "
                "bits; reduce first_bits or second_bits."
            )

    @property
    def leaks(self) -> tuple[str, ...]:
        """What the parties learn beyond their outputs."""
        if self.output == "shares":
            return ()
        return (
            "A party that learns the product and puts in a single nonzero value learns the other's at its place.",
        )

    def frames(self, names: Sequence[str]) -> Iterable[FrameShape]:
        """Return the frames of a complete run."""
        first, second = names
        frames = transfer_setup_frames(first, second)
        for start, stop in self._parts():
            frames += correlated_frames(
                first, second, stop - start, n_words=self.n_first, malicious=self.malicious
            )
        return frames + opening_frames((first, second), 8 * self.n_first * self.n_second, self.output)

    def _run(self, party: Party, values: NDArray[np.uint64]) -> NDArray[np.int64] | NDArray[np.uint64] | None:
        if party.index == 0:
            sender = TransferSender(party, party.peer, label=self.name, malicious=self.malicious)
            with party.step("transfers"):
                share = self.first_share(sender, values)
        else:
            receiver = TransferReceiver(party, party.peer, label=self.name, malicious=self.malicious)
            with party.step("transfers"):
                share = self.second_share(receiver, values)
        if self.output == "shares":
            return share
        other = other_share(party, share.view(np.uint8).reshape(-1), self.output)
        return None if other is None else (share + other.view(np.uint64).reshape(share.shape)).view(np.int64)

    def checked(self, data: Any, names: Sequence[str], name: str) -> NDArray[np.uint64]:
        """Return the matrix of a party as words."""
        return self.words(names.index(name), data)

    def read_input(self, path: str | os.PathLike[str]) -> Any:
        """Read the matrix: a file whose columns are numbers."""
        from discreet.parties.inputs import number_columns

        return number_columns(path)

    def result_files(self, output: Any) -> dict[str, Any]:
        """Return the products, a row for each pair of columns; shares as signed integers, which every reader takes."""
        products = np.zeros((0, 0), np.int64) if output is None else output
        first, second = np.indices(products.shape).reshape(2, -1)
        columns = {"first": first, "second": second, "product": products.reshape(-1).view(np.int64)}
        return {"result.csv": columns}

    def words(self, index: int, data: Any) -> NDArray[np.uint64]:
        """Return the matrix of the first or second party as words; refuse what the session does not admit."""
        bits, columns = ((self.first_bits, self.n_first), (self.second_bits, self.n_second))[index]
        low, high = _range(bits, signed=self.signed)
        of = f"{('first', 'second')[index]} matrix"
        return private_integers(data, shape=(self.n, columns), low=low, high=high, of=of)

    def first_share(self, sender: TransferSender, values: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the first party's share of the products, over transfers that are set up already."""
        weights = _weights(self.second_bits, signed=self.signed)
        sums = np.zeros((self.n_second, self.n_first), np.uint64)
        for start, stop in self._parts():
            column, bit, row = self._places(start, stop)
            # Gilboa's product: for a bit b of Y the receiver gets mask + b·weight·row of X. Summed over bits
            # and rows, its words less the masks are the product, whichever way the residues wrap around.
            masks = send_correlated(sender, values[row] * weights[bit][:, None])
            _add_rows(sums, column, masks)
        return np.ascontiguousarray((np.uint64(0) - sums).T)

    def second_share(self, receiver: TransferReceiver, values: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the second party's share of the products, over transfers that are set up already."""
        sums = np.zeros((self.n_second, self.n_first), np.uint64)
        for start, stop in self._parts():
            column, bit, row = self._places(start, stop)
            choices = (values[row, column] >> bit.astype(np.uint64) & np.uint64(1)).astype(np.bool_)
            _add_rows(sums, column, receive_correlated(receiver, choices, n_words=self.n_first))
        return np.ascontiguousarray(sums.T)

    def _parts(self) -> Iterable[tuple[int, int]]:
        """Return the ranges of transfers that are held in memory at once."""
        # A block of a random message is 128 bits, which is two words.
        return transfer_batches(self.n * self.n_second * self.second_bits, blocks=-(-self.n_first // 2))

    def _places(
        self, start: int, stop: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return column of Y, bit and row of each transfer; rows run fastest, columns slowest."""
        bits_before, row = np.divmod(np.arange(start, stop), self.n)
        column, bit = np.divmod(bits_before, self.second_bits)
        return column, bit, row


def _range(bits: int, *, signed: bool) -> tuple[int, int]:
    if signed and bits > 1:
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return 0, (1 << bits) - 1


def _weights(bits: int, *, signed: bool) -> NDArray[np.uint64]:
    """Return what each bit of an integer counts modulo 2^64; the highest one of a signed integer is negative."""
    weights = [1 << bit for bit in range(bits)]
    if signed and bits > 1:
        weights[-1] = (1 << 64) - weights[-1]
    return np.array(weights, np.uint64)


def _add_rows(sums: NDArray[np.uint64], column: NDArray[np.int64], words: NDArray[np.uint64]) -> None:
    """Add the words of each transfer to the row of its column of Y."""
    # Columns run slowest over the transfers, so each of them is one contiguous run here.
    bounds = np.flatnonzero(np.diff(column, prepend=-1, append=-1))
    for start, stop in itertools.pairwise(bounds.tolist()):
        sums[column[start]] += words[start:stop].sum(axis=0, dtype=np.uint64)
