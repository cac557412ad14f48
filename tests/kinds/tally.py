"""A toy kind of data in one file, as CONTRIBUTING says: how many people gave each answer, one answer a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from discreet.core.errors import InputError
from discreet.core.figures import Caution, PrivateFigures, PublicFigures
from discreet.core.guarantee import Guarantee
from discreet.core.params import Constraint
from discreet.core.registry import Method
from discreet.core.release import Evidence, Release
from discreet.core.tables.groups import Groups
from discreet.kinds.blocks import Block, Section, Tiles, share_figure
from discreet.kinds.judging import Judgment
from discreet.kinds.kind import TEXT, Input, Kind, Line
from discreet.kinds.sections import provenance
from discreet.kinds.sections.risk import guarantee as verdict_block
from discreet.kinds.wording import About, refuse_unknown
from discreet.kinds.written import Written


@dataclass(frozen=True)
class Tally:
    """Answers, and how many people gave each."""

    answers: tuple[str, ...]
    counts: tuple[int, ...]

    @property
    def n_people(self) -> int:
        return sum(self.counts)

    def groups(self) -> Groups:
        return Groups(np.array(self.counts, np.int64))


def read_tally(path: Path, separator: str = ":") -> Tally:
    """Read lines such as ``yes: 12``."""
    pairs = [line.rpartition(separator) for line in path.read_text(encoding="utf-8").splitlines()]
    return Tally(tuple(answer.strip() for answer, _, _ in pairs), tuple(int(count) for *_, count in pairs))


class RareAnswersDropped:
    """A publisher that drops answers of fewer people than the guarantee requires."""

    def __init__(self, guarantee: Guarantee) -> None:
        self.guarantee = guarantee

    def release(self, tally: Tally) -> Release:
        pairs = zip(tally.answers, tally.counts, strict=True)
        kept = [(answer, count) for answer, count in pairs if count >= self.guarantee.smallest]
        published = Tally(tuple(answer for answer, _ in kept), tuple(count for _, count in kept))
        recipe = {
            "format": 1,
            "method": type(self).__name__,
            "parameters": {},
            "guarantee": self.guarantee.to_dict(),
            "seed": None,
        }
        evidence = Evidence(tally.n_people, suppressed=tally.n_people - published.n_people)
        return Release(published, self.guarantee, evidence, recipe, "tally", original=tally)


class PublicTallyFigures(PublicFigures):
    @property
    def n_released(self) -> int:
        people: int = self.release.data.n_people
        return people

    def to_dict(self) -> dict[str, Any]:
        return {"people": self.counts.to_dict()}


class PrivateTallyFigures(PrivateFigures):
    @property
    def share_kept(self) -> float:
        return float(self.release.data.n_people / self.release.original.n_people)

    def to_dict(self) -> dict[str, Any]:
        return {"share_kept": self.share_kept}


class TallyKind(Kind):
    """Answers and their counts."""

    name = "tally"
    formats = ("txt",)
    title = "A tally"
    records_name = "people"
    public_half = PublicTallyFigures
    private_half = PrivateTallyFigures
    not_for_rows = "a tally, which is counted anew"
    section = "tally"
    takes = "tally"
    noun = "tallies"
    reading: ClassVar[Mapping[str, Constraint]] = {"separator": TEXT}

    def parse(self, section: Mapping[str, Any], folder: Path) -> Any:
        del folder
        refuse_unknown("[tally]", section, ("question",))
        return dict(section)

    def read(self, job: Input) -> Any:
        return read_tally(Path(job.data), **job.reading)

    def published_texts(self, release: Release) -> Sequence[Any]:
        return (pa.table({"answer": list(release.data.answers)}),)

    def subject(self, release: Release) -> Any:
        return release.data.groups()

    def write(self, release: Release, folder: Path, format: str) -> list[Path]:  # noqa: A002
        path = folder / f"tally.{format}"
        pairs = zip(release.data.answers, release.data.counts, strict=True)
        path.write_text("".join(f"{answer}: {count}\n" for answer, count in pairs), encoding="utf-8")
        return [path]

    def read_back(self, release: Release, folder: Path, format: str) -> Any:  # noqa: A002
        written = read_tally(folder / f"tally.{format}")
        return written.groups() if written == release.data else None

    def read_released(self, written: Written, *, texts: bool) -> Any:
        del texts
        try:
            return read_tally(written.file("tally"))
        except ValueError:
            raise InputError("The tally cannot be read.") from None

    def judge_written(
        self, written: Written, data: Any, guarantee: Guarantee | None, *, is_named: bool
    ) -> Judgment:
        del written, is_named
        verdict = None if guarantee is None else guarantee.check(data.groups())
        return Judgment({"people": data.n_people, "answers": len(data.answers)}, verdict)

    def cautions(self, release: Release, public: Any, private: Any) -> Iterator[Caution]:
        del public, private
        if len(release.data.answers) == 1:
            yield Caution("one-answer", "All published people gave the same answer.")

    def blocks(self, release: Release, *, internal: bool) -> Sequence[Block | None]:
        figures, data = release.figures, release.data
        tiles = [("People", f"{figures.public.n_released:,}", "published")]
        if internal:
            tiles.append(("Kept", f"{figures.private.share_kept:.0%}", "of all people"))
        shares = [count / data.n_people for count in data.counts]
        chart = share_figure("People by answer", ("Answer", "Share of people"), data.answers, shares)
        return [
            verdict_block(release.guarantee, release.verdict),
            Tiles(tiles),
            Section("answers", "Answers", "How many people gave each.", [chart]),
            provenance.method(release, internal=internal),
        ]

    def terms(self, release: Release) -> Mapping[str, str]:
        del release
        return {"Answer": "what people said"}

    def rerun(self, release: Release, about: About, method: Method) -> str | None:
        return f"{method.class_name}({release.guarantee!r}).release(read_tally({about.source!r}))\n"

    def outcome(self, release: Release) -> dict[str, Any]:
        return {"people": release.figures.public.counts.to_dict()}

    def lines(self, release: Release) -> list[Line]:
        return [("", self.basis), ("people", json.dumps(release.figures.public.counts.to_dict()))]
