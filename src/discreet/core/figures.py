"""Figures: what is said about a release, computed once after its verdict and shown by files, reports and commands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from discreet.core.adapters import PICTURE, load
from discreet.core.boundary import public
from discreet.core.errors import InputError

if TYPE_CHECKING:
    from discreet.core.release import Release


@public
@dataclass(frozen=True)
class Caution:
    """One thing to know before a release is handed on.

    Attributes
    ----------
    code
        A fixed name, for programs.
    text
        A sentence, for people; it holds counts and column names, and no data value.
    public
        Whether it follows from the released data alone, so that it may be published.

    Examples
    --------
    >>> Caution("starred-rows", "3 rows show nothing but *.").to_dict()
    {'code': 'starred-rows', 'text': '3 rows show nothing but *.', 'public': True}
    """

    code: str
    text: str
    public: bool = True

    def to_dict(self) -> dict[str, object]:
        """Return the caution as plain data for JSON."""
        return asdict(self)


def summarized(cautions: Sequence[Caution]) -> list[str]:
    """Return the texts of cautions, those of one kind as one text with their number.

    >>> summarized([Caution("a", "First."), Caution("b", "Other."), Caution("a", "Second."), Caution("a", "Third.")])
    ['First. So it is with 2 more: --json lists them, and release.json if there is one.', 'Other.']
    """
    texts: dict[str, list[str]] = {}
    for caution in cautions:
        texts.setdefault(caution.code, []).append(caution.text)
    return [
        f"{first} So it is with {len(more):,} more: --json lists them, and release.json if there is one."
        if more
        else first
        for first, *more in texts.values()
    ]


@dataclass(frozen=True)
class Counts:
    """How many records came in, were released and were suppressed.

    >>> Counts(10, 9, 1).to_dict()
    {'in': 10, 'out': 9, 'suppressed': 1}
    """

    n_in: int
    n_out: int
    suppressed: int

    def to_dict(self) -> dict[str, int]:
        """Return the counts as plain data for JSON."""
        return {"in": self.n_in, "out": self.n_out, "suppressed": self.suppressed}


class PublicFigures(ABC):
    """The public half: functions of the released data, the parameters and the number of suppressed records.

    A subclass has a cached property for each figure. Whatever shows a figure first computes it, so that a run without
    a report pays for none of the report's, and nothing computes one again.
    """

    def __init__(self, release: Release) -> None:
        self.release = release

    @property
    @abstractmethod
    def n_released(self) -> int:
        """The number of released records."""

    @property
    def counts(self) -> Counts:
        """How many records came in, were released and were suppressed."""
        evidence = self.release.evidence
        return Counts(evidence.n_rows, self.n_released, evidence.suppressed)

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return what ``release.json`` says of the data."""


class PrivateFigures(ABC):
    """The private half: what compares with the original or rests on kept evidence; for the owner alone.

    It may take over figures of the public half.
    """

    def __init__(self, release: Release, public: Any = None) -> None:
        self.release, self.public = release, public

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the measures in the owner's record."""


Public = TypeVar("Public", bound=PublicFigures)
Private = TypeVar("Private", bound=PrivateFigures)


@dataclass(frozen=True, repr=False)
class Figures(Generic[Public, Private]):
    """What is said about a release.

    Attributes
    ----------
    public
        What may be published.
    comparison
        What compares with the original, for the owner alone; None where the original is gone.
    cautions
        What a careful data officer would say before the release is handed on; each says whether it is public.
    identifiers
        What names people in the released texts, by column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, quasi
    >>> from discreet.guarantees import KAnonymity
    >>> from discreet.publish import Mondrian
    >>> table = Table(pa.table({"age": [20, 20, 30, 30]}), {"age": quasi()})
    >>> figures = Mondrian(KAnonymity(2)).release(table).figures
    >>> figures.public.risk.n_classes, figures.private.loss.total, figures.cautions
    (2, 0.0, ())
    """

    public: Public
    comparison: Private | None
    cautions: tuple[Caution, ...]
    identifiers: tuple[Any, ...] = ()

    @property
    def private(self) -> Private:
        """The private half, which there is as long as the original is at hand."""
        if self.comparison is None:
            raise InputError("The original is gone, so nothing can be compared with it.")
        return self.comparison

    def _repr_html_(self) -> str:
        return str(load(PICTURE)(self))

    def __repr__(self) -> str:
        return f"Figures({type(self.public).__name__}, {len(self.cautions)} cautions)"
