"""Sketches: records, texts or baskets, published as a few random sums from which distances are estimated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.core.boundary import public
from discreet.core.errors import InputError, ParameterError
from discreet.core.figures import Caution, PrivateFigures, PublicFigures
from discreet.core.guarantee import AllOf, Guarantee
from discreet.core.params import Constraint, IntIn, OneOf
from discreet.core.records.sketches import SHORT_KEY
from discreet.core.registry import Method
from discreet.core.release import Release
from discreet.core.schema import SHORTEST_KEY
from discreet.engines.sketches import read_sketches, write_sketches
from discreet.guarantees import DeltaAnonymity, KVariance
from discreet.kinds.baskets import BasketKind
from discreet.kinds.hierarchies import key_from
from discreet.kinds.kind import KEPT_EVIDENCE, TEXT, Input, Kind, Line
from discreet.kinds.tables import TableKind
from discreet.kinds.wording import refuse_unknown
from discreet.measure import DistanceError, distance_error

if TYPE_CHECKING:
    from discreet.kinds.blocks import Block
    from discreet.kinds.judging import Judgment
    from discreet.kinds.written import Written
    from discreet.publish import DeltaProposal

_NAME = "sketches.arrow"
SHORT = 16
"""The median length of sketches below which estimated distances are hardly better than chance."""
MANY_SUPPRESSED = 0.1
"""The share of suppressed sketches above which the rest is no fair sample."""


@public
@dataclass(frozen=True)
class SketchSection:
    """What a job says of sketches.

    Parameters
    ----------
    key
        The secret key, as bytes or text; of at least 16 bytes, since a release confirms a key that is guessed.
    components
        The longest sketch.
    """

    key: bytes | str = field(repr=False)
    components: int = 128

    def __post_init__(self) -> None:
        """Refuse a key that can be guessed."""
        key = self.key.encode() if isinstance(self.key, str) else self.key
        if isinstance(key, bytes) and 0 < len(key) < SHORTEST_KEY:
            raise InputError(
                f"The key of sketches needs at least {SHORTEST_KEY} bytes, or it can be guessed."
            )


class PublicSketchFigures(PublicFigures):
    """What sketches show: their number, their lengths, and how far off estimates are."""

    @property
    def n_released(self) -> int:
        """The number of sketches."""
        return len(self.release.data)

    @cached_property
    def distance_error(self) -> DistanceError:
        """How far off estimated distances are."""
        return distance_error(self.release.data.lengths)

    @property
    def lengths(self) -> dict[str, float]:
        """The quartiles of the lengths of sketches."""
        quartiles = np.percentile(self.release.data.lengths, [0, 25, 50, 75, 100]).tolist()
        return dict(zip(("least", "quarter", "median", "three_quarters", "most"), quartiles, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the fingerprint of the key and the number of records."""
        return {"family": self.release.data.family, "records": self.counts.to_dict()}


class PrivateSketchFigures(PrivateFigures):
    """What the method reports of how lengths were chosen, and what might be better."""

    @property
    def details(self) -> dict[str, Any]:
        """What the method reports."""
        return dict(self.release.evidence.details)

    @cached_property
    def proposal(self) -> DeltaProposal | None:
        """Another delta, where the one that was named leaves little."""
        from discreet.publish import propose_delta

        guarantee = self.release.guarantee
        if not isinstance(guarantee, DeltaAnonymity) or not self.release.cautions:
            return None
        components = int(self.release.recipe["parameters"]["components"])
        proposal = propose_delta(self.release.original, components=components)
        return proposal if proposal.delta < guarantee.delta or proposal.hopeless else None

    def to_dict(self) -> dict[str, Any]:
        """Return what the method reports."""
        return self.details


def _why_suppressed(guarantee: Guarantee) -> str:
    """Return which records a guarantee leaves out, and what keeps more of them."""
    words = {
        "delta": "By delta the shortest records go first: a smaller one keeps more, but none keeps single items.",
        "k": "By k-variance those go whose nearest neighbors are too near: a smaller k keeps more.",
    }
    return " ".join(words[letter] for letter in _letters(guarantee))


def _letters(guarantee: Guarantee) -> list[str]:
    """Return the parameters that set how long sketches are."""
    parts = guarantee.parts if isinstance(guarantee, AllOf) else (guarantee,)
    letters = {"delta": DeltaAnonymity, "k": KVariance}
    return [letter for letter, kind in letters.items() if any(isinstance(part, kind) for part in parts)]


class SketchKind(Kind):
    """Sketches of unequal lengths, made of texts or baskets."""

    name = "sketches"
    formats = ("arrow",)
    title = "Sketches"
    public_half = PublicSketchFigures
    private_half = PrivateSketchFigures
    not_for_rows = "sketches: new records need no recipe, but the same key"
    records_name = "records"
    basis = "from the lengths, and what is kept of the records"
    by_evidence = True
    section = "sketches"
    takes = "records"
    noun = "sketches"
    reading: ClassVar[Mapping[str, Constraint]] = {
        **TableKind.reading,
        **BasketKind.reading,
        "column": TEXT,
        "weights": OneOf(("tf-idf", "counts")),
        "min_texts": IntIn(1),
    }

    def parse(self, section: Mapping[str, Any], folder: Path) -> SketchSection:
        """Read where the key is, and the longest sketch."""
        refuse_unknown("[sketches]", section, ("key", "components"))
        if "key" not in section:
            raise InputError('[sketches] needs a key: key = "env:NAME" or "file:PATH" says where it is.')
        key = key_from(section["key"], column="sketches", folder=folder)
        return SketchSection(key, section.get("components", 128))

    def read(self, job: Input) -> Any:
        """Read the records; those that hold nothing are left out."""
        return read_records(Path(job.data), **job.reading)[0] if job.is_file else job.data

    def arguments(self, job: Input, method: Method) -> dict[str, Any]:
        """Return the family that makes the sketches."""
        del method
        from discreet.publish.sketches.family import SketchFamily

        if job.section is None:
            raise ParameterError("A job for sketches needs a key.")
        return {"family": SketchFamily(job.section.key, job.section.components)}

    def subject(self, release: Release) -> Any:
        """Return the release: only its evidence can judge it."""
        return release

    def write(self, release: Release, folder: Path, format: str) -> list[Path]:  # noqa: A002
        """Write the sketches."""
        del format
        return [write_sketches(release.data, folder / _NAME)]

    def read_back(self, release: Release, folder: Path, format: str) -> Any:  # noqa: A002
        """Return the release itself, where the written sketches are its own: only its evidence can judge them."""
        del format
        return release if read_sketches(folder / _NAME).equals(release.data) else None

    def read_released(self, written: Written, *, texts: bool) -> Any:
        """Return the sketches of a folder."""
        del texts
        return read_sketches(written.file("sketches"))

    def judge_written(
        self, written: Written, data: Any, guarantee: Guarantee | None, *, is_named: bool
    ) -> Judgment:
        """Return what release.json states: sketches cannot show it."""
        from discreet.kinds.judging import Judgment

        del guarantee, is_named
        return Judgment({"records": len(data)}, written.claims(), why=KEPT_EVIDENCE)

    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        """Return the cautions about the key, short sketches and suppressed records."""
        del private
        evidence, lengths = release.evidence, release.data.lengths
        if evidence.details.get(SHORT_KEY):
            yield Caution(
                "short-key",
                "The key of the sketches has fewer than 16 bytes. Whoever guesses it sees by the release that the "
                "guess is right, and can estimate every record. Take a key from secrets.token_bytes(32).",
                public=False,
            )
        median = float(np.median(lengths)) if lengths.size else 0.0
        if lengths.size and median < SHORT:
            yield Caution(
                "short-sketches",
                f"Half of the sketches have {median:g} components or fewer: estimated squared distances are off by "
                f"about {public.distance_error.relative:.0%}, so little can be mined. A smaller "
                f"{' or '.join(_letters(release.guarantee))} makes sketches longer.",
            )
        if evidence.suppressed > MANY_SUPPRESSED * evidence.n_rows:
            yield Caution(
                "suppressed-records",
                f"{evidence.suppressed:,} of {evidence.n_rows:,} records "
                f"({evidence.suppressed / evidence.n_rows:.1%}) are suppressed, so what is left is no fair sample. "
                f"{_why_suppressed(release.guarantee)}",
            )

    def blocks(self, release: Release, *, internal: bool) -> Sequence[Block | None]:
        """Return the sections of the report."""
        from discreet.kinds.sections import provenance, sketches
        from discreet.kinds.sections.risk import guarantee

        checked = f"{len(release.data):,} sketches were checked."
        return [
            guarantee(release.guarantee, release.verdict, checked=checked),
            sketches.sketch_summary(release.figures.public),
            sketches.lengths(release.data),
            *([sketches.details(release)] if internal else []),
            provenance.method(release, internal=internal),
        ]

    def terms(self, release: Release) -> Mapping[str, str]:
        """Return the terms of reports on sketches."""
        del release
        return {
            "Sketch": "a few random sums of a record's values, from which distances can be estimated",
            "Component": "one of the sums; a longer sketch reveals more about its record",
        }

    def outcome(self, release: Release) -> dict[str, Any]:
        """Return the records, the lengths, how far off estimates are, and what the method reports."""
        figures = release.figures
        proposal = figures.private.proposal
        return {
            "records": {**figures.public.counts.to_dict(), "empty": 0},
            "lengths": figures.public.lengths,
            "distance_error": asdict(figures.public.distance_error),
            "details": figures.private.details,
            "family": release.data.family,
            "proposal": None if proposal is None else asdict(proposal),
        }

    def lines(self, release: Release) -> list[Line]:
        """Return the records, the lengths, how far off estimates are, and what might be better."""
        public, private = release.figures.public, release.figures.private
        counts, lengths, error = public.counts, public.lengths, public.distance_error
        off = f"squared distances are off by about {error.relative:.0%}"
        proposal = private.proposal
        return [
            ("", self.basis),
            ("records", f"{counts.n_in:,}, {counts.suppressed:,} suppressed, {counts.n_out:,} published"),
            (
                "lengths",
                f"{lengths['least']:.0f} to {lengths['most']:.0f} components, the median {lengths['median']:g}",
            ),
            ("error", f"{off}; half of the pairs share {error.shared:,} components or more"),
            *_neighbor_lines(private.details),
            *([] if proposal is None else [("try", _suggestion(proposal))]),
            ("key", "keep it secret: whoever has it can estimate what the records hold"),
        ]


def read_records(path: Path, **options: Any) -> tuple[Any, int]:
    """Read records to be sketched, and count the empty ones that were left out.

    A folder holds texts, a ``column`` of a table does, and any other file holds baskets.
    """
    from discreet.core.records.sparse_rows import SparseRows
    from discreet.engines.baskets.files import read_baskets
    from discreet.engines.files import read
    from discreet.engines.texts import text_rows

    column = options.pop("column", None)
    words = {name: options.pop(name) for name in ("weights", "min_texts") if name in options}
    if path.is_dir():
        texts = text_rows(path, **words, **options)
    elif column is not None:
        options["text"] = [*options.get("text", ()), column]
        texts = text_rows(read(path, **options), column=column, **words)
    else:
        baskets = read_baskets(path, **options, **words)
        filled = np.flatnonzero(baskets.lengths)
        if not filled.size:
            raise InputError(f"{path} holds no items, so there is nothing to sketch.")
        return baskets.take(filled), len(baskets) - filled.size
    return SparseRows.of(texts.filled().rows, names=texts.names), int(texts.empty.sum())


def _suggestion(proposal: DeltaProposal) -> str:
    """Return what another delta would suppress, and what none can change."""
    words = f"--delta {proposal.delta:g} (median {proposal.median_length:g} components, "
    words += f"{proposal.suppressed:,} suppressed)"
    if proposal.hopeless:
        words += (
            f"; {proposal.hopeless:,} records of a single item are suppressed at any delta, --k-variance 10 "
        )
        words += "keeps them"
    return words


def _neighbor_lines(details: Mapping[str, Any]) -> list[Line]:
    """Return how neighbors were searched, where it matters."""
    if "neighbors" not in details:
        return []
    if details["neighbors"] == "exact":
        return [("near", "exact nearest neighbors")]
    return [("near", f"neighbors inside {details['partitions']} partitions, a stand-in for the true ones")]
