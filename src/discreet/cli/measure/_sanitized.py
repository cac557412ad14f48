"""`discreet check` on a release in which rules are hidden."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.cli import _rules as rules

_UNKNOWN = (
    "the release does not say which rules are hidden; name some by --rule and --min-support, or put the owner's folder "
    "beside it"
)


def check(data: Path, given: Mapping[str, Any], *, as_json: bool, quiet: bool) -> bool:
    """Judge a release by the rules that are named, or by those in the owner's folder beside it."""
    from discreet.cli._output import plain_judgment, tell_json, tell_lines, verdict_lines
    from discreet.cli._progress import stages
    from discreet.job.parse import guarantee_from
    from discreet.job.sanitized_checking import read_sanitized, with_reading

    named: Any = guarantee_from([rules.promise(given)], {}, Path()) if rules.asked(given) else None
    with stages(2, quiet=quiet or as_json) as tell:
        tell("Reading")
        read = read_sanitized(data)
        promised = read.guarantee if named is None else with_reading(named, read.data)
        tell("Judging")
        judgment, lines, counts = _judged(read.data, promised)
    kept = judgment.ok and not read.changed
    if as_json:
        plain = plain_judgment(judgment, **counts)
        tell_json(plain | {"ok": kept, "judged": promised is not None, "changed": list(read.changed)})
    elif not quiet:
        verdict = judgment.verdict
        altered = [("broken", f"{name} is not the file that was released") for name in read.changed]
        told = [("not judged", _UNKNOWN)] if verdict is None else verdict_lines(verdict, groups="rules")
        tell_lines([*altered, *told, *lines])
    return kept


def _judged(data: Any, promised: Any) -> tuple[Any, list[tuple[str, str]], dict[str, int | None]]:
    """Judge a table or baskets, and describe what they reach."""
    from discreet.cli import _basket_output
    from discreet.cli.measure.check import measure_lines
    from discreet.core.tables.table import Table
    from discreet.job.basket_checking import judge_baskets
    from discreet.job.checking import judge

    if isinstance(data, Table):
        table = judge(data, promised)
        return table, measure_lines(table), {"rows": table.n_rows, "classes": table.n_classes}
    baskets = judge_baskets(data, promised)
    return baskets, _basket_output.measure_lines(baskets), {"baskets": baskets.n_baskets, "groups": None}
