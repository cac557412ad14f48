"""Simulation: all parties of a protocol in one process, over the same frames as on the network."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from discreet.core.boundary import public
from discreet.parties.channel import FrameChannel, memory_pair
from discreet.parties.errors import PartyError, PeerLostError
from discreet.parties.protocol import Party, Protocol
from discreet.parties.transcript import FrameShape, Meter, Transcript


@public
@dataclass(frozen=True)
class Simulation:
    """The outputs, meters and frames of a simulated run; ``outputs`` lacks the parties that dropped out.

    ``revealed`` holds the facts that each party noted as known to all of them. ``cautions`` are those of each party's
    output, and say who was lost on the way to it.

    >>> from discreet.parties import SecureSum
    >>> run = simulate(SecureSum(length=1), {"a": [9], "b": [20], "c": [30]})
    >>> list(run.outputs), run.meters["b"].rounds, run.cautions["a"]
    (['a', 'b', 'c'], 4, ())
    """

    outputs: dict[str, Any]
    meters: dict[str, Meter]
    transcript: Transcript
    revealed: dict[str, dict[str, Any]]
    cautions: dict[str, tuple[str, ...]]


class _Dropped(BaseException):
    """Ends the thread of a party that drops out on purpose."""


Before = Mapping[str, str | tuple[str, int]]
"""Parties, each with the kind of a frame, or the kind and a number n for its n-th frame of the kind."""


class _DroppingTranscript(Transcript):
    """A transcript that ends a party before a frame, as a crash would, or makes it wait."""

    drop: Before
    delay: Before
    seconds: float

    def record(self, shape: FrameShape, payload: bytes) -> None:
        if self._is_before(self.drop, shape):
            raise _Dropped
        if self._is_before(self.delay, shape):
            time.sleep(self.seconds)
        super().record(shape, payload)

    def _is_before(self, listed: Before, shape: FrameShape) -> bool:
        kind = listed.get(shape.sender)
        kind, number = kind if isinstance(kind, tuple) else (kind, 1)
        return shape.kind == kind and number == 1 + sum(f.kind == kind for f in self.shapes(shape.sender))


@public
def simulate(
    protocol: Protocol,
    inputs: Mapping[str, Any],
    *,
    drop: Before | None = None,
    delay: Before | None = None,
    coins: bytes | None = None,
    timeout: float = 60.0,
) -> Simulation:
    """Run a protocol among threads, one a party, each with its own half.

    Parameters
    ----------
    protocol : Protocol
        The protocol with its public parameters.
    inputs : mapping of str to object
        Each party's private input, by name; the order is the order of the session.
    drop : mapping of str to str or tuple, optional
        Parties that disappear, each with the kind of the frame before which it does, or the kind and a number n for
        the party's n-th frame of the kind.
    delay : mapping of str to str or tuple, optional
        Parties that are late, each with the frame before which it waits longer than the others do.
    coins : bytes, optional
        A seed that fixes the coins of all parties, for tests; the operating system by default.
    timeout : float
        The seconds to wait for a frame.
    """
    run, failures = attempted(protocol, inputs, drop=drop, delay=delay, coins=coins, timeout=timeout)
    alone = {name for name in delay or {} if run.outputs}
    stopped = [error for name, error in failures.items() if name not in alone]
    if stopped:
        raise next((error for error in stopped if not isinstance(error, PeerLostError)), stopped[0])
    return run


def attempted(
    protocol: Protocol,
    inputs: Mapping[str, Any],
    *,
    drop: Before | None = None,
    delay: Before | None = None,
    coins: bytes | None = None,
    timeout: float = 60.0,
) -> tuple[Simulation, dict[str, Exception]]:
    """Return what a run came to, and the errors with which parties stopped, by name."""
    names = tuple(inputs)
    protocol.check_parties(names)
    transcript = _DroppingTranscript()
    transcript.drop, transcript.delay, transcript.seconds = drop or {}, delay or {}, 1.5 * timeout
    session = os.urandom(32) if coins is None else hashlib.sha256(b"session" + coins).digest()
    channels = _mesh(names, session, timeout)
    parties = {
        name: Party(
            name,
            channels[name],
            names=names,
            session=session,
            random_bytes=os.urandom if coins is None else _fixed_coins(coins + name.encode()),
            transcript=transcript,
        )
        for name in names
    }
    outputs, failures = _run_all(protocol, parties, channels, inputs)
    meters = {name: party.meter for name, party in parties.items()}
    revealed = {name: parties[name].revealed for name in outputs}
    cautions = {name: protocol.cautions_of_run(output, parties[name]) for name, output in outputs.items()}
    return Simulation(outputs, meters, transcript, revealed, cautions), failures


def _mesh(names: tuple[str, ...], session: bytes, timeout: float) -> dict[str, dict[str, FrameChannel]]:
    channels: dict[str, dict[str, FrameChannel]] = {name: {} for name in names}
    for left, right in combinations(names, 2):
        channels[left][right], channels[right][left] = memory_pair(
            left, right, session=session, timeout=timeout
        )
    return channels


def _run_all(
    protocol: Protocol,
    parties: Mapping[str, Party],
    channels: Mapping[str, Mapping[str, FrameChannel]],
    inputs: Mapping[str, Any],
) -> tuple[dict[str, Any], dict[str, Exception]]:
    outputs: dict[str, Any] = {}
    failures: dict[str, Exception] = {}

    def half(name: str) -> None:
        try:
            outputs[name] = protocol.run(parties[name], inputs[name])
        except _Dropped:
            pass
        except Exception as error:  # noqa: BLE001  (handed to the caller's thread)
            failures[name] = error
            # As over the network, the others learn why this party stops instead of waiting for the time-out.
            about = error.peer if isinstance(error, PeerLostError) else ""
            for channel in channels[name].values():
                channel.abort("lost" if about else "failed", about)
        finally:
            for channel in channels[name].values():
                channel.close()

    threads = [threading.Thread(target=half, args=(name,), daemon=True) for name in parties]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if not outputs and not failures:
        raise PartyError("Every party dropped out.")
    return {name: outputs[name] for name in parties if name in outputs}, failures


def _fixed_coins(seed: bytes) -> Callable[[int], bytes]:
    """Return a deterministic source of coins: the stream of SHAKE-256, in blocks by counter."""
    counter = 0

    def draw(n_bytes: int) -> bytes:
        nonlocal counter
        counter += 1
        return hashlib.shake_256(seed + counter.to_bytes(8, "big")).digest(n_bytes)

    return draw
