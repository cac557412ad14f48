"""Session: what all parties agree on before anything private is touched, the protocol by its name among it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.core.errors import ParameterError
from discreet.core.params import FloatIn, check_fields, unknown
from discreet.core.registry import PROTOCOLS
from discreet.parties.errors import SessionError, require_libraries
from discreet.parties.network.keys import check_name, decode_certificate
from discreet.parties.protocol import Protocol

_ADDRESS = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):(?P<port>[0-9]{1,5})")
_TIMEOUT = FloatIn(0.1, 86400.0)
_SECONDS = ("timeout", "connect_timeout", "compute_timeout")
_ENTRY = ("name", "address", "fingerprint", "certificate")


@dataclass(frozen=True)
class Member:
    """A party of a session: where it is reached and which certificate it must show."""

    name: str
    host: str
    port: int
    fingerprint: str
    certificate: bytes

    @property
    def address(self) -> str:
        """The host and port as text."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@dataclass(frozen=True)
class PartySession:
    """The parties, the protocol with its public parameters, and how long to wait.

    Parameters
    ----------
    members : tuple of Member
        The parties, in the order that the protocol uses.
    protocol : Protocol
        The protocol.
    timeout : float
        The seconds of silence after which a party is lost.
    connect_timeout : float
        The seconds to wait for all parties to appear.
    compute_timeout : float
        The most seconds that a party may compute between two frames, while it shows that it is alive.
    """

    members: tuple[Member, ...]
    protocol: Protocol
    timeout: float = 60.0
    connect_timeout: float = 60.0
    compute_timeout: float = 3600.0

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, two_parties_see_each_other: bool = False) -> PartySession:
        """Read a session file; the consent of two parties to see each other's data may stand in it or be passed here.

        Either way it is a parameter of the protocol, which the handshake compares: all parties have it, or none.
        """
        try:
            config = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise SessionError(f"{path} cannot be read: {os.strerror(error.errno or 0)}.") from None
        except UnicodeDecodeError:
            raise SessionError(f"{path} is not UTF-8 text.") from None
        except tomllib.TOMLDecodeError as error:
            raise SessionError(f"{path} is not valid TOML: {error}.") from None
        except RecursionError:
            raise SessionError(f"{path} is nested too deeply.") from None
        if two_parties_see_each_other and isinstance(config.get("protocol"), dict):
            config["protocol"]["two_parties_see_each_other"] = True
        return cls.from_dict(config)

    @classmethod
    def from_dict(cls, config: Mapping[str, Any]) -> PartySession:
        """Return the session that plain data describes."""
        require_libraries()
        unknown = set(config) - {"party", "protocol", *_SECONDS}
        if unknown:
            raise SessionError(f"The session file has an unknown key '{min(unknown)}'.")
        members = tuple(_member(entry) for entry in _tables(config, "party"))
        described = config.get("protocol")
        if not isinstance(described, dict) or not isinstance(described.get("name"), str):
            raise SessionError("The session file needs a table [protocol] with a name.")
        for key in _SECONDS:
            if key in config and not _TIMEOUT.admits(config[key]):
                raise SessionError(f"The key '{key}' of the session file must be {_TIMEOUT}, in seconds.")
        parameters = {key: value for key, value in described.items() if key != "name"}
        session = cls(
            members,
            make_protocol(described["name"], parameters),
            **{key: float(config[key]) for key in _SECONDS if key in config},
        )
        session.protocol.check_parties(session.names)
        _check_differ(members)
        return session

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parties, in order."""
        return tuple(member.name for member in self.members)

    def member(self, name: str) -> Member:
        """Return a party by its name."""
        for member in self.members:
            if member.name == name:
                return member
        raise ParameterError(f"The session has no party '{name[:40]}'. It has: {', '.join(self.names)}.")

    def entries(self) -> dict[str, str]:
        """Return every key of the session with a digest of its value; equal sessions have equal entries."""
        flat: dict[str, object] = {
            "parties": self.names,
            **{key: getattr(self, key) for key in _SECONDS},
            "protocol.name": self.protocol.name,
        }
        for member in self.members:
            flat[f"party.{member.name}.address"] = member.address
            flat[f"party.{member.name}.fingerprint"] = member.fingerprint
        for key, value in self.protocol.parameters().items():
            flat[f"protocol.{key}"] = value
        return {
            key: hashlib.sha256(json.dumps(flat[key], sort_keys=True).encode()).hexdigest()[:32]
            for key in sorted(flat)
        }

    def digest(self) -> bytes:
        """Return the hash of the session, which parties exchange first."""
        return hashlib.sha256(json.dumps(self.entries(), sort_keys=True).encode()).digest()


def differing_keys(local: Mapping[str, str], remote: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys in which two sessions differ.

    >>> differing_keys({"timeout": "1", "protocol.length": "2"}, {"timeout": "1", "protocol.length": "3"})
    ('protocol.length',)
    """
    return tuple(key for key in sorted({*local, *remote}) if local.get(key) != remote.get(key))


def _tables(config: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    tables = config.get(key)
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise SessionError(f"The session file needs a table [[{key}]] for every {key}.")
    return tables


def _member(entry: Mapping[str, Any]) -> Member:
    for key in _ENTRY:
        if not isinstance(entry.get(key), str):
            raise SessionError(f"Every [[party]] of the session file needs a text '{key}'.")
    unknown = set(entry) - set(_ENTRY)
    if unknown:
        raise SessionError(f"A [[party]] of the session file has an unknown key '{min(unknown)}'.")
    name = check_name(entry["name"])
    host, port = parse_address(entry["address"], f"of party '{name}'")
    certificate = decode_certificate(name, entry["certificate"], entry["fingerprint"])
    return Member(name, host, port, entry["fingerprint"].lower().replace(" ", ""), certificate)


def parse_address(text: str, whose: str) -> tuple[str, int]:
    """Return the host and the port of an address.

    >>> parse_address("[::1]:7001", "of party 'a'")
    ('::1', 7001)
    """
    match = _ADDRESS.fullmatch(text)
    if not match or not 0 < int(match["port"]) < 65536:
        raise SessionError(f"The address {whose} must be HOST:PORT with a port from 1 to 65535.")
    return match["host"].strip("[]"), int(match["port"])


def _check_differ(members: tuple[Member, ...]) -> None:
    for key in ("fingerprint", "address"):
        values = [getattr(member, key) for member in members]
        if len(set(values)) < len(values):
            raise SessionError(f"Two parties of the session have the same {key}.")


def protocol_names() -> tuple[str, ...]:
    """Return the names of all protocols."""
    return tuple(PROTOCOLS)


def protocol_class(name: str) -> type[Protocol]:
    """Return the class of a protocol.

    >>> protocol_class("secure-sum").__name__
    'SecureSum'
    """
    if name not in PROTOCOLS:
        raise unknown("a session", "protocol.name", name, PROTOCOLS)
    declared: type[Protocol] = PROTOCOLS[name].load()
    return declared


def make_protocol(name: str, parameters: Mapping[str, Any]) -> Protocol:
    """Return a protocol with its public parameters; lists become tuples.

    >>> make_protocol("secure-sum", {"length": 3}).parameters()["method"]
    'masks'
    """
    declared = protocol_class(name)
    check_fields(declared.__name__, declared, parameters)
    return declared(
        **{key: tuple(value) if isinstance(value, list) else value for key, value in parameters.items()}
    )
