"""Channels: typed frames between two parties, in one process or over the network.

A frame is a header of 17 bytes, the kind in ASCII and the payload. The header holds the length of the payload, the
length of the kind, the number of the frame in its direction and the first eight bytes of the session's identifier.
"""

from __future__ import annotations

import queue
import struct
from abc import ABC, abstractmethod

from discreet.parties.errors import FrameError, PeerLostError

MAX_PAYLOAD = 1 << 26
"""The most bytes one frame may carry; a longer one is refused on both sides."""
MAX_KIND = 40
"""The most characters the kind of a frame may have."""
ABORT = "abort"
"""The kind of the last frame of a party that stops; its payload is a reason of ``REASONS`` and a party's name."""
REASONS = {
    "failed": "stopped: it met an error",
    "interrupted": "stopped: it was interrupted",
    "lost": "stopped: it lost party '{}'",
    "late": "went on without this party, which did not answer in time",
}
"""Why a party sends no more, as its peers read it."""

Payload = bytes | bytearray | memoryview
_HEADER = struct.Struct(">IBI8s")
HEADER_BYTES = _HEADER.size


def frame_bytes(kind: str, size: int) -> int:
    """Return the bytes of a frame before encryption.

    >>> frame_bytes("keys", 64)
    85
    """
    return HEADER_BYTES + len(kind) + size


class Channel(ABC):
    """One end of a duplex channel to one peer: blocking, ordered, typed.

    Protocols call ``send`` and ``recv`` alone. A subclass moves the bytes: ``_write`` takes a header with the kind,
    and a payload; ``_read`` returns both or raises :class:`PeerLostError`.

    Parameters
    ----------
    peer : str
        The name of the party at the other end.
    session : bytes
        The identifier of the session; a frame of another session is refused.
    timeout : float
        The seconds to wait for a frame.
    """

    def __init__(self, peer: str, session: bytes, timeout: float = 60.0) -> None:
        self.peer = peer
        self.session = session
        self.timeout = timeout
        self._n_sent = 0
        self._n_received = 0

    def send(self, kind: str, payload: Payload = b"") -> None:
        """Send a frame; the payload may be of any length up to ``MAX_PAYLOAD``."""
        header = encode_header(kind, memoryview(payload).nbytes, self._n_sent, self.session)
        self._n_sent += 1
        self._write(header, payload)

    def recv(self, kind: str, size: int | None = None, *, timeout: float | None = None) -> bytes:
        """Receive the next frame, which must be of this kind and, where stated, of this size.

        ``timeout`` replaces the channel's own time-out, in seconds.

        Raises
        ------
        FrameError
            If the frame is of another kind, size, place in the order or session.
        PeerLostError
            If the peer died, stopped or did not answer in time.
        """
        return bytes(self.recv_view(kind, size, timeout=timeout))

    def recv_view(
        self, kind: str, size: int | None = None, *, timeout: float | None = None
    ) -> bytes | memoryview:
        """Receive as ``recv`` does, a large frame without a copy; its memory is used again when the view is let go."""
        header, payload = self._read(self.timeout if timeout is None else timeout)
        number, tag, found = decode_header(header)
        if found == ABORT:
            raise self._aborted(payload)
        if tag != self.session[:8]:
            raise FrameError(f"Party '{self.peer}' sent a frame of another session.")
        if number != self._n_received:
            raise FrameError(
                f"Party '{self.peer}' sent frame {number} where {self._n_received} was expected."
            )
        if found != kind:
            raise FrameError(f"Party '{self.peer}' sent a frame '{found}' where '{kind}' was expected.")
        if size is not None and len(payload) != size:
            raise FrameError(
                f"Party '{self.peer}' sent {len(payload)} bytes in a frame '{kind}' where {size} were expected."
            )
        self._n_received += 1
        return payload

    def abort(self, reason: str, about: str = "") -> None:
        """Send a last frame that says why this party stops, if the peer can still be reached."""
        try:
            self.send(ABORT, f"{reason}:{about}".encode("ascii", "replace"))
        except (PeerLostError, FrameError):
            return

    def _aborted(self, payload: bytes | memoryview) -> PeerLostError:
        reason, _, about = bytes(payload[:200]).decode("ascii", "replace").partition(":")
        known = about if about.isprintable() and len(about) <= MAX_KIND else "?"
        wording = REASONS.get(reason, REASONS["failed"]).format(known)
        return PeerLostError(self.peer, wording, cause=known or None)

    @abstractmethod
    def _write(self, header: bytes, payload: Payload) -> None: ...

    @abstractmethod
    def _read(self, timeout: float) -> tuple[bytes, bytes | memoryview]: ...

    @abstractmethod
    def close(self) -> None:
        """Close this end; the peer sees it at its next receive."""


class MemoryChannel(Channel):
    """One end of a channel inside a process; it carries the same bytes as the network does.

    >>> left, right = memory_pair("a", "b", session=bytes(32))
    >>> left.send("greeting", b"hello")
    >>> right.recv("greeting", size=5)
    b'hello'
    """

    def __init__(self, peer: str, session: bytes, timeout: float = 60.0) -> None:
        super().__init__(peer, session, timeout)
        self._inbox: queue.SimpleQueue[tuple[bytes, bytes] | None] = queue.SimpleQueue()
        self._other: MemoryChannel = self
        self._closed = False

    def _write(self, header: bytes, payload: Payload) -> None:
        if self._closed:
            raise PeerLostError(self.peer, "cannot be reached: the channel is closed")
        self._other._inbox.put((header, bytes(payload)))

    def _read(self, timeout: float) -> tuple[bytes, bytes]:
        try:
            item = self._inbox.get(timeout=max(timeout, 0.0))
        except queue.Empty:
            raise PeerLostError(
                self.peer, f"did not answer within {timeout:.3g} seconds", late=True
            ) from None
        if item is None:
            self._inbox.put(None)
            raise PeerLostError(self.peer, "closed the connection")
        return item

    def close(self) -> None:
        """Close this end; what was sent before can still be received."""
        if not self._closed:
            self._closed = True
            self._other._inbox.put(None)


def memory_pair(
    left: str, right: str, *, session: bytes, timeout: float = 60.0
) -> tuple[MemoryChannel, MemoryChannel]:
    """Return the two ends of a channel between two parties: first the end that ``left`` holds."""
    ends = MemoryChannel(right, session, timeout), MemoryChannel(left, session, timeout)
    ends[0]._other, ends[1]._other = ends[1], ends[0]
    return ends


def encode_header(kind: str, size: int, number: int, session: bytes) -> bytes:
    """Return the header of a frame, with its kind.

    >>> encode_header("keys", 1 << 30, 0, bytes(32))
    Traceback (most recent call last):
    discreet.parties.errors.FrameError: A frame 'keys' of 1073741824 bytes is larger than the limit of 67108864 bytes.
    """
    if size > MAX_PAYLOAD:
        raise FrameError(f"A frame '{kind}' of {size} bytes is larger than the limit of {MAX_PAYLOAD} bytes.")
    name = kind.encode("ascii")
    if not 0 < len(name) <= MAX_KIND:
        raise FrameError(f"The kind of a frame must have between 1 and {MAX_KIND} characters.")
    return _HEADER.pack(size, len(name), number, session[:8]) + name


def payload_size(start: bytes) -> tuple[int, int]:
    """Return the lengths of kind and payload from the first 17 bytes of a frame; refuse those above the limits."""
    size, kind_size, _, _ = _HEADER.unpack(start)
    if size > MAX_PAYLOAD:
        raise FrameError(f"A frame of {size} bytes is larger than the limit of {MAX_PAYLOAD} bytes.")
    if not 0 < kind_size <= MAX_KIND:
        raise FrameError("The kind of a frame has a length out of range.")
    return kind_size, size


def decode_header(header: bytes) -> tuple[int, bytes, str]:
    """Return the number of a frame, the start of its session's identifier and its kind."""
    _, _, number, tag = _HEADER.unpack(header[:HEADER_BYTES])
    kind = header[HEADER_BYTES:].decode("ascii", "replace")
    return number, tag, kind if kind.isprintable() else "?"
