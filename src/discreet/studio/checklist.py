"""The checklist of a hand-over: what the tool can answer, answered, and what a person must answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.verdict import Basis
from discreet.kinds.wording import counted

_VERBS = {Basis.CONSTRUCTION.value: "holds"}


@dataclass(frozen=True)
class ChecklistPoint:
    """One point: what is asked, the tool's answer, and whether a person must still answer it."""

    title: str
    text: str
    state: str
    entries: Sequence[str] = ()


def checklist(result: Mapping[str, Any], document: Mapping[str, Any]) -> list[ChecklistPoint]:
    """Return the points of "Before you hand it over", with what is known of a release filled in."""
    cautions = [caution["text"] for caution in result["cautions"]]
    public = [caution for caution in result["cautions"] if caution["public"]]
    return [
        ChecklistPoint(
            "The guarantee",
            f"{result['promise']} It {_VERBS.get(result['verdict'], 'is')} {result['verdict']}.",
            "yes" if result["ok"] else "no",
        ),
        ChecklistPoint("May it be handed on?", result["handing_on"][1], _state(result["handing_on"][0])),
        *_of_columns(document, result["cells"]),
        ChecklistPoint(
            "Cautions",
            f"{counted(len(cautions), 'caution')}, {len(public)} of them in the public report as well. Is each "
            "acceptable?"
            if cautions
            else "There is none.",
            "ask" if cautions else "yes",
            cautions,
        ),
        ChecklistPoint(
            "What was left out",
            f"{result['suppressed']:,} of {result['n_rows']:,}. Would the receiver miss them?"
            if result["suppressed"]
            else f"None of {result['n_rows']:,}.",
            "ask" if result["suppressed"] else "yes",
        ),
        ChecklistPoint(
            "The order",
            "A seed was set: keep it secret, since it undoes the order."
            if result["seeded"]
            else "Drawn by the operating system; it shows nothing.",
            "ask" if result["seeded"] else "yes",
        ),
        ChecklistPoint(
            "Two folders",
            "The zip below holds the public folder alone. The private one compares with the original: it stays here.",
            "yes",
        ),
        ChecklistPoint(
            "What an attacker knows",
            "Was there an earlier release about the same people, or is there a register that says more about them?",
            "ask",
        ),
        ChecklistPoint(
            "The receiver",
            "Write down who gets it, and what they may do with it. It cannot be called back.",
            "ask",
        ),
    ]


def _of_columns(document: Mapping[str, Any], cells: Mapping[str, Sequence[str]]) -> list[ChecklistPoint]:
    """Return the points about roles, where the data has columns with roles."""
    columns = document.get("columns")
    if columns is None:
        return []
    person = [name for name, entry in columns.items() if entry["role"] == "person"]
    became = [f"{text[:1].upper()}{text[1:]}: {', '.join(names)}" for text, names in cells.items()]
    return [
        ChecklistPoint(
            "Roles",
            "Could others know a column that is not marked as a quasi-identifier?",
            "ask",
            became,
        ),
        ChecklistPoint(
            "People or rows",
            f"People are counted by {person[0]}."
            if person
            else "Rows are counted. Has everyone a single row?",
            "yes" if person else "ask",
        ),
    ]


def _state(word: str) -> str:
    return {"yes": "yes", "no": "no"}.get(word, "ask")
