"""Sessions on the loopback interface for tests: keys, free ports, threads and a proxy between two parties."""

from __future__ import annotations

import dataclasses
import socket
import threading
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.parties.network.keys import make_keys
from discreet.parties.network.session import PartySession, protocol_class
from discreet.parties.network.transport import open_session


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def write_session(
    folder: Path,
    names: tuple[str, ...],
    protocol: str,
    *,
    ports: Mapping[str, int] | None = None,
    head: str = "timeout = 20\nconnect_timeout = 20\n",
    consent: bool = True,
) -> Path:
    """Make a key for every party and write the session file they share; two parties agree to see each other's data."""
    entries = []
    for name in names:
        port = (ports or {}).get(name) or free_port()
        _, public, _ = make_keys(name, folder, address=f"127.0.0.1:{port}")
        entries.append(public.read_text())
    path = folder / "session.toml"
    agreed = "two_parties_see_each_other = true\n" if consent and _needs_consent(protocol, len(names)) else ""
    path.write_text(head + "".join(entries) + f"[protocol]\n{agreed}{protocol}\n")
    return path


def _needs_consent(protocol: str, n_parties: int) -> bool:
    described = tomllib.loads(f"[protocol]\n{protocol}")["protocol"]
    declared = protocol_class(described["name"])
    with_data = n_parties - getattr(declared, "n_without_input", 0)
    fields = {field.name for field in dataclasses.fields(declared)}  # type: ignore[arg-type]
    return with_data == 2 and "two_parties_see_each_other" in fields - set(described)


def sum_of(length: int, more: str = "") -> str:
    return f'name = "secure-sum"\nlength = {length}\n{more}'


def meet(
    path: Path,
    inputs: Mapping[str, Any],
    *,
    paths: Mapping[str, Path] | None = None,
    keys: Mapping[str, Path] | None = None,
    listen: Mapping[str, tuple[str, int]] | None = None,
    before: Mapping[str, Callable[[Any], None]] | None = None,
) -> dict[str, Any]:
    """Run every party in a thread over loopback TLS; return the output or the exception of each."""
    found: dict[str, Any] = {}

    def half(name: str) -> None:
        try:
            session = PartySession.read((paths or {}).get(name, path))
            key = (keys or {}).get(name, path.parent / f"{name}.pem")
            with open_session(session, name, key, listen=(listen or {}).get(name)) as party:
                if before and name in before:
                    before[name](party)
                found[name] = session.protocol.run(party, inputs[name])
        except Exception as error:  # noqa: BLE001
            found[name] = error

    threads = [threading.Thread(target=half, args=(name,)) for name in inputs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return found


def reach(port: int) -> socket.socket:
    """Connect as soon as somebody listens."""
    for _ in range(400):
        try:
            return socket.create_connection(("127.0.0.1", port))
        except OSError:
            threading.Event().wait(0.05)
    raise OSError("nobody listens")


@dataclass
class Proxy:
    """A listener that passes bytes between two parties; it can record or change those of the dialing one."""

    target: int
    change_at: int | None = None
    port: int = field(default_factory=free_port)
    recorded: bytearray = field(default_factory=bytearray)
    answered: bytearray = field(default_factory=bytearray)

    def __enter__(self) -> Proxy:
        self._server = socket.create_server(("127.0.0.1", self.port))
        self._server.settimeout(10)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()

    def _serve(self) -> None:
        try:
            inner, _ = self._server.accept()
            outer = reach(self.target)
        except OSError:
            return
        back = threading.Thread(target=self._pass, args=(outer, inner, self.answered, None), daemon=True)
        back.start()
        self._pass(inner, outer, self.recorded, self.change_at)
        back.join(5)
        inner.close()
        outer.close()

    @staticmethod
    def _pass(source: socket.socket, sink: socket.socket, record: bytearray, change_at: int | None) -> None:
        try:
            while data := source.recv(65536):
                start = len(record)
                record += data
                if change_at is not None and start <= change_at < len(record):
                    changed = bytearray(data)
                    changed[change_at - start] ^= 1
                    data = bytes(changed)
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            return
