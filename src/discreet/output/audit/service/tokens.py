"""Bearer tokens of users: random, shown once, kept as hashes."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from pathlib import Path

from discreet.core.errors import InputError, ParameterError
from discreet.engines.atomic import atomic_file

_FILE = "tokens.json"
_MOST_NAME = 200


class Tokens:
    """The tokens of a vault's users; of each only the SHA-256 of 256 random bits is kept."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        if not (Path(folder) / "vault.json").is_file():
            raise InputError(f"{folder} is not a vault: it has no vault.json.")
        self._path = Path(folder) / _FILE
        self._users = self._read()

    def issue(self, user: str) -> str:
        """Return a new token for a user."""
        if not user.strip() or len(user) > _MOST_NAME or not user.isprintable():
            raise ParameterError(f"A user's name has 1 to {_MOST_NAME} printable characters.")
        token = secrets.token_urlsafe(32)
        self._write(self._users | {_hashed(token): user})
        return token

    def revoke(self, user: str) -> None:
        """Withdraw all tokens of a user."""
        if user not in self._users.values():
            raise ParameterError("That user has no token.")
        self._write({one: name for one, name in self._users.items() if name != user})

    def user_of(self, token: str) -> str | None:
        """Return the user a token belongs to; the search is by hash, so its time reveals nothing about the token."""
        return self._users.get(_hashed(token))

    def reload(self) -> None:
        """Read tokens that were made or withdrawn since."""
        self._users = self._read()

    def _read(self) -> dict[str, str]:
        try:
            return dict(json.loads(self._path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError):
            raise InputError(f"{self._path} cannot be read.") from None

    def _write(self, users: dict[str, str]) -> None:
        with atomic_file(self._path) as temporary:
            temporary.chmod(0o600)
            temporary.write_text(json.dumps(users), encoding="utf-8")
        self._path.chmod(0o600)
        self._users = users


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
