"""What is printed: calm aligned lines for people, one JSON object for machines."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli._errors import one_line
from discreet.cli._log import log

if TYPE_CHECKING:
    from discreet.core.release import Release
    from discreet.core.verdict import Verdict
    from discreet.kinds.judging import Judgment

_WORDS = {">=": "at least", "<=": "at most", "<": "below"}
_COLORS = {
    "verified": "green",
    "by construction": "cyan",
    "assumed": "cyan",
    "claimed": "magenta",
    "broken": "red",
    "caution": "yellow",
}
"""Only what was recomputed from the data is green."""


UNASKED = "discreet.unasked"
"""Where the context of a command says that nobody is to be asked."""


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object; a number that is not finite is null.

    It always says whether a guarantee was recomputed: ``verified`` is null where there was none to recompute.
    """
    from discreet.engines.writing import json_ready

    first = {name: content[name] for name in ("command", "ok") if name in content}
    click.echo(
        json.dumps(json_ready({**first, "verified": None, **content}), ensure_ascii=False, allow_nan=False)
    )


def print_lines(rows: Iterable[tuple[str, str]]) -> None:
    """Print labeled lines, the labels aligned; a line without a label goes on with the one above."""
    listed = [(label, one_line(text)) for label, text in rows]
    width = max((len(label) for label, _ in listed), default=0)
    for label, text in listed:
        padded = label.ljust(width)
        if label in _COLORS and "NO_COLOR" not in os.environ:
            padded = click.style(padded, fg=_COLORS[label], bold=True)
        click.echo(f"{padded}  {text}".rstrip())


def print_result(
    command: str,
    plain: Mapping[str, Any],
    rows: Iterable[tuple[str, str]],
    *,
    as_json: bool,
    quiet: bool,
    ok: bool = True,
) -> None:
    """Print what a command found: one JSON object, or labeled lines with the cautions below them, or nothing."""
    if as_json:
        print_json({"command": command, "ok": ok, **plain})
    elif not quiet:
        print_figures(plain, rows)


def print_figures(figures: Mapping[str, Any], rows: Iterable[tuple[str, str]]) -> None:
    """Print labeled lines, with the cautions among the figures below them."""
    from discreet.core.figures import Caution, summarized

    # Cautions of vaults have no code; those that say the same are one line all the same.
    cautions = [
        Caution(caution.get("code", caution["text"]), caution["text"])
        for caution in figures.get("cautions", ())
    ]
    print_lines([*rows, *(("caution", text) for text in summarized(cautions))])


def plain_judgment(judgment: Judgment) -> dict[str, Any]:
    """Return what a check found, with the counts of what was judged, as plain data."""
    return {
        "command": "check",
        "ok": judgment.ok,
        **plain_verdict(judgment.verdict),
        **judgment.counts,
        "measures": [measure.to_dict() for measure in judgment.measures],
    }


def plain_verdict(verdict: Verdict | None) -> dict[str, Any]:
    """Return a verdict as plain data: its word, whether it was recomputed, and the judgment behind it."""
    return {
        "verdict": None if verdict is None else verdict.word,
        "verified": verdict is not None and verdict.verified,
        "judgment": None if verdict is None else verdict.to_dict(),
    }


def verdict_lines(verdict: Verdict, *, groups: str = "classes", rows: str = "rows") -> list[tuple[str, str]]:
    """Return a line for each guarantee: its word, and by how much it holds; ``groups`` and ``rows`` name what fails."""
    from discreet.core.verdict import Basis

    lines = []
    for part in verdict.parts or (verdict,):
        if part.basis is Basis.CLAIMED:
            lines.append((part.word, f"{part.guarantee}, according to release.json"))
            continue
        required = f"{_WORDS[part.relation]} {number_text(part.bound)}"
        measured = f"{part.measure} {number_text(part.worst)} (required: {required})"
        if not part.ok and part.n_groups:
            measured += (
                f"; {part.failing_groups:,} of {part.n_groups:,} {groups} ({part.failing_rows:,} {rows}) fail"
            )
        lines.append((part.word, f"{part.guarantee}: {measured}"))
    return lines


def print_cautions(release: Release, out: Path | None) -> None:
    """Print what to know before the release is handed on, and which folder stays with the owner, if there is one."""
    from discreet.core.figures import summarized
    from discreet.guarantees import RulesHidden
    from discreet.report.folder import private_folder

    lines = [("caution", text) for text in summarized(release.cautions)]
    named = "names the rules and " if isinstance(release.guarantee, RulesHidden) else ""
    if out is not None:
        lines.append(
            ("private", f"{private_folder(out)} {named}compares with the original: do not hand it on")
        )
    print_lines(lines)


def plain_cautions(*published: Any) -> list[dict[str, object]]:
    """Return, as plain data, what to say of data written outside of a release: formulas, and what names people."""
    from discreet.measure.spelling import published_cautions

    return [caution.to_dict() for caution in published_cautions(*published)]


def number_text(value: float) -> str:
    """Write a number short, and whole numbers whole.

    >>> number_text(5.0), number_text(0.123456), number_text(float("nan")), number_text(20000)
    ('5', '0.1235', 'nothing to measure', '20,000')
    """
    if math.isnan(value):
        return "nothing to measure"
    if math.isinf(value):
        return "infinite"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"


def plain_release(command: str, release: Release, out: Path) -> dict[str, Any]:
    """Return what all releases have as plain data: whether the guarantee is kept, the cautions, and the files."""
    from discreet.kinds.wording import handing_on

    report = out / "report.html"
    return {
        "command": command,
        "ok": release.verdict.ok,
        "promise": release.guarantee.describe(),
        **plain_verdict(release.verdict),
        "cautions": [caution.to_dict() for caution in release.cautions],
        "handing_on": handing_on(release)[0],
        "folder": str(out),
        "files": _files(out) if out.is_dir() else [],
        "report": str(report) if report.is_file() else None,
    }


def to_be_replaced(out: Path | None, *, overwrite: bool, asks: bool) -> dict[str, object] | None:
    """Return what will be replaced, after a question on a terminal, if ``asks``; None where nothing is."""
    earlier = earlier_output(out) if overwrite else None
    context = click.get_current_context(silent=True)
    unasked = context is not None and context.meta.get(UNASKED)
    if earlier is not None and asks and not unasked and sys.stdin.isatty() and sys.stderr.isatty():
        ((_, text),) = replaced_lines(earlier)
        click.confirm(f"Replace {text}?", abort=True, err=True)
    return earlier


def print_outcome(
    command: str,
    release: Release,
    out: Path,
    *,
    as_json: bool,
    quiet: bool,
    plain: Mapping[str, Any] | None = None,
    lines: Sequence[tuple[str, str]] | None = None,
) -> None:
    """Print what a run achieved and cost, where it is, what to know of it, and what to do next.

    ``plain`` is added to the JSON object. ``lines`` take the place of those of the kind of data.
    """
    from discreet.kinds.kind import kind_of
    from discreet.kinds.wording import handing_on

    kind = kind_of(release)
    for caution in release.cautions:
        log("warning", "caution", code=caution.code, public=caution.public)
    log("info", "verdict", verdict=release.verdict.word, verified=release.verdict.verified)
    rehearsed = bool((plain or {}).get("dry_run"))
    if as_json:
        print_json(plain_release(command, release, out) | kind.outcome(release) | dict(plain or {}))
        return
    if quiet:
        return
    written, report = f"{out}", None
    if rehearsed:
        written = f"nothing, since this is a rehearsal; without --dry-run it would be {out}"
    elif out.is_dir():
        written = f"{out}: {', '.join(_files(out))}"
        report = out / "report.html"
    print_lines(
        [
            *verdict_lines(release.verdict, groups=kind.groups_of(release.verdict), rows=kind.records_name),
            *(kind.lines(release) if lines is None else lines),
            *replaced_lines((plain or {}).get("replaced")),
            ("hand on?", handing_on(release)[1]),
            ("written", written),
            *(() if rehearsed else _next_lines(report)),
        ]
    )
    print_cautions(release, out if out.is_dir() and not rehearsed else None)


def _next_lines(report: Path | None) -> list[tuple[str, str]]:
    """Say where the report is, and what to do next."""
    if report is None or not report.is_file():
        return [("next", "read the data as its reader would, before you hand it on")]
    return [("report", str(report)), ("next", "open the report, before you hand the data on")]


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def earlier_output(out: Path | None) -> dict[str, object] | None:
    """Return what lies where a command will write: its files and the day they were written; None where nothing does."""
    if out is None or not out.exists():
        return None
    files = sorted(path for path in out.iterdir() if path.is_file()) if out.is_dir() else [out]
    if not files:
        return None
    written = datetime.fromtimestamp(max(path.stat().st_mtime for path in files)).astimezone()
    return {
        "path": str(out),
        "files": [path.name for path in files],
        "bytes": sum(path.stat().st_size for path in files),
        "written": written.isoformat(timespec="minutes"),
    }


def replaced_lines(earlier: dict[str, object] | None) -> list[tuple[str, str]]:
    """Return the line that says what was replaced."""
    if earlier is None:
        return []
    names = earlier["files"]
    assert isinstance(names, list)
    listed = f"{', '.join(names[:4])}{' …' if len(names) > 4 else ''}"
    return [
        (
            "replaced",
            f"{earlier['path']}, written {earlier['written']}: {listed} ({earlier['bytes']:,} bytes)",
        )
    ]
