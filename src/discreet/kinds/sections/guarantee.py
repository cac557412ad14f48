"""The guarantee: the verdict in a word, by what measure, and the cautions that belong to it."""

from __future__ import annotations

from discreet.core import verdict as judged
from discreet.core.guarantee import Guarantee
from discreet.core.release import Release
from discreet.kinds.blocks import Bullets, Section, VerdictBlock
from discreet.kinds.formatting import counted, number, required

_BASES = {
    judged.Basis.VERIFIED: "Recomputed from the released data alone.",
    judged.Basis.CONSTRUCTION: "By construction: from evidence recorded while the release was made, which is not "
    "published. Whoever has the released files alone cannot recompute it: to them it is a claim.",
    judged.Basis.ASSUMED: "Assumed: it rests on what nobody can check, such as trust in the parties, or what an "
    "attacker leaves undone.",
    judged.Basis.CLAIMED: "The owner's word: it was recomputed by what is not published.",
}


def guarantee(
    stated: Guarantee, verdict: judged.Verdict, *, checked: str | None = None, described: str | None = None
) -> VerdictBlock:
    """Return the guarantee and its verdict.

    ``checked`` says what was checked, where it is not rows in classes, ``described`` what is promised, where it is not
    all that the guarantee says of itself.
    """
    parts = [(_look(part), _measures(part)) for part in verdict.parts or (verdict,)]
    checked = checked or (
        f"{counted(verdict.n_rows, 'row')} in {counted(verdict.n_groups, 'class', 'classes')} were checked."
    )
    return VerdictBlock(
        verdict.word,
        _look(verdict),
        described or stated.describe(),
        parts,
        f"{_BASES[verdict.basis]} {checked}",
    )


def verdict_alone(verdict: judged.Verdict) -> VerdictBlock:
    """Return a verdict by itself, where nothing more is known of the guarantee than its name."""
    parts = [(_look(part), _measures(part)) for part in verdict.parts or (verdict,)]
    counts = f"{counted(verdict.n_rows, 'row')} in {counted(verdict.n_groups, 'class', 'classes')}"
    return VerdictBlock(
        verdict.word,
        _look(verdict),
        verdict.guarantee,
        parts,
        f"{_BASES[verdict.basis]} {counts} were checked.",
    )


def _look(verdict: judged.Verdict) -> str:
    return verdict.word.replace(" ", "-")


def headline(verdict: judged.Verdict) -> str:
    """Return what became of the guarantee, to stand after a name in the title of a page."""
    return (
        f"the guarantee {'holds' if verdict.word == judged.Basis.CONSTRUCTION.value else 'is'} {verdict.word}"
    )


def _measures(part: judged.Verdict) -> list[tuple[str, str, str]]:
    if part.ok and part.basis is not judged.Basis.VERIFIED:
        return [("Guarantee", part.guarantee, "code"), ("Verdict", part.word, "mark")]
    fail = f": {counted(part.failing_groups, 'class', 'classes')}, {counted(part.failing_rows, 'row')} fail"
    return [
        ("Guarantee", part.guarantee, "code"),
        (f"Worst {part.measure}", number(part.worst), "figure"),
        ("Required", required(part.relation, part.bound), "figure"),
        ("Verdict", part.word if part.ok else part.word + fail, "mark"),
    ]


def cautions(release: Release, *, internal: bool) -> Section | None:
    """Return the cautions; those that compare with the original only in the internal report."""
    texts = [caution.text for caution in release.cautions if internal or caution.public]
    return Section("cautions", "Before you hand it on", "", [Bullets(texts)]) if texts else None
