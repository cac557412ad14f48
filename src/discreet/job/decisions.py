"""Decisions: the few questions about a proposal that a person must answer, and where another command fits better."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from discreet.core.errors import InputError
from discreet.core.hierarchy.knowledge import tokens
from discreet.core.schema import Role
from discreet.engines.baskets.files import ENDINGS, format_from_content
from discreet.engines.formats import ending, format_of
from discreet.job.roles import Proposal

K = 5
MOST_GUARDED = 3
_BEARABLE = 0.8
_FEW_SHOWN = 6
_FEWEST_NUMBERS = 4
_MOSTLY = 0.75
_LONG_COLUMNS = 4
_WIDE = 15


@dataclass(frozen=True)
class Decision:
    """A question for a person, and what the proposal answers."""

    question: str
    proposed: str

    def __str__(self) -> str:
        return f"{self.question} Proposed: {self.proposed}."


def decisions(proposals: Sequence[Proposal]) -> list[Decision]:
    """Return the decisions that matter, five at most; they name columns, never values."""
    open_questions = [
        _person(proposals),
        _sensitive(proposals),
        _k(proposals),
        _cautious(proposals),
        _dropped(proposals),
    ]
    return [proposal for proposal in open_questions if proposal is not None]


def guarded(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return the sensitive columns that get a guarantee of diversity: the few with the most values."""
    varied = [
        proposal
        for proposal in proposals
        if proposal.role is Role.SENSITIVE and proposal.facts.n_distinct > 1 and not proposal.block
    ]
    rich = [proposal for proposal in varied if proposal.facts.n_distinct > 2] or varied
    chosen = sorted(rich, key=lambda proposal: -proposal.facts.n_distinct)[:MOST_GUARDED]
    return [proposal for proposal in rich if proposal in chosen]


def diversity(proposal: Proposal) -> tuple[str, float]:
    """Return the guarantee of diversity for a sensitive column and its l: the strongest that most classes can bear.

    The entropy of a class cannot exceed that of a varied column by far, so that l stays below four fifths of the
    column's own effective number of values. At l = 1.4 no value makes up nine tenths of a class.
    """
    return diversity_of(proposal.effective)


def diversity_of(effective: float | None) -> tuple[str, float]:
    """Return the guarantee of diversity for a column of an effective number of values.

    >>> diversity_of(10.0), diversity_of(1.1)
    (('entropy-l-diversity', 3), ('distinct-l-diversity', 2))
    """
    effective = effective or 1.0
    for l in (3, 2, 1.4):  # noqa: E741  # the published letter
        if l <= _BEARABLE * effective:
            return "entropy-l-diversity", l
    return "distinct-l-diversity", 2


def basket_form(data: Path) -> str | None:
    """Return the form of a file of baskets, None for what is not clearly one."""
    format_ = format_of(data)
    if format_ is not None and format_.reader != "text" and ending(data) not in ENDINGS:
        return None
    try:
        form = format_from_content(data, long=False, delimiter=None)
    except (InputError, OSError):
        return None
    if form == "onehot":
        return form if _width(data) >= _WIDE else None
    if form == "fimi" and ending(data) not in ENDINGS:
        return form if _ragged(data) else None
    return form


def basket_command(data: Path) -> str:
    """Return the command that publishes a file of baskets."""
    return f"discreet anonymize {shlex.quote(str(data))} --sensitive-items ITEM,ITEM -p 10 --out release, or --km 5,2"


def notes(data: Path, proposals: Sequence[Proposal]) -> list[str]:
    """Return what another command would do better with this table."""
    return [
        proposal for proposal in (_numeric(data, proposals), _long(data, proposals)) if proposal is not None
    ]


def _person(proposals: Sequence[Proposal]) -> Decision | None:
    persons = next((proposal for proposal in proposals if proposal.person), None)
    if persons is None:
        return None
    question = f"Does '{persons.name}' say whose row it is, so that people are counted and not rows?"
    return Decision(question, 'role = "person"; it is not published')


def _sensitive(proposals: Sequence[Proposal]) -> Decision | None:
    chosen = [proposal.name for proposal in guarded(proposals)]
    question = "Which columns must not be learned about a person?"
    others = sum(proposal.role is Role.SENSITIVE for proposal in proposals) - len(chosen)
    more = (
        f". {others} more are published exactly without a guarantee of their own: drop what nobody needs, since "
        "together they single people out"
        if others
        else ""
    )
    return Decision(
        question,
        f"l-diversity for {'each of ' if len(chosen) > 1 else ''}{_listed(chosen)}{more}"
        if chosen
        else "none",
    )


def _k(proposals: Sequence[Proposal]) -> Decision:
    k = min(K, proposals[0].facts.n_rows) if proposals else K
    return Decision("How many must share their quasi-identifiers (k)?", f"k = {k}")


def _cautious(proposals: Sequence[Proposal]) -> Decision | None:
    names = [proposal.name for proposal in proposals if proposal.role is Role.QUASI and proposal.cautious]
    if not names:
        return None
    question = f"Can others know {_listed(names)}?"
    return Decision(question, "quasi-identifiers, to be safe; each costs detail, so drop what nobody needs")


def _dropped(proposals: Sequence[Proposal]) -> Decision | None:
    names = [
        proposal.name
        for proposal in proposals
        if proposal.role in (Role.IDENTIFIER, Role.DROP) and not proposal.person
    ]
    return Decision(f"May {_listed(names)} be left out?", "dropped") if names else None


def _numeric(data: Path, proposals: Sequence[Proposal]) -> str | None:
    """Point to condensation where nearly all columns are quantities."""
    named = [proposal for proposal in proposals if proposal.role is Role.IDENTIFIER and not proposal.surplus]
    numeric = [proposal for proposal in proposals if proposal not in named and proposal.facts.n_distinct > 1]
    numbers = [
        proposal for proposal in numeric if proposal.facts.is_number and proposal.facts.n_distinct > 10
    ]
    if len(numbers) < _FEWEST_NUMBERS or len(numbers) < _MOSTLY * len(numeric):
        return None
    labels = [
        proposal.name for proposal in numeric if proposal not in numbers and proposal.facts.n_distinct <= 10
    ]
    dropped = ",".join(proposal.name for proposal in named)
    options = [f"--identifier {shlex.quote(dropped)}"] if dropped else []
    options += [f"--label {shlex.quote(labels[-1])}"] if labels else []
    command = " ".join(
        ["discreet condense", shlex.quote(str(data)), "-k 10", *options, "--rest quasi", "--out release"]
    )
    return f"nearly all columns are quantities; pseudo-records keep their shape better: {command}"


def _long(data: Path, proposals: Sequence[Proposal]) -> str | None:
    """Point to baskets where a narrow table lists the items of people."""
    person = next((proposal for proposal in proposals if proposal.person), None)
    if person is None or len(proposals) > _LONG_COLUMNS or 3 * person.facts.n_distinct > person.facts.n_known:
        return None
    items = [
        proposal
        for proposal in proposals
        if proposal is not person
        and (
            proposal.facts.is_text or tokens(proposal.name)[-1:] in (["id"], ["item"], ["product"], ["code"])
        )
        and 20 <= proposal.facts.n_distinct < 0.5 * proposal.facts.n_known
    ]
    if not items:
        return None
    columns = f"--basket {shlex.quote(person.name)} --item {shlex.quote(items[0].name)}"
    return (
        f"it looks like a list of each person's items, that is, baskets: discreet anonymize "
        f"{shlex.quote(str(data))} {columns} --sensitive-items ITEM,ITEM -p 10 --out release"
    )


def _width(data: Path) -> int:
    from discreet.engines.formats import open_unpacked, separator

    with open_unpacked(data) as stream:
        head: bytes = stream.read(1 << 16)
    return head.split(b"\n", 1)[0].count(separator(data).encode()) + 1


def _ragged(data: Path) -> bool:
    from discreet.engines.formats import open_unpacked

    with open_unpacked(data) as stream:
        head: bytes = stream.read(1 << 16)
    lines = head.rsplit(b"\n", 1)[0].split(b"\n")
    return len({len(line.split()) for line in lines if line.strip()}) > 1


def _listed(names: Sequence[str]) -> str:
    quoted = ", ".join(f"'{name}'" for name in names[:_FEW_SHOWN])
    return quoted if len(names) <= _FEW_SHOWN else f"{quoted} and {len(names) - _FEW_SHOWN} more"
