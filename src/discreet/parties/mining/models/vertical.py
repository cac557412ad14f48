"""Columns of the same people at several parties: products of two parties' columns, and integers that all exchange."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InputError, ParameterError
from discreet.core.params import IntIn, require
from discreet.parties.errors import PartyError
from discreet.parties.mining.models.columns import (
    codes,
    own_columns,
    read_columns,
    require_names,
    sort_classes,
)
from discreet.parties.mining.models.model_protocol import MOST_LEAST, ModelProtocol
from discreet.parties.ot.extension import TransferReceiver, TransferSender, transfer_setup_frames
from discreet.parties.protocol import Party
from discreet.parties.shares.coarse_tables import TableShape, cut_groups
from discreet.parties.shares.opening import other_share
from discreet.parties.shares.scalar_product import ScalarProduct
from discreet.parties.shares.thresholds import ThresholdFrames, Thresholds
from discreet.parties.transcript import FrameShape

_WIDE_BYTES = 16
"""The bytes of an integer that parties exchange."""


@dataclass(frozen=True, kw_only=True)
class VerticalProtocol(ModelProtocol):
    """A protocol over columns of the same people, who are in the same order at every party.

    Parameters
    ----------
    columns : mapping of str to list of str
        The columns of each party, by its name.
    """

    columns: Mapping[str, Any]

    def __post_init__(self) -> None:
        require(self, "min_count", self.min_count, IntIn(1, MOST_LEAST))
        require_names(self, "columns", self.all_names())
        holder = getattr(self, "holder", None)
        if any(not names and party != holder for party, names in self.columns.items()):
            raise ParameterError(
                f"The 'columns' parameter of {type(self).__name__} must have columns of every party."
            )

    def check_parties(self, names: Sequence[str]) -> None:
        """Raise a ParameterError unless every party is named with its columns."""
        super().check_parties(names)
        require_every_party(self, names)

    def checked(self, data: Any, names: Sequence[str], name: str) -> Any:
        """Return a party's columns as the protocol uses them, if every party is named with its columns."""
        self.check_parties(names)
        return self.read(data, name)

    def read_input(self, path: Any) -> Any:
        """Read all columns that the session names and the file has."""
        from discreet.engines.files import read

        columns = set(read(path).columns)
        names = [name for name in self.all_names() if name in columns]
        if not names:
            raise InputError(f"{path} has no column that the session names.")
        return read_columns(path, names)

    def read(self, data: Any, name: str) -> Any:
        """Return a party's columns as the protocol uses them; refuse what the session does not admit."""
        return own_columns(data, self.names_of(name))

    def names_of(self, party: str) -> tuple[str, ...]:
        """Return the columns of a party."""
        return tuple(self.columns[party])

    def all_names(self, parties: Sequence[str] | None = None) -> tuple[str, ...]:
        """Return all columns, in the order of the parties, or else of the ``columns`` parameter."""
        return tuple(name for party in parties or self.columns for name in self.columns[party])


@dataclass(frozen=True, kw_only=True)
class VerticalClassifier(VerticalProtocol):
    """A protocol over columns of the same people, whose classes one party holds.

    Parameters
    ----------
    target, holder : str
        The column of classes, and the party that has it.
    classes : tuple of str or int
        The public list of classes.
    """

    target: str
    holder: str
    classes: tuple[Any, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.holder not in self.columns:
            raise ParameterError(
                f"The 'holder' parameter of {type(self).__name__} must be the name of a party."
            )
        require_names(self, "target", (self.target, *self.all_names()))
        sort_classes(self)

    def learned_classes(self, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which classes are learned: those with ``min_count`` rows, and where others are left out, not too few.

        All parties know the number of rows, so the rows left out are those that the learned classes lack. Where they
        are fewer than ``min_count`` together, the smallest learned class is left out as well.
        """
        counts = np.bincount(labels, minlength=len(self.classes))
        learned = counts >= self.min_count
        if 0 < counts[~learned].sum() < self.min_count and learned.any():
            # More rows than there are stands for the classes left
            # out already, so the minimum is one of the learned.
            learned[np.where(learned, counts, len(labels) + 1).argmin()] = False
        return learned

    def class_caution(self, counts: Sequence[float]) -> str:
        """Return how many classes are left out; empty if none is."""
        n = sum(count <= 0 for count in counts)
        left_out = (
            f"{n} of {len(counts)} classes were left out: they have no row or fewer than {self.min_count}, or "
            "the rows left out would be fewer in all."
        )
        return left_out if n and self.holds_back else ""

    @property
    def _class_leaks(self) -> tuple[str, ...]:
        """What the number of rows and a party's own columns show of classes that are left out."""
        if not self.holds_back:
            return ()
        return (
            (
                "Every party learns how many rows the classes left out have together, none or at least "
                f"{self.min_count}. A party that subtracts what is opened of its own columns from their totals learns "
                "the same sums of the rows left out, and in how many of them a column of its own has a value, however "
                "few."
            ),
        )

    def read_classes(self, data: Any, name: str) -> tuple[list[NDArray[Any]], NDArray[np.int64] | None]:
        """Return a party's columns, and the classes of the rows at their holder."""
        names = self.names_of(name)
        if name != self.holder:
            return own_columns(data, names), None
        *columns, target = own_columns(data, (*names, self.target))
        return columns, codes(target, self.target, self.classes)


def require_every_party(protocol: Any, names: Sequence[str]) -> None:
    """Raise a ParameterError unless the ``columns`` of a protocol name all parties and no other."""
    if set(protocol.columns) != set(names):
        raise ParameterError(
            f"The 'columns' parameter of {type(protocol).__name__} must have every party of the session by name, and "
            "no other."
        )


def agree_on_rows(party: Party, n_rows: int, min_count: int) -> None:
    """Compare the number of rows with all parties; it is the same at each, and not too small, or all stop."""
    # The number of rows is public from here on, and determines the frames of all that follows.
    party.broadcast("rows", n_rows.to_bytes(8, "little"))
    others = {int.from_bytes(payload, "little") for payload in party.gather("rows", 8).values()}
    if others != {n_rows}:
        raise PartyError("The parties hold different numbers of rows; match the people first.")
    if n_rows == 0:
        raise InputError("The parties hold no rows; there is nothing to learn from.")
    if n_rows < min_count:
        raise InputError(
            f"The parties hold fewer than {min_count} rows, of which the result would show too much."
        )
    party.reveal("rows", n_rows)


def row_frames(names: Sequence[str]) -> Iterator[FrameShape]:
    """Return the frames of ``agree_on_rows``."""
    return broadcast_frames(names, "rows", dict.fromkeys(names, 1), width=8)


def exchange(
    party: Party, kind: str, values: Iterable[int], lengths: Mapping[str, int]
) -> dict[str, list[int]]:
    """Send integers of up to 127 bits to all parties; return those of every party, by name."""
    sent = [int(value) for value in values]
    if sent:
        party.broadcast(kind, b"".join(value.to_bytes(_WIDE_BYTES, "little", signed=True) for value in sent))
    received = {
        name: _integers(party.recv(name, kind, _WIDE_BYTES * lengths[name])) if lengths[name] else []
        for name in party.peers
    }
    return {**received, party.name: sent}


def broadcast_frames(
    names: Sequence[str], kind: str, lengths: Mapping[str, int], *, width: int = _WIDE_BYTES
) -> Iterator[FrameShape]:
    """Return the frames in which every party that has values sends them, of some bytes each, to all others."""
    for sender in names:
        if lengths[sender]:
            size = width * lengths[sender]
            yield from (FrameShape(sender, peer, kind, size) for peer in names if peer != sender)


def _integers(payload: bytes) -> list[int]:
    return [
        int.from_bytes(payload[at : at + _WIDE_BYTES], "little", signed=True)
        for at in range(0, len(payload), _WIDE_BYTES)
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

    def shares(self, product: ScalarProduct, values: NDArray[Any]) -> NDArray[np.uint64]:
        """Return this party's share of the products of the first party's columns with the second's."""
        # Also what the protocol computed itself is checked for
        # its range, beyond which a product would wrap around.
        words = product.words(self.party.index, values)
        with self.party.step("transfers"):
            halves = (product.first_share, product.second_share)
            share: NDArray[np.uint64] = halves[self.party.index](self._end, words)
        return share

    def judge(self) -> Thresholds:
        """Return comparisons of shares by both parties, which are set up with this call."""
        return Thresholds(self.party.within("small counts"))

    def opened(self, product: ScalarProduct, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the products of the first party's columns with the second's, which both learn."""
        share = self.shares(product, values)
        other = other_share(self.party, share.view(np.uint8).reshape(-1), "both")
        assert other is not None
        return (share + other.view(np.uint64).reshape(share.shape)).view(np.int64)


def opened_frames(pair: tuple[str, str], product: ScalarProduct) -> list[FrameShape]:
    """Return the frames of opened products whose transfers are set up."""
    return list(product.frames(pair))[len(transfer_setup_frames(*pair)) :]


def shared_frames(pair: tuple[str, str], product: ScalarProduct) -> list[FrameShape]:
    """Return the frames of products that stay shared, whose transfers are set up."""
    return opened_frames(pair, replace(product, output="shares"))


def coarse_frames(
    thresholds: ThresholdFrames, shapes: Sequence[TableShape], n_counts: int, n_rows: int
) -> list[FrameShape]:
    """Return the frames by which two parties join places of shared tables and open ``n_counts`` counts."""
    return thresholds.none_small(cut_groups(shapes), largest=n_rows) + thresholds.opened(n_counts)
