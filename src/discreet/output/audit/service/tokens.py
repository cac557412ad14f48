"""Bearer tokens of users: random, shown once, kept as hashes, with an expiry where one is set."""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import json
import os
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.core.errors import InputError, ParameterError
from discreet.engines.atomic import atomic_file, try_lock
from discreet.output.audit.auditor import VaultInUseError

_FILE = "tokens.json"
_MOST_NAME = 200
_MOST_WAIT = 10.0
_NEVER = dt.datetime.max.replace(tzinfo=dt.UTC)


@dataclass(frozen=True)
class _Token:
    """The user of a token, and when it expires."""

    user: str
    expires: dt.datetime = _NEVER

    @classmethod
    def from_plain(cls, record: Any) -> _Token:
        if isinstance(record, str):  # a file from before tokens had an expiry
            return cls(record)
        expires = record["expires"]
        token = cls(record["user"], _NEVER if expires is None else dt.datetime.fromisoformat(expires))
        if not isinstance(token.user, str) or token.expires.tzinfo is None:
            raise ValueError
        return token

    def to_plain(self) -> dict[str, str | None]:
        return {"user": self.user, "expires": None if self.expires == _NEVER else self.expires.isoformat()}


_UNKNOWN = _Token("", dt.datetime.min.replace(tzinfo=dt.UTC))


class Tokens:
    """The tokens of a vault's users; of each only the SHA-256 of 256 random bits is kept.

    The file is read again for every token, and its bytes are compared with those read before: a token that was
    withdrawn is refused at once, whatever the file's times and size say.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        if not (Path(folder) / "vault.json").is_file():
            raise InputError(f"{folder} is not a vault: it has no vault.json.")
        self._path = Path(folder) / _FILE
        self._content: bytes | None = None
        self._tokens: dict[str, _Token] = {}
        self._current()

    def issue(self, user: str, *, expires: dt.datetime | None = None) -> str:
        """Return a new token for a user; it is refused from the time at which it expires."""
        if not user.strip() or len(user) > _MOST_NAME or not user.isprintable():
            raise ParameterError(f"A user's name has 1 to {_MOST_NAME} printable characters.")
        if expires is not None and (expires.tzinfo is None or expires <= utc_now()):
            raise ParameterError("The 'expires' parameter of issue must be a time to come, with its zone.")
        token = secrets.token_urlsafe(32)
        with self._locked():
            self._write(self._current() | {_hashed(token): _Token(user, expires or _NEVER)})
        return token

    def revoke(self, user: str) -> None:
        """Withdraw all tokens of a user."""
        with self._locked():
            tokens = self._current()
            remaining = {digest: token for digest, token in tokens.items() if token.user != user}
            if len(remaining) == len(tokens):
                raise ParameterError("That user has no token.")
            self._write(remaining)

    def user_of(self, token: str) -> str | None:
        """Return the user a token belongs to; None where it is unknown, withdrawn or expired.

        The search is by hash, so its time reveals nothing about other tokens, and the same steps are taken whether
        a token is unknown or expired.
        """
        record = self._current().get(_hashed(token), _UNKNOWN)
        return record.user if utc_now() < record.expires else None

    def _current(self) -> dict[str, _Token]:
        """Return the tokens by digest as the file has them now; without a file there are none."""
        try:
            content = self._path.read_bytes()
            if content != self._content:
                record = json.loads(content)
                self._tokens = {digest: _Token.from_plain(token) for digest, token in record.items()}
                self._content = content
        except FileNotFoundError:
            self._content, self._tokens = None, {}
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            self._content = None
            raise InputError(f"{self._path} cannot be read.") from None
        return self._tokens

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the vault's folder, so that of two changes at once none undoes the other."""
        limit = time.monotonic() + _MOST_WAIT
        while (descriptor := try_lock(self._path.parent)) is None:
            if time.monotonic() >= limit:
                raise VaultInUseError("Another process is changing the tokens; try again.")
            time.sleep(0.01)
        try:
            yield
        finally:
            os.close(descriptor)

    def _write(self, tokens: dict[str, _Token]) -> None:
        with atomic_file(self._path) as temporary:
            temporary.chmod(0o600)
            record = {digest: token.to_plain() for digest, token in tokens.items()}
            temporary.write_text(json.dumps(record), encoding="utf-8")
        self._path.chmod(0o600)


def utc_now() -> dt.datetime:
    """Return the time in UTC."""
    return dt.datetime.now(dt.UTC)


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
