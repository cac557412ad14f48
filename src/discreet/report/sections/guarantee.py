"""The guarantee: whether it is kept, by what measure, and the cautions that belong to it."""

from __future__ import annotations

from discreet.core import verdict as judged
from discreet.core.guarantee import Guarantee
from discreet.core.release import Release
from discreet.report.blocks import Bullets, Section, Verdict
from discreet.report.formatting import counted, number, required

_BASES = {
    judged.Basis.VERIFIED: "Recomputed from the released data alone.",
    judged.Basis.CONSTRUCTION: "By construction: from evidence recorded while the release was made.",
    judged.Basis.ASSUMED: "Assumed: it rests on trust in the parties.",
}


def guarantee(promise: Guarantee, verdict: judged.Verdict, *, checked: str | None = None) -> Verdict:
    """Return the guarantee and its verdict; ``checked`` says what was checked, where it is not rows in classes."""
    parts = [(part.ok, _measures(part)) for part in verdict.parts or (verdict,)]
    checked = checked or (
        f"{counted(verdict.n_rows, 'row')} in {counted(verdict.n_groups, 'class', 'classes')} were checked."
    )
    return Verdict(verdict.ok, promise.describe(), parts, f"{_BASES[verdict.basis]} {checked}")


def _measures(part: judged.Verdict) -> list[tuple[str, str, str]]:
    if part.ok and part.basis is not judged.Basis.VERIFIED:
        return [("Guarantee", part.guarantee, "code"), ("Verdict", "kept", "")]
    fail = f"{counted(part.failing_groups, 'class', 'classes')}, {counted(part.failing_rows, 'row')} fail"
    return [
        ("Guarantee", part.guarantee, "code"),
        (f"Worst {part.measure}", number(part.worst), "figure"),
        ("Required", required(part.relation, part.bound), "figure"),
        ("Verdict", "kept" if part.ok else f"broken: {fail}", "mark"),
    ]


def cautions(release: Release, *, internal: bool) -> Section | None:
    """Return the cautions; those that compare with the original only in the internal report."""
    found = [caution.text for caution in release.cautions if internal or caution.public]
    return Section("cautions", "Before you hand it on", "", [Bullets(found)]) if found else None
