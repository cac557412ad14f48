"""The evidence paper: what is known of how identifiable a written release is, for one recipient and one environment."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from discreet import __version__
from discreet.core.boundary import public, reads
from discreet.core.errors import InputError
from discreet.core.figures import Caution
from discreet.core.params import FloatIn, InstanceOf, OneOf, require
from discreet.core.release import Release
from discreet.engines.files import read
from discreet.engines.folders import RECORD, FolderKind, described_file, require_apart
from discreet.job.descriptions import read_record
from discreet.job.evidence.attacking import ATTACKED, attack_release
from discreet.job.evidence.safe_harbor import release_in
from discreet.job.release_checking import ReleaseJudgment, judge_release
from discreet.kinds.wording import plain_json, today
from discreet.measure import Attacks, MembershipAttack
from discreet.measure.hipaa import SafeHarbor, safe_harbor
from discreet.publish.recipes.recipe import private_part

Environment = Literal["public", "controlled"]
QUESTIONS = {
    "purpose": "What is the data handed on for, and on what legal basis?",
    "recipient_means": "What other data, skills and motives may the recipient have that bear on these people?",
    "attempt": "How likely is a deliberate, an inadvertent or an unlawful attempt (a breach) to identify somebody?",
    "threshold": "What risk is acceptable for this purpose, and why?",
    "roles": "Who decided which columns others may know of a person, and which are sensitive?",
    "controls": "Which controls hold at the recipient: agreement, access, training, audit, deletion?",
    "transparency": "How were the people told, and what may they object to?",
    "harm": "Whom would an identification, or a wrong belief about a group, harm, and how?",
    "review": "When is this looked at again, and what would bring that forward (new data, new attacks, an incident)?",
    "incident": "Who is called when somebody is identified, and what is done?",
    "approval": "Who approves the release: name, role, date, signature",
}
"""What only people can decide, by the key of the answer."""
PAPER, PRIVATE_PAPER = "evidence.json", "evidence-internal.json"
PUBLIC_EVIDENCE = FolderKind("evidence", PAPER, beside=("evidence.html", "evidence.pdf"))
PRIVATE_EVIDENCE = FolderKind(
    "private part of evidence",
    PRIVATE_PAPER,
    private=True,
    beside=("evidence-internal.html", "evidence-internal.pdf"),
)


@public
@dataclass(frozen=True, repr=False)
class EvidenceStatement:
    """What is known of how identifiable a release is.

    Attributes
    ----------
    folder
        The folder of the release.
    recipient, environment
        Who receives it, and whether anybody may have it or the recipient alone, bound by controls.
    threshold
        The highest risk that people accept; None where nobody has said.
    judgment
        What the files show of the guarantee and of release.json.
    release
        The release as far as its files hold it; None where they cannot be read.
    harbor
        What HIPAA's Safe Harbor finds in the released data; None where it cannot be read.
    attacks
        What attacks achieve; None where the original was not named, or no attack is known for the kind of data.
    answers
        What people decided, by the keys of `QUESTIONS`.
    """

    folder: Path
    recipient: str
    environment: Environment
    threshold: float | None
    record: Mapping[str, Any]
    judgment: ReleaseJudgment
    release: Release | None
    harbor: SafeHarbor | None
    attacks: Attacks | MembershipAttack | None
    answers: Mapping[str, str]
    owners_cautions: tuple[Caution, ...]
    is_private: bool
    date: dt.date

    @cached_property
    def cautions(self) -> tuple[Caution, ...]:
        """The cautions that release.json states, and beside the original those of the owner."""
        stated = tuple(Caution(entry["code"], entry["text"]) for entry in self.record.get("cautions", ()))
        return self.owners_cautions or stated

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the method that name no value: numbers, words of the method, levels of columns."""
        stated = self.record.get("parameters", {})
        levels = {
            name: f"{', '.join(level)} by value" if isinstance(level, Mapping) else level
            for name, level in (self.record.get("levels") or {}).items()
        }
        simple = {name: value for name, value in stated.items() if isinstance(value, int | float | str)}
        return simple | ({"levels": levels} if levels else {})

    def for_others(self) -> EvidenceStatement:
        """Return the statement without what compares with the original: what may be handed on."""
        from dataclasses import replace

        return replace(self, attacks=None, owners_cautions=(), is_private=False)

    def write(self, out: str | Path, *, overwrite: bool = False, pdf: bool = False) -> list[Path]:
        """Write the paper to hand on and, of a private statement, the private one beside it; return both folders.

        All of the first follows from the released files, from what they state, and from what people said. What
        compares with the original is in ``<out>.private`` alone.
        """
        from discreet.engines.atomic import atomic_folders
        from discreet.report.folder import private_folder

        out = Path(out)
        require_apart(out, self.folder)
        kinds: dict[Any, FolderKind] = {out: PUBLIC_EVIDENCE}
        papers = [(self.for_others(), "evidence")]
        if self.is_private:
            kinds[private_folder(out)] = PRIVATE_EVIDENCE
            papers.append((self, "evidence-internal"))
        with atomic_folders(kinds, overwrite=overwrite) as folders:
            for (paper, name), folder in zip(papers, folders, strict=True):
                _write_paper(paper, folder, name, pdf=pdf)
        return [Path(folder) for folder in kinds]

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain data for JSON, in the order of the pages."""
        record = self.record
        figures = None if self.release is None else self.release.figures.public.to_dict()
        return {
            "discreet": __version__,
            "private": self.is_private,
            "date": self.date.isoformat(),
            "release": {
                "name": record.get("name"),
                "date": record.get("date"),
                "kind": record["kind"],
                "discreet": record.get("discreet"),
                RECORD: described_file(self.folder / RECORD).get("sha256"),
                "files": dict(record["files"]),
            },
            "context": {
                "recipient": self.recipient,
                "environment": self.environment,
                "threshold": self.threshold,
            },
            "data": {
                "columns": [
                    {"name": entry["name"], "role": entry["role"]} for entry in record.get("columns", ())
                ],
                "allowed": list(record.get("allowed", ())),
                "safe_harbor": None if self.harbor is None else self.harbor.to_dict(),
            },
            "identifiability": {
                "verdict": self.judgment.word,
                "why": self.judgment.why or None,
                "guarantee": record["verdict"]["guarantee"],
                "signature": self.judgment.signature,
                "changed_files": list(self.judgment.changed),
                "added_files": list(self.judgment.added),
                "figures": figures,
            },
            "adversarial_tests": None if self.attacks is None else self.attacks.to_dict(),
            "mitigation": {
                "method": record.get("method"),
                "parameters": self.parameters,
                "cautions": [caution.to_dict() for caution in self.cautions],
            },
            "governance": [
                {"key": key, "question": question, "answer": self.answers.get(key)}
                for key, question in QUESTIONS.items()
            ],
        }


@public
@reads("The release")
def evidence_statement(
    folder: str | Path,
    *,
    recipient: str,
    environment: Environment,
    threshold: float | None = None,
    answers: Mapping[str, str] | None = None,
    original: Path | None = None,
    control: Path | None = None,
    population: Path | None = None,
    zip3_populations: Path | None = None,
    n_attacks: int = 1_000,
    seed: int | None = None,
    item_hierarchy: Path | None = None,
    reading: Mapping[str, Any] | None = None,
) -> EvidenceStatement:
    """State how identifiable a written release is, from its files alone, and with the original by attacks as well.

    Parameters
    ----------
    folder
        The folder of the release, of any kind of data.
    recipient
        Who receives it.
    environment : {"public", "controlled"}
        Whether anybody may have it, or the recipient alone, bound by controls.
    threshold
        The highest risk that is accepted, as a share.
    answers
        What people decided, by the keys of the questions that the statement ends with.
    original, control, population
        The files for the attacks, as `discreet attack` takes them; a statement with an original is private.
    zip3_populations
        The file of populations for the rule of 20,000.
    n_attacks, seed
        How many guesses each attack takes, and the seed of what is drawn.
    item_hierarchy, reading
        The tree over the items of baskets that were generalized by one, and how the files of the attacks are read.
    """
    require("evidence", "recipient", recipient, InstanceOf((str,), "a text"))
    require("evidence", "environment", environment, OneOf(("public", "controlled")))
    require("evidence", "threshold", threshold, OneOf((None,)), FloatIn(0, 1, closed="right"))
    path = Path(folder)
    record = read_record(path)
    judgment = judge_release(path)
    unreadable = any(name in record["files"] for name in judgment.changed)
    release = None if unreadable else release_in(path)
    people = None if zip3_populations is None else read(zip3_populations)
    attacked = original is not None and record["kind"] in ATTACKED
    owners = private_part(path / RECORD) if original is not None else None
    return EvidenceStatement(
        path,
        recipient,
        environment,
        threshold,
        record,
        judgment,
        release,
        None if release is None else safe_harbor(release, zip3_populations=people),
        attack_release(
            path,
            original,
            control=control,
            population=population,
            n_attacks=n_attacks,
            seed=seed,
            item_hierarchy=item_hierarchy,
            reading=reading,
        )
        if original is not None and attacked and release is not None
        else None,
        _checked(answers or {}),
        tuple(Caution(**entry) for entry in (owners or {}).get("cautions", ())),
        original is not None,
        today(),
    )


def _checked(answers: Mapping[str, str]) -> dict[str, str]:
    from discreet.kinds.wording import refuse_unknown

    refuse_unknown("The file of answers", answers, QUESTIONS)
    if not all(isinstance(answer, str) for answer in answers.values()):
        raise InputError("Every answer must be a text.")
    return dict(answers)


def _write_paper(statement: EvidenceStatement, folder: Path, name: str, *, pdf: bool) -> None:
    from discreet.job.evidence.paper import render_statement
    from discreet.report.folder import record_text, write_text
    from discreet.report.pdf import print_page

    files: Collection[Path] = [
        write_text(folder / f"{name}.json", record_text(plain_json(statement.to_dict()))),
        write_text(folder / f"{name}.html", render_statement(statement)),
    ]
    if pdf:
        files = [*files, print_page(folder / f"{name}.html", folder / f"{name}.pdf")]
    if statement.is_private:
        for path in files:
            path.chmod(0o600)
