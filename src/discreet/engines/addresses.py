"""Addresses of tables in databases and of files in object stores: URLs, shown and written without passwords."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from urllib.parse import parse_qsl, quote, unquote

from discreet.core.errors import InputError

SCHEMES = ("postgresql", "postgres")
OBJECT_SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss")
"""Beginnings of the addresses of files in object stores: those that PyArrow reads without another package."""
_SECRET = re.compile(
    r"pas(?!sfile)|pwd|secret|token|credential|sig|(account|access|client|server)_?key", re.IGNORECASE
)
"""What the name of an option has in it that holds a secret, of whatever driver: it is neither shown nor written."""
_TIMEOUT = "10"


@dataclass(frozen=True, repr=False)
class Address:
    """A table in a database: ``postgresql://user@host/database?table=patients``.

    What is shown of it, also where it is taken for the path of a file, has no password.

    Examples
    --------
    >>> address = Address("postgresql://ann:secret@db.example.org/clinic?table=patients")
    >>> str(address), address.table
    ('postgresql://ann@db.example.org/clinic?table=patients', 'patients')
    """

    url: str = field(repr=False)

    @property
    def table(self) -> str:
        """The name of the table, with its schema if it names one."""
        names = [value for name, value in self._options if name == "table"]
        if len(names) != 1 or not names[0]:
            raise InputError(f"{self} names no table: add ?table=NAME to it.")
        return names[0]

    @property
    def view(self) -> str | None:
        """The name of a view to be made, with its schema if it names one; None where the address names a table."""
        return dict(self._options).get("view")

    @property
    def connection(self) -> str:
        """The URL without the table, as the driver takes it; it may hold a password."""
        return self.connection_with(None)

    @property
    def login(self) -> str:
        """The address without the table and without a password."""
        return self._shown([option for option in self._options if option[0] not in ("table", "view")])

    def connection_with(self, typed: str | None) -> str:
        """Return the URL without the table, with a password where none is in it."""
        options = [(name, value) for name, value in self._options if name not in ("table", "view")]
        if "connect_timeout" not in dict(options) and "PGCONNECT_TIMEOUT" not in os.environ:
            options.append(("connect_timeout", _TIMEOUT))
        login, at, host = self._parts.netloc.rpartition("@")
        user, colon, password = login.partition(":")
        if typed is not None and not password:
            options.append(("password", typed))
        # The driver takes no password with a slash or an at unless it is encoded.
        return self._written(f"{user}{colon}{quote(unquote(password), safe='')}{at}{host}", options)

    @property
    def name(self) -> str:
        """The name of the table, as that of a file."""
        return self.table

    @property
    def suffixes(self) -> list[str]:
        """Nothing: a table has no ending."""
        return []

    @property
    def suffix(self) -> str:
        """The ending of the name of a file, as that of a path."""
        return "".join(self.suffixes[-1:])

    def exists(self) -> bool:
        """Whether a file of this name is there: none is."""
        return False

    is_file = is_dir = exists

    def __str__(self) -> str:
        return self._shown(self._options)

    def _shown(self, options: list[tuple[str, str]]) -> str:
        user, at, host = self._parts.netloc.rpartition("@")
        shown = [(name, value) for name, value in options if not _SECRET.search(name)]
        return self._written(f"{user.partition(':')[0]}{at}{host}", shown)

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"

    def __fspath__(self) -> str:
        return str(self)

    @property
    def _parts(self) -> _Parts:
        scheme, _, rest = self.url.partition("://")
        rest, _, query = rest.partition("?")
        netloc, slash, path = rest.partition("/")
        # A password may hold a slash or an at; what stands before the last at is never shown.
        if "@" in path:
            behind, _, path = path.rpartition("@")
            host, slash, path = path.partition("/")
            netloc = f"{netloc}/{behind}@{host}"
        return _Parts(scheme, netloc, f"{slash}{path}", query)

    @property
    def _options(self) -> list[tuple[str, str]]:
        return parse_qsl(self._parts.query, keep_blank_values=True)

    def _written(self, netloc: str, options: list[tuple[str, str]]) -> str:
        parts = self._parts
        query = "&".join(f"{name}={quote(value, safe='*/.,:-_')}" for name, value in options)
        return f"{parts.scheme}://{netloc}{parts.path}{f'?{query}' if query else ''}"


@dataclass(frozen=True, repr=False)
class ObjectAddress(Address):
    """A file, a folder or a pattern in an object store: ``s3://bucket/visits/*.parquet``.

    Examples
    --------
    >>> address = ObjectAddress("s3://key:secret@clinic/visits/2024.csv.gz?region=eu-central-1")
    >>> str(address), address.name, address.suffixes
    ('s3://key@clinic/visits/2024.csv.gz?region=eu-central-1', '2024.csv.gz', ['.csv', '.gz'])
    """

    @property
    def connection(self) -> str:
        """The URL as the driver takes it; it may hold a password."""
        parts = self._parts
        path, query = quote(parts.path, safe="/%*=:,+"), f"?{parts.query}" if parts.query else ""
        return f"{parts.scheme}://{parts.netloc}{path}{query}"

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self._parts.path).name

    @property
    def suffixes(self) -> list[str]:
        """The endings of the name."""
        return PurePosixPath(self._parts.path).suffixes


@dataclass(frozen=True, repr=False)
class _Parts:
    """The parts of a URL."""

    scheme: str
    netloc: str
    path: str
    query: str


def address_of(path: object) -> Address | None:
    """Return the address that a text or path is; None for a file. One of an unknown kind is refused.

    >>> address_of("patients.csv") is None
    True
    """
    if isinstance(path, Address):
        return path
    found = re.match(r"([a-z][a-z0-9+.-]*)://", path, re.IGNORECASE) if isinstance(path, str) else None
    if not isinstance(path, str) or found is None:
        return None
    scheme = found[1].lower()
    if scheme in OBJECT_SCHEMES:
        return ObjectAddress(path)
    if scheme not in SCHEMES:
        raise InputError(
            f"There is no reader for {scheme}:// addresses; those of tables begin with postgresql://, those of "
            f"object stores with {', '.join(f'{name}://' for name in OBJECT_SCHEMES)}."
        )
    return Address(path)
