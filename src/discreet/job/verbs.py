"""Runs that make no release: one class for each verb, whose fields are the keys of its job file."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from discreet.core.boundary import public, reads
from discreet.core.errors import InputError, ParameterError
from discreet.core.params import (
    BOOL,
    NONE,
    Constraint,
    Constraints,
    InstanceOf,
    IntIn,
    check_fields,
    listed,
    require,
)
from discreet.core.registry import VERBS
from discreet.core.verdict import Verdict
from discreet.kinds.wording import refuse_unknown


class _Texts:
    """A list of texts, which may be empty."""

    def admits(self, value: object) -> bool:
        """Whether the value is a list or tuple of texts."""
        return isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)

    def __str__(self) -> str:
        return "a list of texts"


Progress = Callable[[str], None]
"""A function called with the name of each stage as it begins."""

TEXT = InstanceOf((str,), "a text")
TEXTS = _Texts()
PATH = InstanceOf((str, os.PathLike), "a path")
SEED = (NONE, IntIn(0))
_COMMON = ("data", "reading", "out", "options")


@public
@runtime_checkable
class Result(Protocol):
    """What every run returns: a `Release`, or what is `Made` by another verb."""

    @property
    def kind(self) -> str:
        """What it is."""
        ...

    @property
    def data(self) -> Any:
        """The thing itself: released rows, a model, itemsets, a vault."""
        ...

    @property
    def verdict(self) -> Verdict | None:
        """The judgment of its guarantee; None where it has none."""
        ...

    @property
    def figures(self) -> Any:
        """What is said about it: the `Figures` of a release, plain data of anything else."""
        ...


@public
@dataclass(frozen=True, repr=False, eq=False)
class Made:
    """What a run made that is no release.

    Attributes
    ----------
    kind
        What it is: ``"noisy-table"``, ``"distorted-baskets"``, ``"density"``, ``"shares"``, ``"itemsets"``,
        ``"rules"``, ``"model"``, ``"predictions"``, ``"vault"`` or ``"transcript"``.
    data
        The thing itself.
    figures
        What is said about it, as plain data.
    files
        The content of each file that is written, by its path.
    verdict
        The judgment of its guarantee; None where it has none.

    Examples
    --------
    >>> Made("predictions", [1, 0, 1], {"rows": 3})
    Made(predictions)
    """

    kind: str
    data: Any
    figures: Mapping[str, Any]
    files: Mapping[Path, Any] = field(default_factory=dict)
    verdict: Verdict | None = None

    def __repr__(self) -> str:
        return f"Made({self.kind})"


@public
@dataclass(frozen=True)
class VerbJob(ABC):
    """A run of one verb; `run` does it.

    Parameters
    ----------
    data
        The path of the file to read.
    reading
        How to read it, by the names of the reader's options.
    out
        The file, or the folder, to write; None writes nothing.
    overwrite
        Whether an earlier one may be replaced.
    """

    data: Any = field(repr=False)
    _: KW_ONLY
    reading: Mapping[str, Any] = field(default_factory=dict)
    out: Path | None = None
    overwrite: bool = False

    verb: ClassVar[str]
    """The table of a job file that describes the run."""
    stages: ClassVar[tuple[str, ...]]
    """What the run does, one after the other."""
    constraints: ClassVar[Constraints] = {}
    """What each key must be, where nothing that it is handed to checks it."""
    reading_keys: ClassVar[Mapping[str, Constraint]] = {}
    """The keys of [input] beside the path."""
    output_keys: ClassVar[tuple[str, ...]] = ()
    """The keys of [output] beside the target and ``overwrite``."""
    target_key: ClassVar[str] = "file"
    """The key of [output] that names the target."""
    path_keys: ClassVar[tuple[str, ...]] = ()
    """Keys whose texts are paths, relative to the folder of the job file."""

    def __post_init__(self) -> None:
        """Check what can be checked without the data."""
        require(self.verb, "overwrite", self.overwrite, BOOL)
        require(self.verb, "out", self.out, PATH, NONE)
        object.__setattr__(self, "out", None if self.out is None else Path(self.out))
        for name, allowed in self.constraints.items():
            require(self.verb, name, getattr(self, name), *listed(allowed))

    @classmethod
    @reads("The job")
    def from_dict(cls, record: Mapping[str, Any], *, folder: Path | None = None) -> Self:
        """Build the job from plain data laid out as a job file; relative paths are relative to the folder."""
        from discreet.job.parse import reading_from

        refuse_unknown("The job", record, ("input", cls.verb, "output"))
        source, described, output = (_table(record, name) for name in ("input", cls.verb, "output"))
        keys = {parameter.name for parameter in fields(cls)} - {*_COMMON, *cls.output_keys, "overwrite"}
        options = cls.option_names()
        refuse_unknown("[input]", source, ("path", *cls.reading_keys))
        refuse_unknown(f"[{cls.verb}]", described, (*sorted(keys), *options))
        refuse_unknown("[output]", output, (cls.target_key, "overwrite", *cls.output_keys))
        reading = {name: value for name, value in source.items() if name != "path" and value is not None}
        values = {
            "data": source.get("path"),
            "out": output.get(cls.target_key),
            **{name: value for name, value in described.items() if name in keys},
            **{name: value for name, value in output.items() if name != cls.target_key},
        }
        for name in ("data", "out", *cls.path_keys):
            if isinstance(values.get(name), str | os.PathLike):
                values[name] = (folder or Path()) / values[name]
        arguments = {name: value for name, value in values.items() if value is not None}
        if options:
            arguments["options"] = {name: value for name, value in described.items() if name in options}
        if "data" not in arguments:
            cls.refuse_no_data()
            arguments["data"] = None
        check_fields(f"[{cls.verb}]", cls, arguments)
        return cls(reading=reading_from(reading, cls.reading_keys), **arguments)

    @classmethod
    def option_names(cls) -> Iterable[str]:
        """Return the parameters of methods that the table of the verb may set too; by default none."""
        return ()

    @classmethod
    def refuse_no_data(cls) -> None:
        """Refuse a job without data."""
        raise InputError("The job does not say what to read: give [input] its path.")

    def targets(self) -> tuple[Path, ...]:
        """Return the files that are written."""
        return () if self.out is None else (self.out,)

    def refuse_targets(self) -> None:
        """Refuse what could not be written, before any work is done."""
        from discreet.engines.atomic import require_new_file
        from discreet.engines.folders import require_apart

        read = (getattr(self, name) for name in self.path_keys if name not in self.output_keys)
        inputs = (self.data, *read)
        for path in self.targets():
            require_apart(path, *inputs)
            require_new_file(path, overwrite=self.overwrite)

    def run(self, begin: Progress) -> Made:
        """Do it, and write what was made."""
        from discreet.engines.writing import write_file

        self.refuse_targets()
        result = self.make(begin)
        if result.files:
            begin("Writing")
        for path, content in result.files.items():
            write_file(content, path)
        return result

    @abstractmethod
    def make(self, begin: Progress) -> Made:
        """Return what the run makes."""

    def written(self, content: Any) -> dict[Path, Any]:
        """Return the content by the path that it is written to; nothing where nothing is written."""
        return {} if self.out is None else {self.out: content}


def verb_job(record: Mapping[str, Any], *, folder: Path | None = None) -> VerbJob | None:
    """Build the job of the verb that plain data describes; None where it describes a release."""
    named = [verb for verb in VERBS if verb in record]
    if len(named) > 1:
        raise ParameterError(
            f"A job does one thing, and this has {' and '.join(f'[{verb}]' for verb in named)}."
        )
    if not named:
        return None
    job: VerbJob = VERBS[named[0]].load().from_dict(record, folder=folder)
    return job


def _table(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = record.get(name, {})
    if not isinstance(section, Mapping):
        raise InputError(f"[{name}] must be a table of keys.")
    return section
