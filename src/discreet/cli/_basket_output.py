"""What is printed about baskets: calm lines for people, one JSON object for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from discreet.cli._output import number_text, plain_judgment, print_json, print_lines, verdict_lines
from discreet.core.percentages import percent

if TYPE_CHECKING:
    from discreet.kinds.judging import Judgment
    from discreet.measure import Reidentification, SensitiveTie


def print_judgment(judgment: Judgment, *, as_json: bool) -> None:
    """Print whether the guarantee is kept, and what the baskets reach."""
    if as_json:
        print_json({"groups": None, **plain_judgment(judgment)})
        return
    from discreet.kinds.kind import kind_named

    counts, verdict = judgment.counts, judgment.verdict
    where = f" in {counts['groups']:,} groups" if "groups" in counts else ""
    what = "" if verdict is None else kind_named("baskets").groups_of(verdict)
    print_lines(
        [
            *(() if verdict is None else verdict_lines(verdict, groups=what, rows="baskets")),
            ("baskets", f"{counts['baskets']:,}{where}"),
            *(
                ("" if number else "reaches", f"{measure.name:<30} up to {number_text(measure.worst)}")
                for number, measure in enumerate(judgment.measures)
            ),
        ]
    )


def print_risk(
    risks: Sequence[Reidentification], n_baskets: int, tie: SensitiveTie | None, *, as_json: bool
) -> None:
    """Print how likely baskets are to be found again."""
    if as_json:
        content = [risk.to_dict() for risk in risks]
        tied = None if tie is None else {"highest": tie.highest, "mean": tie.mean}
        print_json({"command": "risk", "ok": True, "baskets": n_baskets, "known": content, "tie": tied})
        return
    lines = [("baskets", f"{n_baskets:,}")]
    for risk in risks:
        low, high = risk.probability_interval
        how = "exact" if risk.exact else f"{percent(low)} to {percent(high)}, {risk.n_samples:,} drawn"
        lines.append(
            (
                f"{risk.r} known",
                f"found with a chance of {percent(risk.probability)} ({how}); {percent(risk.unique)} are the only ones",
            )
        )
    if tie is not None:
        most, mean = percent(tie.highest), percent(tie.mean)
        lines.append(("tied", f"to a sensitive item by groups and counts: {most} at most, {mean} on average"))
    print_lines(lines)
