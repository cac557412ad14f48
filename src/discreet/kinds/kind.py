"""Kind: what differs between kinds of data, from the section of a job to the blocks of a report."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.core.adapters import ADDED_BY_GUARANTEE, KINDS, load
from discreet.core.errors import InputError, ParameterError
from discreet.core.figures import Caution, Figures, PrivateFigures, PublicFigures
from discreet.core.guarantee import Guarantee
from discreet.core.params import Constraint, InstanceOf
from discreet.core.registry import Method
from discreet.core.release import Release
from discreet.core.schema import Role, Schema
from discreet.core.tables.groups import Groups
from discreet.core.verdict import Verdict

if TYPE_CHECKING:
    from discreet.kinds.blocks import Block
    from discreet.kinds.codebook import DescribedColumn
    from discreet.kinds.judging import Judgment
    from discreet.kinds.wording import About
    from discreet.kinds.written import Written

TEXT = InstanceOf((str,), "a text")
TEXTS = InstanceOf((list, tuple), "a list of texts")
KEPT_EVIDENCE = "the files cannot show it: it rests on evidence kept while the release was made"
"""Why a verdict by construction cannot be recomputed from the files of a release."""
Line = tuple[str, str]
"""A line for the terminal: its label and its text."""


@dataclass(frozen=True, repr=False)
class Input:
    """The data of a job, and what the job says about it.

    Attributes
    ----------
    data
        The path of a file, or the data itself.
    section
        What the kind's section of the job holds.
    reading
        How a file is read.
    rest
        The role of the columns that are not named.
    spreadsheet_safe
        Whether texts that a spreadsheet would run as a formula get an apostrophe before them.
    """

    data: Any
    section: Any
    reading: Mapping[str, Any]
    rest: Role | None
    spreadsheet_safe: bool

    @property
    def is_file(self) -> bool:
        """Whether the data is the path of a file."""
        return isinstance(self.data, str | os.PathLike)


class Kind(ABC):
    """One kind of data.

    A kind that jobs can be about names its ``section`` of a job file; one that only methods make, such as pseudo-data,
    has none and is read as the kind that it comes from.
    """

    name: ClassVar[str]
    """The name of the kind, as ``release.json`` and the registry of methods have it."""
    formats: ClassVar[tuple[str, ...]]
    """The formats that releases can be written in, the usual one first."""
    title: ClassVar[str]
    """What the data is called in a report where nobody named it."""
    records_name: ClassVar[str]
    """What records are called, in ``release.json`` and in words."""
    basis: ClassVar[str] = "recomputed from the released data alone"
    """What the verdict of a release rests on, in words."""
    by_evidence: ClassVar[bool] = False
    """Whether the guarantee rests on kept evidence, so that the released files alone cannot show it."""

    draws_records: ClassVar[bool] = False
    """Whether as many records are released as were drawn, whatever came in and was suppressed."""

    public_half: ClassVar[type[PublicFigures]]
    """The public half of the figures."""
    private_half: ClassVar[type[PrivateFigures]]
    """The private half of the figures; it may take over figures of the public one."""
    not_for_rows: ClassVar[str | None] = None
    """Why a recipe of this kind cannot protect new records; None where it can."""
    groups_name: ClassVar[str] = "classes"
    """What the groups that a verdict is about are called."""

    # --- jobs

    section: ClassVar[str | None] = None
    """The table of a job file that describes the data; None where no job is about this kind."""
    takes: ClassVar[str] = ""
    """What methods that work on a job's data take, as the registry of methods names it."""
    names_files: ClassVar[bool] = False
    """Whether the section names the files of the data, so that [input] has no path."""
    noun: ClassVar[str] = ""
    """The data in an error message."""
    reading: ClassVar[Mapping[str, Constraint]] = {}
    """How a file is read: the keys of [input] beside its path."""

    def parse(self, section: Mapping[str, Any], folder: Path) -> Any:
        """Read the kind's section of a job file."""
        raise InputError(f"No job is about {self.name}.")

    def check(self, job: Input, method: Method) -> None:
        """Refuse a job that does not fit together; by default anything fits."""
        del job, method

    def guarantee(self, guarantee: Guarantee | None, job: Input) -> Guarantee | None:
        """Return the guarantee about the data as it is read: by default the one that the job names."""
        del job
        return guarantee

    def read(self, job: Input) -> Any:
        """Read the data as publishers take it."""
        raise InputError(f"No job is about {self.name}.")

    def stays_on_cluster(self, job: Input) -> bool:
        """Whether the data is on a cluster, or is read there."""
        del job
        return False

    def arguments(self, job: Input, method: Method) -> dict[str, Any]:
        """Return the arguments of a method that the section supplies."""
        del job, method
        return {}

    def output_format(self, job: Input) -> str | None:
        """Return the format of the written data where the job names none; None where there is but one."""
        del job
        return self.formats[0] if len(self.formats) > 1 else None

    # --- what is released and judged

    def usual_format(self, release: Release) -> str:
        """Return the format that a release is written in where none is named."""
        del release
        return self.formats[0]

    def subject(self, release: Release) -> Any:
        """Return what the guarantee judges: the released data by default."""
        return release.data

    def frame(self, release: Release) -> Any:
        """Return the released rows as a frame."""
        raise InputError(f"A release of {release.kind} has no frame; look at its data instead.")

    def groups(self, release: Release) -> Groups:
        """Return the groups of the released data."""
        groups: Groups = release.data.groups()
        return groups

    def counted(self, release: Release) -> Groups:
        """Return the classes that people are counted in: the groups, where no unit has several rows."""
        return self.groups(release)

    def added_columns(self, release: Release) -> Sequence[str]:
        """Return the columns that the method added to the released rows, such as the number of a group."""
        del release
        return ()

    def published_texts(self, release: Release) -> Sequence[Any]:
        """Return frames or baskets that hold every text of the release, so that formulas among them are found."""
        return (release.data,)

    def judged_values(self, release: Release) -> Mapping[str, tuple[Any, Any]]:
        """Return the different values of columns that were judged, and their counts, null first: none is read again."""
        del release
        return {}

    # --- files

    @abstractmethod
    def write(self, release: Release, folder: Path, format: str) -> list[Path]:  # noqa: A002
        """Write the data into a folder; return the files."""

    @abstractmethod
    def read_back(self, release: Release, folder: Path, format: str) -> Any:  # noqa: A002
        """Return what the guarantee judges, read from the written files; None where they do not hold the data."""

    @abstractmethod
    def read_released(self, written: Written, *, texts: bool) -> Any:
        """Return the data of the folder of a release, for whoever has no more than that.

        With ``texts``, cells of text files stay text, whatever they look like; else only labels do.
        """

    def of_table(self, release: Release, rows: Any) -> Any:
        """Return what the guarantee judges of the rows in a new table of a database."""
        raise InputError(f"No table of a database holds {self.name}.")

    @abstractmethod
    def judge_written(
        self, written: Written, data: Any, guarantee: Guarantee | None, *, is_named: bool
    ) -> Judgment:
        """Judge data that was read from a folder by a guarantee, which is None where only the owner knows it.

        ``is_named``: whether the guarantee was named by whoever checks, and not by the release.
        """

    def released_parts(self, data: Any, record: Mapping[str, Any]) -> tuple[Any, Schema]:
        """Return read data as a release holds it, and the roles of its columns."""
        del record
        return data, Schema({})

    def columns(self, data: Any) -> tuple[set[str], set[str]] | None:
        """Return the names of the columns of read data, and of those that the method made; None without columns."""
        del data
        return None

    def codebook(self, release: Release) -> Sequence[DescribedColumn]:
        """Return what the codebook says of the columns; nothing for data without a codebook."""
        del release
        return ()

    def with_bounds(self, release: Release) -> Release:
        """Return the release with the bounds of intervals as columns of its data, as it is to be written."""
        raise ParameterError(
            f"Only rows of a table have columns of bounds, and this is a release of {release.kind}."
        )

    def why_not_for_rows(self) -> str | None:
        """Return why a recipe of this kind cannot protect new records; None where it can."""
        return self.not_for_rows

    # --- what is said about a release

    def verdict_for_others(self, verdict: Verdict) -> Verdict:
        """Return a verdict as public files state it: it may rest on what only the owner has."""
        return verdict

    def public_figures(self, release: Release) -> PublicFigures:
        """Return the public half of the figures."""
        return self.public_half(release)

    @abstractmethod
    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        """Return what to know before the release is handed on; ``private`` is None where the original is gone."""

    def figures(self, release: Release) -> Figures[Any, Any]:
        """Return the figures of a release."""
        from discreet.measure.spelling import formula_cautions, identifier_cautions, identifiers_of

        public = self.public_figures(release)
        private = None if release.original is None else self.private_half(release, public)
        cautions = self.cautions(release, public, private)
        texts, judged = self.published_texts(release), self.judged_values(release)
        # A keyed pseudonym keeps the name of its column, and names nobody.
        pseudonyms = {entry["name"] for entry in release.recipe.get("columns", ()) if entry.get("pseudonym")}
        identifiers = tuple(
            column
            for column in identifiers_of(release, texts, judged)
            if column.code != "named-identifier" or column.column not in pseudonyms
        )
        all_cautions = (
            *cautions,
            *formula_cautions(*texts, judged=judged),
            *identifier_cautions(identifiers),
        )
        return Figures(public, private, all_cautions, identifiers)

    @abstractmethod
    def blocks(self, release: Release, *, internal: bool) -> Sequence[Block | None]:
        """Return the blocks of a report, the verdict first; only an internal one may show the private figures."""

    def identifiability(self, release: Release) -> Sequence[Block]:
        """Return what the released data shows of the risk that is left, without any value; by default nothing."""
        del release
        return ()

    def terms(self, release: Release) -> Mapping[str, str]:
        """Return the terms that a report uses, with their meaning."""
        del release
        return {}

    def rerun(self, release: Release, about: About, method: Method) -> str | None:
        """Return code that makes the release again; None where that takes more than the data and the release."""
        del release, about, method
        return None

    @abstractmethod
    def outcome(self, release: Release) -> dict[str, Any]:
        """Return what ``--json`` says of a run, beside what all kinds have."""

    @abstractmethod
    def lines(self, release: Release) -> list[Line]:
        """Return the lines for the terminal that say what a run achieved and cost."""

    def groups_of(self, verdict: Verdict) -> str:
        """Return what the groups that a verdict is about are called."""
        del verdict
        return self.groups_name


def kind_named(name: str) -> Kind:
    """Return a kind by its name."""
    kind: Kind = load(KINDS[name])()
    return kind


def kind_of(release: Release) -> Kind:
    """Return the kind of a release, with what its guarantee adds to the figures and the report."""
    return with_guarantee(kind_named(release.kind), type(release.guarantee).__name__)


def with_guarantee(kind: Kind, guarantee: str) -> Kind:
    """Return a kind with what a guarantee, by the name of its class, adds to the figures and the report.

    What is added is a class that overrides some duties of a kind and calls those of any kind by ``super()``.
    """
    if guarantee not in ADDED_BY_GUARANTEE:
        return kind
    added = load(ADDED_BY_GUARANTEE[guarantee])
    combined: Kind = type(added.__name__, (added, type(kind)), {})()
    return combined


def current_name(name: str) -> str:
    """Return a name of a kind as it is now; early releases had names of their own for data with hidden rules."""
    return {"sanitized-baskets": "baskets", "sanitized-table": "table"}.get(name, name)


def record_kind(record: Mapping[str, Any]) -> Kind:
    """Return the kind of data that a release.json is about, with what the stated guarantee adds to it."""
    stated = record.get("guarantee")
    guarantee = stated.get("guarantee") if isinstance(stated, Mapping) else None
    return with_guarantee(kind_named(current_name(record["kind"])), str(guarantee))


def why_not_for_rows(record: Mapping[str, Any]) -> str | None:
    """Return why the recipe in a release.json cannot protect new records; None where it can, or names no kind."""
    name = record.get("kind")
    if not isinstance(name, str) or current_name(name) not in KINDS:
        return None
    return record_kind(record).why_not_for_rows()


def job_kinds() -> tuple[Kind, ...]:
    """Return every kind that a job can be about; a job file without any of their sections is about the first."""
    return tuple(kind for kind in map(kind_named, KINDS) if kind.section is not None)
