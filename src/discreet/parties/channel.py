"""Channels: typed frames between two parties, in one process or over the network.

A frame is a header of 17 bytes, the kind in ASCII and the payload. The header holds the length of the payload, the
length of the kind, the number of the frame in its direction and the first eight bytes of the session's identifier. A
payload above ``MAX_FRAME`` travels in parts: frames of that size with a bit that says that more follow, and a last one.
"""

from __future__ import annotations

import queue
import struct
from abc import ABC, abstractmethod

from discreet.parties.errors import FrameError, PeerLostError

MAX_FRAME = 1 << 26
"""The most bytes one frame on the wire may carry; a longer one is refused on both sides."""
MAX_PAYLOAD = 1 << 29
"""The most bytes of all parts of a payload together."""
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
_MORE = 0x80
"""The bit beside the length of the kind that says that more parts follow."""


def frame_bytes(kind: str, size: int) -> int:
    """Return the bytes of a payload with its headers, before encryption.

    >>> frame_bytes("keys", 64)
    85
    """
    return max(1, -(-size // MAX_FRAME)) * (HEADER_BYTES + len(kind)) + size


class FrameChannel(ABC):
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
        """Send a payload of any length up to ``MAX_PAYLOAD``; a long one in parts."""
        n_bytes = memoryview(payload).nbytes
        if n_bytes > MAX_PAYLOAD:
            raise FrameError(
                f"A message '{kind}' of {n_bytes} bytes is larger than the limit of {MAX_PAYLOAD} bytes."
            )
        # An empty payload is a frame as well.
        for start in range(0, max(1, n_bytes), MAX_FRAME):
            rest = n_bytes - start
            part = payload
            if n_bytes > MAX_FRAME:
                part = memoryview(payload).cast("B")[start : start + MAX_FRAME]
            header = encode_header(
                kind, min(rest, MAX_FRAME), self._n_sent, self.session, more=rest > MAX_FRAME
            )
            self._n_sent += 1
            self._write(header, part)

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
        wait = self.timeout if timeout is None else timeout
        payload, more = self._next_frame(kind, wait)
        if more:
            payload = self._reassembled(kind, payload, MAX_PAYLOAD if size is None else size, wait)
        if size is not None and len(payload) != size:
            raise FrameError(
                f"Party '{self.peer}' sent {len(payload)} bytes in a frame '{kind}' where {size} were expected."
            )
        return payload

    def _next_frame(self, kind: str, timeout: float) -> tuple[bytes | memoryview, bool]:
        """Return the payload of the next frame, and whether it is a part that more follow."""
        header, payload = self._read(timeout)
        number, tag, actual, more = decode_header(header)
        if actual == ABORT:
            raise self._aborted(payload)
        # The tag and the number say that both ends are at the same frame of the same run.
        if tag != self.session[:8]:
            raise FrameError(f"Party '{self.peer}' sent a frame of another session.")
        if number != self._n_received:
            raise FrameError(
                f"Party '{self.peer}' sent frame {number} where {self._n_received} was expected."
            )
        if actual != kind:
            raise FrameError(f"Party '{self.peer}' sent a frame '{actual}' where '{kind}' was expected.")
        self._n_received += 1
        return payload, more

    def _reassembled(self, kind: str, first: bytes | memoryview, limit: int, timeout: float) -> memoryview:
        """Return a payload from its parts, all full but the last; one beyond the limit is refused as it grows."""
        message, part, more = bytearray(), first, True
        while True:
            if (more and len(part) != MAX_FRAME) or not part:
                raise FrameError(f"Party '{self.peer}' sent a part of a frame '{kind}' of a wrong length.")
            # Where more follows it is at least a byte, so the limit is passed one part earlier.
            if len(message) + len(part) + more > limit:
                raise FrameError(
                    f"Party '{self.peer}' sent a frame '{kind}' of more than the {limit} bytes that were expected."
                )
            message += part
            if not more:
                return memoryview(message).toreadonly()
            part, more = self._next_frame(kind, timeout)

    def abort(self, reason: str, about: str = "") -> None:
        """Send a last frame that says why this party stops, if the peer can still be reached."""
        try:
            self.send(ABORT, f"{reason}:{about}".encode("ascii", "replace"))
        except (PeerLostError, FrameError):
            return

    def _aborted(self, payload: bytes | memoryview) -> PeerLostError:
        reason, _, about = bytes(payload[:200]).decode("ascii", "replace").partition(":")
        named = about if about.isprintable() and len(about) <= MAX_KIND else "?"
        wording = REASONS.get(reason, REASONS["failed"]).format(named)
        return PeerLostError(self.peer, wording, cause=named or None)

    @abstractmethod
    def _write(self, header: bytes, payload: Payload) -> None: ...

    @abstractmethod
    def _read(self, timeout: float) -> tuple[bytes, bytes | memoryview]: ...

    @abstractmethod
    def close(self) -> None:
        """Close this end; the peer sees it at its next receive."""


class MemoryChannel(FrameChannel):
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
                self.peer,
                f"did not answer within {timeout:.3g} seconds (it may itself wait for another party)",
                late=True,
            ) from None
        if item is None:
            # Put back, so that every further receive ends in the same way.
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


def encode_header(kind: str, size: int, number: int, session: bytes, *, more: bool = False) -> bytes:
    """Return the header of a frame, with its kind.

    >>> encode_header("keys", 1 << 30, 0, bytes(32))
    Traceback (most recent call last):
    discreet.parties.errors.FrameError: A frame 'keys' of 1073741824 bytes is larger than the limit of 67108864 bytes.
    """
    if size > MAX_FRAME:
        raise FrameError(f"A frame '{kind}' of {size} bytes is larger than the limit of {MAX_FRAME} bytes.")
    name = kind.encode("ascii")
    if not 0 < len(name) <= MAX_KIND:
        raise FrameError(f"The kind of a frame must have between 1 and {MAX_KIND} characters.")
    return _HEADER.pack(size, len(name) | (_MORE if more else 0), number, session[:8]) + name


def payload_size(start: bytes) -> tuple[int, int]:
    """Return the lengths of kind and payload from the first 17 bytes of a frame; refuse those above the limits."""
    size, kind_size, _, _ = _HEADER.unpack(start)
    kind_size &= ~_MORE
    if size > MAX_FRAME:
        raise FrameError(f"A frame of {size} bytes is larger than the limit of {MAX_FRAME} bytes.")
    if not 0 < kind_size <= MAX_KIND:
        raise FrameError("The kind of a frame has a length out of range.")
    return kind_size, size


def decode_header(header: bytes) -> tuple[int, bytes, str, bool]:
    """Return the number of a frame, the start of its session's identifier, its kind, and whether more parts follow."""
    _, kind_size, number, tag = _HEADER.unpack(header[:HEADER_BYTES])
    kind = header[HEADER_BYTES:].decode("ascii", "replace")
    return number, tag, kind if kind.isprintable() else "?", bool(kind_size & _MORE)
