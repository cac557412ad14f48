"""Files in object stores, through the file systems of PyArrow; credentials come from the environment."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from discreet.core.errors import DiscreetError, InputError
from discreet.engines.addresses import ObjectAddress
from discreet.engines.atomic import scratch_folder
from discreet.engines.formats import format_of
from discreet.engines.inputs import PATTERN, Files, NamedFile, data_files, partition_types

_REASONS = (
    (("NETWORK_CONNECTION", "Could not connect", "resolve host"), "no server answers"),
    (("ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "SIGNATURE_DOES_NOT_MATCH", "403"), "permission denied"),
    (("No credentials", "MISSING_AUTHENTICATION"), "there are no credentials in the environment"),
)


@dataclass(frozen=True)
class ObjectFiles:
    """Files of one format in an object store that hold the rows of one table."""

    store: Any
    root: str
    names: tuple[PurePosixPath, ...]
    partitions: dict[str, pa.DataType]
    source: ObjectAddress

    @property
    def is_parquet(self) -> bool:
        """Whether the files are scanned where they are; others are parsed once, from copies."""
        file_format = format_of(Path(self.names[0]))
        return file_format is not None and file_format.reader == "parquet"

    def dataset(self) -> Any:
        """Return the rows of Parquet files, which are fetched when they are used."""
        paths = [self._path(name) for name in self.names]
        with store_failures(self.source), _damage(self.source):
            return dataset_of(paths, self.store, "parquet", self.partitions, self.source, self.root)

    def copied(self) -> Files:
        """Return private copies of the files, which messages call by their addresses."""
        folder, copies = scratch_folder(), []
        for number, name in enumerate(self.names):
            copy = folder / f"{number}-{name.name}"
            with (
                store_failures(self.source),
                self.store.open_input_stream(self._path(name), compression=None) as stream,
                copy.open("wb") as target,
            ):
                shutil.copyfileobj(stream, target)
            copies.append(NamedFile.of(copy, f"{self.source}" if len(self.names) == 1 else str(name)))
        return Files(tuple(copies), self.partitions, NamedFile.of(copies[0], str(self.source)))

    def _path(self, name: PurePosixPath) -> str:
        return f"{self.root}/{name}" if self.root else str(name)


def objects_of(address: ObjectAddress) -> ObjectFiles:
    """Return the files that an address names: one, those of a folder, or those that fit a pattern."""
    from pyarrow import fs

    store, path = opened_store(address)
    path = path.rstrip("/")
    with store_failures(address):
        if PATTERN.search(path):
            fixed = path[: PATTERN.search(path).start()].rpartition("/")[0]  # type: ignore[union-attr]
            names = [name for name in _below(store, fixed) if fnmatchcase(f"{fixed}/{name}", path)]
            return _files(store, fixed, names, address)
        kind = store.get_file_info(path).type
        if kind is fs.FileType.File:
            parent, _, name = path.rpartition("/")
            return ObjectFiles(store, parent, (PurePosixPath(name),), {}, address)
        names = _below(store, path) if kind is fs.FileType.Directory else []
    if kind is fs.FileType.NotFound:
        raise InputError(f"There is no file {address}.")
    return _files(store, path, names, address)


def opened_store(address: ObjectAddress) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it."""
    from pyarrow import fs

    with store_failures(address):
        store, path = fs.FileSystem.from_uri(address.connection)
        return store, path


@contextlib.contextmanager
def store_failures(
    address: object, what: str = "cannot be read", error: type[Exception] = InputError
) -> Iterator[None]:
    """Turn what an object store raises into one line that holds no credentials."""
    try:
        yield
    except DiscreetError:
        raise
    except (OSError, ValueError, NotImplementedError) as failure:
        words = str(failure)
        why = next((reason for marks, reason in _REASONS if any(mark in words for mark in marks)), None)
        if why is None:
            is_absent = isinstance(failure, FileNotFoundError)
            why = "there is no file or bucket of this name" if is_absent else type(failure).__name__
        raise error(f"{address} {what}: {why}.") from None


@contextlib.contextmanager
def _damage(address: object) -> Iterator[None]:
    try:
        yield
    except pa.ArrowInvalid:
        raise InputError(f"{address} is not a Parquet file, or one of them is cut short.") from None


def _below(store: Any, folder: str) -> list[PurePosixPath]:
    from pyarrow import fs

    found = store.get_file_info(fs.FileSelector(folder, recursive=True))
    return [PurePosixPath(info.path).relative_to(folder) for info in found if info.type is fs.FileType.File]


def _files(store: Any, root: str, names: Sequence[PurePosixPath], address: ObjectAddress) -> ObjectFiles:
    chosen = data_files(names, address)
    return ObjectFiles(store, root, tuple(chosen), partition_types(chosen, address), address)


def dataset_of(
    paths: Sequence[str | os.PathLike[str]],
    store: Any,
    format_: str,
    partitions: Mapping[str, pa.DataType],
    source: object,
    root: str | None = None,
) -> Any:
    """Return files as one dataset of Arrow; those with other columns or types than the first are refused."""
    from pyarrow import dataset

    names = [os.fspath(path) for path in paths]
    hive = dataset.partitioning(pa.schema(list(partitions.items())), flavor="hive") if partitions else None
    rows = dataset.dataset(
        names, filesystem=store, format=format_, partitioning=hive, partition_base_dir=root
    )
    # Arrow would take the columns of the first file, and fill up what others lack with nulls.
    first, *others = (fragment.physical_schema for fragment in rows.get_fragments())
    if not all(first.equals(other) for other in others):
        raise InputError(f"{source} holds files with other columns or types than the rest.")
    if {name.casefold() for name in first.names} & {name.casefold() for name in partitions}:
        raise InputError(f"{source} names a column in its files and in its folders as well; rename one.")
    return rows
