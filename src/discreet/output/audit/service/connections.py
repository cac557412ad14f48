"""Bounds on connections: how many at once, in all and from one address, and how long each may take."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import socket
from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.core.errors import DiscreetError
from discreet.core.params import Constraints, FloatIn, IntIn, check_parameters

_ABSENT = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


@dataclass(frozen=True)
class Limits:
    """What a service grants to those who connect.

    Parameters
    ----------
    seconds : float
        How long a handshake may take, and a whole request, head and body, from the start of the connection or the
        end of the response before.
    per_address : int
        The most connections at once from one IPv4 address or one IPv6 network of 64 bits.
    connections : int
        The most connections at once.
    """

    constraints: ClassVar[Constraints] = {
        "seconds": FloatIn(0, closed="neither"),
        "per_address": IntIn(1),
        "connections": IntIn(1),
    }

    seconds: float = 15.0
    per_address: int = 32
    connections: int = 400

    def __post_init__(self) -> None:
        check_parameters(self)


class Admission:
    """The open connections of a service, counted by the network they come from."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._open: Counter[str] = Counter()
        self._connections: dict[int, Connection] = {}

    def admits(self, network: str) -> bool:
        """Whether a further connection stays within the bounds."""
        return (
            len(self._connections) < self.limits.connections and self._open[network] < self.limits.per_address
        )

    def enter(self, connection: Connection) -> None:
        """Count a connection."""
        self._open[connection.network] += 1
        self._connections[connection.fileno()] = connection

    def leave(self, connection: Connection) -> None:
        """Count a connection no more."""
        self._open[connection.network] -= 1
        if not self._open[connection.network]:
            del self._open[connection.network]
        del self._connections[connection.fileno()]

    def establish(self, descriptor: int) -> None:
        """Note that a handshake is over: from here on requests are timed."""
        self._connections[descriptor].handshake.cancel()


class Connection(socket.socket):
    """An accepted connection, counted until it is closed and cut off if its TLS handshake takes too long."""

    def __init__(self, accepted: socket.socket, admission: Admission, network: str) -> None:
        super().__init__(accepted.family, accepted.type, accepted.proto, fileno=accepted.detach())
        self.network, self._admission, self._counted = network, admission, True
        admission.enter(self)
        loop = asyncio.get_running_loop()
        self.handshake = loop.call_later(admission.limits.seconds, self._cut_off)

    def close(self) -> None:
        """Close the connection, and count it no more."""
        if self._counted:
            self._counted = False
            self.handshake.cancel()
            self._admission.leave(self)
        super().close()

    def _cut_off(self) -> None:
        with contextlib.suppress(OSError):  # the client may be gone already
            self.shutdown(socket.SHUT_RDWR)


class Listener(socket.socket):
    """A listening socket that closes connections beyond the bounds before a byte is read.

    It acts where connections are accepted, since those that never finish a TLS handshake get no further.
    """

    def __init__(self, family: int, admission: Admission) -> None:
        super().__init__(family, socket.SOCK_STREAM)
        self._admission = admission

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next connection; the event loop goes on where one is refused."""
        accepted, address = super().accept()
        network = network_of(address[0])
        if not self._admission.admits(network):
            accepted.close()
            raise ConnectionAbortedError
        return Connection(accepted, self._admission, network), address


def listen(host: str, port: int, admission: Admission) -> list[Listener]:
    """Return sockets bound to all addresses of a host."""
    listeners: list[Listener] = []
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, _, _, _, address in dict.fromkeys(addresses):
            listener = Listener(family, admission)
            listeners.append(listener)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                listener.bind(address)
            except OSError as error:
                if error.errno not in _ABSENT:
                    raise
                listeners.pop().close()
    except (OSError, UnicodeError):
        for listener in listeners:
            listener.close()
        listeners = []
    if not listeners:
        raise DiscreetError(f"{host}:{port} cannot be listened on.")
    return listeners


def network_of(address: str) -> str:
    """Return what counts as one address: an IPv4 address, or the 64 bits of IPv6 that one subscriber has.

    >>> network_of("192.0.2.7"), network_of("::ffff:192.0.2.7"), network_of("2001:db8::1%eth0")
    ('192.0.2.7', '192.0.2.7', '2001:db8::/64')
    """
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))
