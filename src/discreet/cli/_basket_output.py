"""What is printed about baskets: calm lines for people, one JSON object for machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.cli._output import number, plain_judgment, plain_release, print_json, print_lines, verdict_lines
from discreet.core.percentages import percent

if TYPE_CHECKING:
    from discreet.core.release import Release
    from discreet.core.verdict import Verdict
    from discreet.job.basket_checking import BasketJudgment
    from discreet.measure import Reidentification, SensitiveTie

_MOST_KNOWN = 2


def outcome(command: str, release: Release, out: Path) -> dict[str, Any]:
    """Return what a run on baskets came to, as plain data."""
    from discreet.core.baskets.grouped import GroupedBaskets

    data = release.data
    public, private = release.figures.public, release.figures.private
    sizes = data.sizes if isinstance(data, GroupedBaskets) else None
    return plain_release(command, release, out) | {
        "baskets": public.counts.n_out,
        "suppressed": public.counts.suppressed,
        "groups": None
        if sizes is None
        else {"number": int(sizes.size), "smallest": int(sizes.min()), "largest": int(sizes.max())},
        "loss": private.loss,
        "items": {"before": release.original.n_items, "after": public.baskets.n_items},
        "risk": private.risk.up_to(_MOST_KNOWN).to_dict(),
    }


def print_outcome(plain: Mapping[str, Any], release: Release, *, as_json: bool) -> None:
    """Describe what a run on baskets came to, where it is, and what to do next."""
    if as_json:
        print_json(plain)
        return
    groups, tie, left_out = plain["groups"], plain["risk"]["tie"], plain["suppressed"]
    lines = [
        *_verdict_lines(release.verdict),
        ("", "recomputed from the released data alone"),
        (
            "baskets",
            f"{plain['baskets']:,}, {f'{left_out:,} without ordinary items' if left_out else 'none'} left out",
        ),
    ]
    if groups is not None:
        sizes = f"of {groups['smallest']:,} to {groups['largest']:,} baskets"
        lines += [
            ("groups", f"{groups['number']:,}, {sizes}"),
            ("items", "ordinary ones are published exactly"),
        ]
    else:
        counts = plain["items"]
        lines += [
            ("items", f"{counts['before']:,} → {counts['after']:,}"),
            ("loss", f"{percent(plain['loss'])} of the items' detail (normalized certainty penalty)"),
        ]
    for before, after in zip(plain["risk"]["before"], plain["risk"]["after"], strict=False):
        known = "1 known item" if before["r"] == 1 else f"{before['r']} known items"
        chance = f"{percent(before['probability'])} → {percent(after['probability'])}"
        lines.append(
            ("risk" if before["r"] == 1 else "", f"{chance}, the chance to find a basket by {known}")
        )
    if tie is not None:
        certain = f"{percent(tie['before'])} → {percent(tie['highest'])} at the most"
        lines.append(
            (
                "",
                f"{certain}, the probability by groups and counts that ties a found basket to a sensitive item",
            )
        )
    lines.append(("written", f"{plain['folder']}: {', '.join(plain['files'])}"))
    if plain["report"] is not None:
        lines += [("report", str(plain["report"])), ("next", "open the report, before you hand the data on")]
    print_lines(lines)


def print_judgment(judgment: BasketJudgment, *, as_json: bool) -> None:
    """Describe whether the promise is kept, and what the baskets reach."""
    verdict = judgment.verdict
    if as_json:
        print_json(plain_judgment(judgment, baskets=judgment.n_baskets, groups=judgment.n_groups))
        return
    print_lines([*(() if verdict is None else _verdict_lines(verdict)), *measure_lines(judgment)])


def measure_lines(judgment: BasketJudgment) -> list[tuple[str, str]]:
    """Describe what baskets reach in every measure."""
    where = "" if judgment.n_groups is None else f" in {judgment.n_groups:,} groups"
    return [
        ("baskets", f"{judgment.n_baskets:,}{where}"),
        ("reaches", "the promises these baskets keep, asked for or not:"),
        *(("", f"{measure.name:<30} up to {number(measure.worst)}") for measure in judgment.measures),
    ]


def print_risk(
    found: Sequence[Reidentification], n_baskets: int, tie: SensitiveTie | None, *, as_json: bool
) -> None:
    """Describe how likely baskets are to be found again."""
    if as_json:
        plain = [one.to_dict() for one in found]
        tied = None if tie is None else {"highest": tie.highest, "mean": tie.mean}
        print_json({"command": "risk", "ok": True, "baskets": n_baskets, "known": plain, "tie": tied})
        return
    lines = [("baskets", f"{n_baskets:,}")]
    for one in found:
        low, high = one.probability_interval
        how = "exact" if one.exact else f"{percent(low)} to {percent(high)}, {one.n_samples:,} drawn"
        lines.append(
            (
                f"{one.r} known",
                f"found with a chance of {percent(one.probability)} ({how}); {percent(one.unique)} are the only ones",
            )
        )
    if tie is not None:
        most, mean = percent(tie.highest), percent(tie.mean)
        lines.append(("tied", f"to a sensitive item by groups and counts: {most} at most, {mean} on average"))
    print_lines(lines)


def _verdict_lines(verdict: Verdict) -> list[tuple[str, str]]:
    what = "groups" if "degree" in verdict.measure else "combinations"
    return verdict_lines(verdict, groups=what, rows="baskets")
