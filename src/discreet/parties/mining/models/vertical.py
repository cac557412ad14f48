"""Columns of the same people at several parties: products of two parties' columns, and what all of them are told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InputError, ParameterError
from discreet.parties.errors import PartyError
from discreet.parties.mining.models.columns import own_columns, read_columns, require_names
from discreet.parties.mining.models.saved import model_to_dict
from discreet.parties.mining.models.totals import Fitted
from discreet.parties.ot.extension import TransferReceiver, TransferSender, setup_frames
from discreet.parties.protocol import Party, Protocol
from discreet.parties.shares.opening import other_share
from discreet.parties.shares.scalar_product import ScalarProduct
from discreet.parties.transcript import FrameShape

WIDE_BYTES = 16
"""The bytes of an integer that is told to others."""


@dataclass(frozen=True, kw_only=True)
class VerticalProtocol(Protocol):
    """A protocol over columns of the same people, who are in the same order at every party.

    Parameters
    ----------
    columns : mapping of str to list of str
        The columns of each party, by its name.
    """

    columns: Mapping[str, Any]

    def __post_init__(self) -> None:
        listed = [name for held in self.columns.values() for name in held]
        require_names(self, "columns", tuple(listed))
        holder = getattr(self, "holder", None)
        empty = [party for party, held in self.columns.items() if not held and party != holder]
        if empty:
            raise ParameterError(
                f"The 'columns' parameter of {type(self).__name__} must have columns of every party."
            )

    def check_parties(self, names: Sequence[str]) -> None:
        """Raise a ParameterError unless every party is named with its columns."""
        super().check_parties(names)
        if set(self.columns) != set(names):
            raise ParameterError(
                f"The 'columns' parameter of {type(self).__name__} must have every party of the session by name, and "
                "no other."
            )

    def check_input(self, data: Any, names: Sequence[str], name: str) -> None:
        """Raise an InputError unless the party could run with this input."""
        self.check_parties(names)
        self.read(data, name)

    def read_input(self, path: Any) -> Any:
        """Read all columns that the session names and the file has."""
        from discreet.engines.files import read

        held = set(read(path).columns)
        found = [name for listed in self.columns.values() for name in listed if name in held]
        if not found:
            raise InputError(f"{path} has no column that the session names.")
        return read_columns(path, found)

    def read(self, data: Any, name: str) -> Any:
        """Return a party's columns as the protocol uses them; refuse what the session does not admit."""
        return own_columns(data, self.names_of(name))

    def names_of(self, party: str) -> tuple[str, ...]:
        """Return the columns of a party."""
        return tuple(self.columns[party])

    def all_names(self, parties: Sequence[str]) -> tuple[str, ...]:
        """Return all columns, in the order of the parties."""
        return tuple(name for party in parties for name in self.columns[party])

    def result_files(self, output: Fitted) -> dict[str, Any]:
        """Return the model as plain data."""
        return {"model.json": model_to_dict(output.model)}

    def covers(self, output: Fitted, names: Sequence[str]) -> tuple[str, ...]:
        """Return the parties whose columns are in the model: all of them."""
        del output
        return tuple(names)


def agree_on_rows(party: Party, n_rows: int) -> None:
    """Compare the number of rows with all parties; it is the same at each, or all stop."""
    party.broadcast("rows", n_rows.to_bytes(8, "little"))
    found = {int.from_bytes(one, "little") for one in party.gather("rows", 8).values()}
    if found != {n_rows}:
        raise PartyError("The parties hold different numbers of rows; match the people first.")
    if n_rows == 0:
        raise InputError("The parties hold no rows; there is nothing to learn from.")
    party.reveal("rows", n_rows)


def row_frames(names: Sequence[str]) -> Iterator[FrameShape]:
    """Return the frames of ``agree_on_rows``."""
    yield from told_frames(names, "rows", dict.fromkeys(names, 8))


def tell(party: Party, kind: str, values: Iterable[int], lengths: Mapping[str, int]) -> dict[str, list[int]]:
    """Send integers of up to 127 bits to all parties; return those of every party, by name."""
    own = [int(value) for value in values]
    payload = b"".join(value.to_bytes(WIDE_BYTES, "little", signed=True) for value in own)
    if own:
        party.broadcast(kind, payload)
    found = {}
    for name in party.names:
        if name == party.name:
            found[name] = own
        elif lengths[name]:
            found[name] = _integers(party.recv(name, kind, WIDE_BYTES * lengths[name]))
        else:
            found[name] = []
    return found


def told_frames(names: Sequence[str], kind: str, sizes: Mapping[str, int]) -> Iterator[FrameShape]:
    """Return the frames in which every party sends so many bytes to all others; none where it has none."""
    for sender in names:
        if sizes[sender]:
            yield from (FrameShape(sender, peer, kind, sizes[sender]) for peer in names if peer != sender)


def _integers(payload: bytes) -> list[int]:
    return [
        int.from_bytes(payload[at : at + WIDE_BYTES], "little", signed=True)
        for at in range(0, len(payload), WIDE_BYTES)
    ]


class PairProducts:
    """Scalar products of the columns of two parties, over transfers that are set up once.

    Parameters
    ----------
    party : Party
        The end of one of both.
    pair : tuple of str
        The two parties; those of the second take one transfer for each bit of its values.
    label : str
        The use of these products, once in a session.
    """

    def __init__(self, party: Party, pair: tuple[str, str], *, label: str) -> None:
        self.party = party.within(label, pair)
        first = self.party.index == 0
        transfers = TransferSender if first else TransferReceiver
        self._end: Any = transfers(self.party, self.party.peer, label=label)

    def opened(self, product: ScalarProduct, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the products of the first party's columns with the second's, which both learn."""
        words = product.checked(self.party.index, values)
        with self.party.step("transfers"):
            halves = (product.first_share, product.second_share)
            share: NDArray[np.uint64] = halves[self.party.index](self._end, words)
        other = other_share(self.party, share.view(np.uint8).reshape(-1), "both")
        assert other is not None
        return (share + other.view(np.uint64).reshape(share.shape)).view(np.int64)


def pair_setup_frames(pair: tuple[str, str]) -> list[FrameShape]:
    """Return the frames that set up the products of two parties."""
    return setup_frames(*pair)


def opened_frames(pair: tuple[str, str], product: ScalarProduct) -> list[FrameShape]:
    """Return the frames of opened products whose transfers are set up."""
    return list(product.frames(pair))[len(setup_frames(*pair)) :]
