"""HTTP/1.1 with a time limit on every request: Uvicorn itself waits for a head or a body as long as it takes."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from discreet.output.audit.service.connections import Admission


class TimedProtocol(H11Protocol):
    """A connection that is cut off unless each request arrives, and each response is taken, in time.

    One timer runs whenever the client has to act: from the start and from the end of each response until the next
    request is there, head and body. Bytes that arrive do not set it back, so that a drip of them gains nothing.
    """

    def __init__(self, admission: Admission, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._admission = admission
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for the first request."""
        super().connection_made(transport)
        self._admission.establish(transport.get_extra_info("socket").fileno())
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer with the connection."""
        self._stop_timer()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Handle what has arrived; a request that is there whole is waited for no more."""
        try:
            super().handle_events()
        except h11.LocalProtocolError:  # malformed bytes behind a response: nothing can be replied to them
            self.transport.abort()
            return
        if self._is_our_turn():
            self._stop_timer()

    def on_response_complete(self) -> None:
        """Wait for the client to take the response, and for its next request."""
        self._start_timer()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Wait for a client that does not take what is written."""
        super().pause_writing()
        self._start_timer()

    def resume_writing(self) -> None:
        """Go on once the client has taken enough."""
        super().resume_writing()
        if self._is_our_turn():
            self._stop_timer()

    def _is_our_turn(self) -> bool:
        """Whether a request is there whole, its response is not, and the client takes what is written."""
        is_pending = self.cycle is not None and not self.cycle.response_complete
        is_whole = self.conn.their_state in (h11.DONE, h11.MUST_CLOSE)
        return is_pending and is_whole and not self.flow.write_paused

    def _start_timer(self) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(self._admission.limits.seconds, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
