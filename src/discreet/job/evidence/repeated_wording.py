"""What several releases show together, as lines for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from discreet.core.verdict import BROKEN
from discreet.job.evidence.repeated_checking import CLAIMED, UNSURE, RepeatedJudgment
from discreet.kinds.kind import Line
from discreet.measure.tables.composition import Difference


def repeated_lines(judgment: RepeatedJudgment) -> list[Line]:
    """Return what several releases show together, as lines for the terminal."""
    found = judgment.composition
    lines = [
        (each.word, f"release {number} by itself: {each.verdict.guarantee}")
        for number, each in enumerate(judgment.judgments, 1)
    ]
    lines.append(
        (
            "together",
            f"{found.n_combinations:,} combinations of classes can hold somebody who is in all releases",
        )
    )
    choices = [each for each in (found, *found.parts) if each.n_combinations]
    if found.parts:
        numbers = sum(each.n_combinations for each in found.parts)
        lines.append(("", f"{numbers:,} of fewer releases can hold somebody who is in all of these"))
    if not choices:
        lines.append(("", "so nobody is in two, if neither quasi-identifiers nor sensitive values change"))
    for each in judgment.kept if choices else ():
        unknown = "intersections do not say" if each.word == UNSURE else "nobody of it is in another"
        left = unknown if each.left is None else f"{each.left:,} left in the worst of them"
        among = _named(each.among, len(judgment.judgments))
        lines.append(
            (each.word, f"{each.guarantee} of release {each.release}, for people in {among}: {left}")
        )
    lines += _chain_lines(judgment)
    for name in dict.fromkeys(chain.from_iterable(each.disclosed for each in choices)):
        worst = max(choices, key=lambda each: each.disclosed.get(name, 0))
        n_disclosed = worst.disclosed.get(name, 0)
        if n_disclosed:
            among, n_rows = _named(worst.releases, len(judgment.judgments)), worst.rows_at_risk[name]
            text = f"'{name}' is certain in {n_disclosed:,} of them, for {among}"
            text += f": of up to {n_rows:,} rows of release {worst.releases[0]}"
            lines.append(("disclosed", text))
    for each_difference in found.differences:
        lines += _difference_lines(each_difference, exposes=each_difference in judgment.exposed)
    if judgment.tied:
        lines.append(
            (BROKEN, f"{judgment.tied:,} pseudonyms are in several releases, and tie their rows for certain")
        )
    lines += [
        ("assumed", f"others know '{name}', or must not learn it, in all releases, as one of them says")
        for name in judgment.retaken
    ]
    return [
        *lines,
        (
            "assumed",
            "quasi-identifiers and sensitive values do not change: where an age grows, or somebody moves, releases may",
        ),
        ("", "show more than this; other columns that stay the same may tie rows as well"),
    ]


def _named(releases: tuple[int, ...], n: int) -> str:
    """Return the words for a choice of releases."""
    if len(releases) in (0, n):
        return "all"
    return f"releases {', '.join(map(str, releases[:-1]))} and {releases[-1]}"


def _chain_lines(judgment: RepeatedJudgment) -> Iterator[Line]:
    """Return what a chain of m-invariant releases rests on, and where it is none."""
    if any(each.word == CLAIMED for each in judgment.kept):
        yield (
            "",
            "claimed: that a person's groups have the same values is what the releases say, by naming each other",
        )
    for number in judgment.forks:
        yield (
            BROKEN,
            f"fork: release {number} follows the same release as another; whoever is in both has no m-invariance",
        )
    for number in judgment.gaps:
        yield (
            UNSURE,
            f"gap: release {number} does not follow the m-invariant one before it; name all, in their order",
        )


def _difference_lines(difference: Difference, *, exposes: bool) -> Iterator[Line]:
    """Return what the counts of a release add to those of an earlier one."""
    earlier, later = difference.releases
    if difference.fewest is None:
        yield (
            "counts",
            f"in every region, release {later} has both more and fewer than release {earlier}, or the same",
        )
        return
    yield (
        "counts",
        f"from release {earlier} to {later}, {difference.grown:,} of {difference.regions:,} regions only grew and "
        f"{difference.shrunk:,} only shrank, one by {difference.fewest:,} "
        + ("row" if difference.fewest == 1 else "rows"),
    )
    if difference.disclosed:
        yield (
            BROKEN if exposes else "",
            f"in {difference.disclosed:,} of these, rows that came or went have one value, if people only came or went",
        )
