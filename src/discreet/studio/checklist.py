"""The checklist of a hand-over: what the tool can answer, answered, and what a person must answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.kinds.wording import counted


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
            f"{result['promise']} It is {result['verdict']}.",
            "yes" if result["ok"] else "no",
        ),
        ChecklistPoint("May it be handed on?", result["handing_on"][1], _state(result["handing_on"][0])),
        *_of_columns(document),
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
            "Rows that were left out",
            f"{result['suppressed']:,} of {result['n_rows']:,}. Would the receiver miss them?"
            if result["suppressed"]
            else f"None of {result['n_rows']:,}.",
            "ask" if result["suppressed"] else "yes",
        ),
        ChecklistPoint(
            "The order of the rows",
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
            "Was there an earlier release about the same people, or is there a register with more of these columns?",
            "ask",
        ),
        ChecklistPoint(
            "The receiver",
            "Write down who gets it, and what they may do with it. It cannot be called back.",
            "ask",
        ),
    ]


def _of_columns(document: Mapping[str, Any]) -> list[ChecklistPoint]:
    """Return the points about roles, where the data has columns with roles."""
    columns = document.get("columns")
    if columns is None:
        return []
    names = {
        role: [name for name, entry in columns.items() if entry["role"] == role]
        for role in ("identifier", "person", "other", "sensitive", "quasi")
    }
    exact = ", ".join([*names["sensitive"], *names["other"]]) or "none"
    person = names["person"]
    return [
        ChecklistPoint(
            "Roles",
            f"Made coarser: {', '.join(names['quasi'])}. Published exactly: {exact}. Left out: "
            f"{', '.join(names['identifier']) or 'none'}. Could others know a column that is published exactly?",
            "ask",
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
