"""Job: everything a run needs, built from the command line, from a job file or by hand."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.core.errors import ParameterError, SchemaError
from discreet.core.params import InstanceOf, OneOf, require
from discreet.core.schema import Column, Role, Schema
from discreet.guarantees import Guarantee
from discreet.job.methods import METHODS, publisher_of

FORMATS = ("csv", "tsv", "parquet", "arrow", "jsonl")
_ENDINGS = {
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".parq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
}
_PACKED = (".gz", ".zst", ".zstd")


class MissingRoleError(SchemaError):
    """Columns without a role; ``names`` holds them, so that a caller can say how to give them one."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        verb = "has" if len(names) == 1 else "have"
        super().__init__(f"Every column needs a role; {listed(names)} {verb} none.")


@dataclass(frozen=True)
class Job:
    """Everything a run needs; `run` does it.

    Parameters
    ----------
    data
        The path of a file, or a frame.
    columns
        The roles of the columns, made by `identifier`, `quasi`, `sensitive` and `other`.
    guarantee
        What the release promises.
    method
        ``"mondrian"``, ``"generalization"``, ``"optimal"``, ``"samarati"``, ``"incognito"`` or ``"local"``.
    options
        The method's own parameters by name.
    reading
        How to read the file: the options of `discreet.read` by name.
    rest
        The role of every column that ``columns`` does not name, other or identifier; None refuses them.
    out
        The folder to write; None writes nothing.
    format
        The format of the written data; None takes the input's.
    report
        Whether to write the report as well.
    overwrite
        Whether an earlier release in the folder may be replaced.
    seed
        Seeds the order of the rows; None draws from the operating system.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import quasi, sensitive
    >>> from discreet.guarantees import KAnonymity
    >>> from discreet.job import Job, run
    >>> frame = pa.table({"age": [24, 37, 26, 38], "disease": ["HIV", "flu", "flu", "HIV"]})
    >>> job = Job(frame, {"age": quasi(), "disease": sensitive()}, KAnonymity(2))
    >>> sorted(set(run(job).frame["age"].to_pylist()))
    ['[24, 26]', '[37, 38]']
    """

    data: Any = field(repr=False)
    columns: Mapping[str, Column]
    guarantee: Guarantee
    method: str = "mondrian"
    options: Mapping[str, Any] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    rest: Role | None = None
    out: Path | None = None
    format: str | None = None
    report: bool = True
    overwrite: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        require(self, "guarantee", self.guarantee, InstanceOf((Guarantee,), "a guarantee"))
        require(self, "method", self.method, OneOf(tuple(METHODS)))
        require(self, "rest", self.rest, OneOf((None, Role.OTHER, Role.IDENTIFIER)))
        require(self, "format", self.format, OneOf((None, *FORMATS)))
        refuse_unknown(self.method, self.options, METHODS[self.method][1])

    @classmethod
    def read(cls, path: str | Path) -> Job:
        """Read a job file; the relative paths in it are relative to its folder."""
        from discreet.job.parse import read_job

        return read_job(Path(path))

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], *, folder: Path | None = None) -> Job:
        """Build a job from plain data laid out as a job file; relative paths are relative to the folder."""
        from discreet.job.parse import job_from_dict

        return job_from_dict(plain, folder=folder)

    @property
    def is_file(self) -> bool:
        """Whether the data is the path of a file."""
        return isinstance(self.data, str | os.PathLike)

    @property
    def output_format(self) -> str:
        """The format of the written data."""
        return self.format or (format_of(Path(self.data)) if self.is_file else "csv")

    def schema(self, names: Sequence[str]) -> Schema:
        """Return every column of a file its role, or say which has none."""
        return complete(self.columns, names, rest=self.rest)

    def publisher(self) -> Any:
        """Make the publisher."""
        return publisher_of(self.method, self.guarantee, self.options, self.seed)


def format_of(path: Path) -> str:
    """Describe a file's format by the ending of its name.

    >>> format_of(Path("visits.parquet")), format_of(Path("visits.tsv.gz")), format_of(Path("visits"))
    ('parquet', 'tsv', 'csv')
    """
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] in _PACKED:
        endings.pop()
    return _ENDINGS.get(endings[-1], "csv") if endings else "csv"


def complete(columns: Mapping[str, Column], names: Sequence[str], *, rest: Role | None) -> Schema:
    """Put roles on all columns of a table; the ones not named get the role ``rest``, or are refused."""
    for name in columns:
        if name not in names:
            raise SchemaError(
                f"A role is given for '{name}', which the table does not have{nearest(name, names)}"
            )
    bare = [name for name in names if name not in columns]
    if bare and rest is None:
        raise MissingRoleError(bare)
    return Schema({**columns, **{name: Column(rest) for name in bare if rest is not None}})


def refuse_unknown(method: str, options: Iterable[str], known: Sequence[str]) -> None:
    """Refuse options that a method does not have."""
    for name in options:
        if name not in known:
            raise ParameterError(f"The method {method} has no option '{name}'{nearest(name, known)}")


def nearest(name: str, known: Iterable[str]) -> str:
    """End a sentence with the known name that may have been meant, or with all of them.

    >>> nearest("strickt", ["strict", "summary"])
    "; did you mean 'strict'?"
    """
    options = list(known)
    folded = {option.casefold(): option for option in reversed(options)}
    close = difflib.get_close_matches(str(name).casefold(), folded, n=1, cutoff=0.6)
    if close:
        return f"; did you mean '{folded[close[0]]}'?"
    return f"; there is {listed(options)}." if options else "."


def listed(names: Sequence[str]) -> str:
    """List names for a message, the first few of many."""
    shown = ", ".join(f"'{name}'" for name in names[:8])
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"
