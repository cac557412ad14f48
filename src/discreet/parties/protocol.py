"""The interface of a protocol, and a party's end of a session."""

from __future__ import annotations

import hashlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import asdict
from typing import Any, ClassVar

from discreet.core.boundary import public
from discreet.core.errors import InternalError, ParameterError
from discreet.core.params import OneOf, require
from discreet.core.verdict import Basis, Verdict
from discreet.parties.channel import FrameChannel, Payload
from discreet.parties.errors import PartyError, PeerLostError, require_libraries
from discreet.parties.transcript import FrameShape, Meter, Transcript

Facts = Mapping[str, Any]
"""What every party learns during a run, by name, as noted by :meth:`Party.reveal`."""
_LOST = {
    "late": "did not answer in time, and may still be running",
    "gone": "closed its connection",
    "unconfirmed": "did not confirm that it has the result, which it may lack",
}
"""How a party was lost, in words."""


def several_runs_leak(least: int) -> str:
    """Return that runs on the same data can be subtracted, which no protocol can prevent; 2 is the least ``least``."""
    return (
        "What several runs on the same data open can be subtracted, whatever their protocols, columns, bins or "
        f"categories: counts below {max(2, least)} may follow, or what one row more has added."
    )


def own_rows_leak(least: int, rows: str = "rows") -> str:
    """Return that a party knows what it counted itself; 2 is the least ``least``."""
    return (
        f"A party can subtract its own {rows} from a count: of the others fewer than {max(2, least)} may be left. So a "
        f"party that makes {rows} up can open any count of the others, and nobody notices."
    )


@public
class Party:
    """One party's end of a session: named channels to its peers, coins, and a meter.

    Parameters
    ----------
    name : str
        The party's own name.
    channels : mapping of str to FrameChannel
        A channel to every peer, by the peer's name.
    names : sequence of str
        All parties, in the order of the session, which is the same for everybody.
    session : bytes
        The session's identifier, 32 bytes that are never used twice: put it into every hash of a protocol.
    random_bytes : callable, optional
        The source of coins; the operating system unless a test fixes it.
    transcript : Transcript, optional
        Where frames are recorded before encryption.

    Examples
    --------
    >>> from discreet.parties.channel import memory_pair
    >>> to_b, to_a = memory_pair("a", "b", session=bytes(32))
    >>> a = Party("a", {"b": to_b}, names=("a", "b"), session=bytes(32))
    >>> b = Party("b", {"a": to_a}, names=("a", "b"), session=bytes(32))
    >>> a.send("b", "greeting", b"hello")
    >>> b.recv("a", "greeting", size=5)
    b'hello'
    """

    def __init__(
        self,
        name: str,
        channels: Mapping[str, FrameChannel],
        *,
        names: Sequence[str],
        session: bytes,
        random_bytes: Callable[[int], bytes] = os.urandom,
        transcript: Transcript | None = None,
    ) -> None:
        self.name = name
        self.names = tuple(names)
        self.session = session
        self.meter = Meter()
        self._channels = channels
        self._random_bytes = random_bytes
        self._transcript = transcript
        self._given_up: set[str] = set()
        self.lost: dict[str, str] = {}
        self._labels: set[str] = set()
        self.revealed: dict[str, Any] = {}

    def within(self, label: str, names: Sequence[str] | None = None) -> Party:
        """Return this party's end of a part of the protocol, among some of the parties.

        It has the same channels, coins and meter, and a session identifier of its own, derived from the label and the
        names. A label serves once in a session, so nothing derived in one part occurs in another.
        """
        if label in self._labels:
            raise InternalError(f"The part '{label}' of a protocol was used before.")
        self._labels.add(label)
        # A shallow copy: channels, meter, losses and revealed facts
        # are shared, and only names, session and labels are its own.
        part = copy(self)
        part.names = self.names if names is None else tuple(names)
        described = json.dumps([label, *part.names]).encode()
        part.session = hashlib.sha256(b"discreet part" + self.session + described).digest()
        part._labels = set()
        return part

    def reveal(self, fact: str, value: Any) -> None:
        """Note a fact that every party learns by the protocol, and on which the frames that follow depend.

        Facts are plain data: they follow from the output, or are what ``leaks`` declares.
        """
        if fact in self.revealed:
            raise InternalError(f"The fact '{fact}' was revealed before.")
        self.revealed[fact] = value

    @property
    def late(self) -> tuple[str, ...]:
        """The parties without which the run went on because they did not answer in time."""
        return tuple(name for name in self.names if self.lost.get(name) == "late")

    @property
    def index(self) -> int:
        """The party's position in the order of the session."""
        return self.names.index(self.name)

    @property
    def peers(self) -> tuple[str, ...]:
        """The other parties, in the order of the session."""
        return tuple(name for name in self.names if name != self.name)

    @property
    def peer(self) -> str:
        """The other party of a session of two."""
        if len(self.names) != 2:
            raise PartyError(f"The protocol takes 2 parties; the session has {len(self.names)}.")
        return self.peers[0]

    @property
    def timeout(self) -> float:
        """The seconds that a receive waits."""
        return min((channel.timeout for channel in self._channels.values()), default=60.0)

    def random(self, n_bytes: int) -> bytes:
        """Return fresh coins."""
        return self._random_bytes(n_bytes)

    def step(self, name: str) -> AbstractContextManager[None]:
        """Count what follows under a step of the meter."""
        return self.meter.step(name)

    def send(self, peer: str, kind: str, payload: Payload = b"") -> None:
        """Send a frame to a peer."""
        self._check_there(peer)
        size = memoryview(payload).nbytes
        if self._transcript is not None:
            self._transcript.record(FrameShape(self.name, peer, kind, size), bytes(payload))
        self._channels[peer].send(kind, payload)
        self.meter.sent(kind, size)

    def recv(self, peer: str, kind: str, size: int | None = None, *, timeout: float | None = None) -> bytes:
        """Receive the next frame of a peer, which must be of this kind and, where stated, of this size."""
        return bytes(self.recv_view(peer, kind, size, timeout=timeout))

    def recv_view(
        self, peer: str, kind: str, size: int | None = None, *, timeout: float | None = None
    ) -> bytes | memoryview:
        """Receive as ``recv`` does, a large frame without a copy; its memory is used again when the view is let go."""
        self._check_there(peer)
        payload = self._channels[peer].recv_view(kind, size, timeout=timeout)
        if self._transcript is not None and self._transcript.keep_received:
            self._transcript.record(FrameShape(peer, self.name, kind, len(payload)), bytes(payload))
        self.meter.received(kind, len(payload))
        return payload

    def try_send(self, peer: str, kind: str, payload: Payload = b"") -> bool:
        """Send a frame to a peer if it is still there; return whether it was."""
        try:
            self.send(peer, kind, payload)
        except PeerLostError:
            return False
        return True

    def give_up(self, peer: str, *, late: bool = False) -> None:
        """Go on without a peer: send it the reason, and treat it as lost from now on, whatever it still sends."""
        self.note_lost(peer, late=late)
        if peer not in self._given_up:
            self._given_up.add(peer)
            self._channels[peer].abort("late")

    def note_lost(self, peer: str, *, late: bool) -> None:
        """Note in ``lost`` that the run goes on without a peer: it was "late", or is "gone" with its connection."""
        self.lost.setdefault(peer, "late" if late else "gone")

    def _check_there(self, peer: str) -> None:
        if peer in self._given_up:
            raise PeerLostError(peer, "was given up before")

    def broadcast(self, kind: str, payload: Payload = b"") -> None:
        """Send the same frame to every peer."""
        for peer in self.peers:
            self.send(peer, kind, payload)

    def gather(self, kind: str, size: int | None = None) -> dict[str, bytes]:
        """Receive one frame of every peer, in the order of the session."""
        return {peer: self.recv(peer, kind, size) for peer in self.peers}


@public
class Protocol(ABC):
    """A protocol: a frozen dataclass whose fields are its public parameters.

    Every party constructs an equal one and calls ``run`` with its own private input. A subclass implements ``checked``,
    which reads that input, and ``_run``, one party's half. ``frames`` is the number, order, kind and size of the frames
    as a formula over public parameters: nothing about the inputs shows in it. A protocol whose frames depend on what it
    reveals as it goes takes those facts as ``frames(names, revealed=...)``.

    Examples
    --------
    >>> from discreet.parties import SecureSum
    >>> protocol = SecureSum(length=2)
    >>> protocol.withstands(5), [frame.kind for frame in protocol.frames(("a", "b", "c"))][:2]
    (1, ['keys', 'keys'])
    """

    name: ClassVar[str]
    """The name in a session file and on the command line."""
    min_parties: ClassVar[int] = 2
    max_parties: ClassVar[int | None] = None
    two_parties_reveal: ClassVar[bool] = False
    """Whether of two parties each can compute the other's input, or a part of it, from the output and its own. Such a
    protocol has a field ``two_parties_see_each_other``, and refuses two parties unless it is true."""
    two_parties_learn: ClassVar[str] = ""
    """What each of two parties learns then, one sentence."""
    n_without_input: ClassVar[int] = 0
    """How many parties put nothing in."""
    assumption: ClassVar[str] = "semi-honest parties"
    """What the guarantee rests on."""

    @property
    @abstractmethod
    def leaks(self) -> tuple[str, ...]:
        """What each party learns beyond its output, one sentence each; empty if nothing."""

    @abstractmethod
    def frames(self, names: Sequence[str]) -> Iterable[FrameShape]:
        """Return the frames of a complete run; the order is exact among the frames of one sender."""

    @abstractmethod
    def _run(self, party: Party, data: Any) -> Any:
        """Run one party's half with an input that ``checked`` returned."""

    def run(self, party: Party, data: Any) -> Any:
        """Run one party's half and return its output; blocking. Nothing is sent before the input is checked."""
        self.check_parties(party.names)
        return self._run(party, self.checked(data, party.names, party.name))

    def checked(self, data: Any, names: Sequence[str], name: str) -> Any:
        """Return a party's private input as the protocol uses it; raise an error where it could not run with it."""
        del names, name
        return data

    def check_input(self, data: Any, names: Sequence[str], name: str) -> None:
        """Raise an InputError or a ParameterError unless a party could run with this input; nothing is sent."""
        self.checked(data, names, name)

    def check_parties(self, names: Sequence[str]) -> None:
        """Raise a ParameterError unless the protocol can run among these parties."""
        require_libraries()
        few = len(names) < self.min_parties
        many = self.max_parties is not None and len(names) > self.max_parties
        if few or many:
            most = "" if self.max_parties is None else f" and at most {self.max_parties}"
            raise ParameterError(
                f"The protocol '{self.name}' takes at least {self.min_parties} parties{most}. Got {len(names)}."
            )
        if len(set(names)) < len(names):
            raise ParameterError("Two parties of a session have the same name; names must differ.")
        agreed = getattr(self, "two_parties_see_each_other", False)
        require(self, "two_parties_see_each_other", agreed, OneOf((False, True)))
        if self.two_parties_reveal and not agreed and len(names) - self.n_without_input == 2:
            raise ParameterError(
                f"Of two parties that put in data each can compute the other's from the result of '{self.name}' and "
                "its own. Let a third party take part, or set 'two_parties_see_each_other' if both agree to that."
            )

    def withstands(self, n_parties: int) -> int:
        """Return how many parties may pool what they saw and learn no more than ``leaks`` says."""
        del n_parties
        return 1

    def read_input(self, path: str | os.PathLike[str]) -> Any:
        """Read a party's private input from a file."""
        raise ParameterError(f"The protocol '{self.name}' takes no input from a file; run it from Python.")

    def result_files(self, output: Any) -> dict[str, Any]:
        """Return a party's output by name: columns or an Arrow table for .csv, plain data for .json, or a release."""
        raise ParameterError(f"The protocol '{self.name}' writes no file; run it from Python.")

    def covers(self, output: Any, names: Sequence[str]) -> tuple[str, ...]:
        """Return the parties whose inputs are in an output: those it names, or all."""
        return tuple(getattr(output, "parties", names))

    def cautions(self, output: Any) -> tuple[str, ...]:
        """Return what to consider before an output is used or passed on, one sentence each."""
        return tuple(getattr(output, "cautions", ()))

    @property
    def consent_leaks(self) -> tuple[str, ...]:
        """What two parties learn of each other because they agreed to it; empty if they did not."""
        return (self.two_parties_learn,) if getattr(self, "two_parties_see_each_other", False) else ()

    def verdict(self, names: Sequence[str]) -> Verdict:
        """Return what a run among these parties guarantees; it rests on an assumption about them."""
        withstood = self.withstands(len(names))
        return Verdict(
            ok=withstood >= 1,
            guarantee=f"{self.name} among {len(names)} parties ({self.assumption})",
            measure="colluding parties withstood",
            worst=withstood,
            relation=">=",
            bound=1,
            n_groups=len(names),
            n_rows=0,
            failing_groups=0,
            failing_rows=0,
            basis=Basis.ASSUMED,
        )

    def cautions_of_run(self, output: Any, party: Party) -> tuple[str, ...]:
        """Return the cautions of an output, and who was lost on the way to it: late, or gone with its connection."""
        covered = self.covers(output, party.names)
        lost = (
            f"Party '{name}' {_LOST[how]}; its data is {'' if name in covered else 'not '}in the result."
            for name, how in party.lost.items()
        )
        return (*self.cautions(output), *lost)

    def parameters(self) -> dict[str, object]:
        """Return the public parameters as plain data, as they enter the hash of the session."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]
