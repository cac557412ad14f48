"""`discreet hierarchy`: make a hierarchy file to edit, and check one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli._command import CommandGroup

if TYPE_CHECKING:
    from discreet.job.hierarchy_files import HierarchyCheck

_EPILOG = """\b
Examples:
  discreet hierarchy init patients.csv --column age --out age.csv
  discreet hierarchy init patients.csv --column zip --how mask --out zip.csv
  discreet hierarchy check age.csv
  discreet hierarchy check age.csv --data patients.csv --column age

\b
Each takes --json and --quiet."""
_LEVELS = 8


@click.group(cls=CommandGroup, short_help="Make a hierarchy file to edit, or check one.", epilog=_EPILOG)
def hierarchy() -> None:
    """Work with hierarchy files, which have a line for each value: value;level 1;level 2;…;*."""


@hierarchy.command("init", short_help="Write a column's hierarchy, to be edited.", epilog=_EPILOG)
@click.argument("data", type=options.DATA)
@click.option("--column", required=True, metavar="COLUMN", help="The column.")
@click.option("--out", required=True, type=options.DATA, metavar="FILE", help="The hierarchy file to write.")
@click.option(
    "--how", metavar="HOW", help="How values become coarser, as --hierarchy takes it; proposed by default."
)
@options.reading
@options.printing
def init_(
    data: Path, column: str, out: Path, how: str | None, as_json: bool, quiet: bool, **values: Any
) -> None:
    """Propose a hierarchy for a column of DATA and write it as a file that can be edited.

    The file names the column's values, so keep it as you keep the data.
    """
    from discreet.cli._output import print_result
    from discreet.core.errors import OutputError
    from discreet.engines.atomic import atomic_file
    from discreet.engines.files import read
    from discreet.job.hierarchy_files import suggest_hierarchy, write_hierarchy
    from discreet.kinds.hierarchies import hierarchy_from

    if out.exists():
        raise OutputError(
            f"{out} is there already, and a hierarchy is never overwritten; name another with --out."
        )
    spec = None
    if how is not None:
        spec = hierarchy_from(parse.hierarchy_option(how), column=column, folder=Path())
    bound, reason = suggest_hierarchy(read(data, **parse.reading(values)), column, spec)
    with atomic_file(out) as temporary:
        write_hierarchy(bound, temporary)
    checked = shlex.join([str(out), "--data", str(data), "--column", column])
    nodes = [bound.n_leaves, *(len(labels) - 1 for labels in bound.labels[1:-1]), 1]
    fields = {"file": str(out), "nodes": nodes, "reason": reason}
    lines = [
        ("why", reason),
        ("levels", _levels(nodes)),
        ("written", str(out)),
        ("next", f"edit it; then: discreet hierarchy check {checked}"),
        ("", f"and use it with --hierarchy {shlex.quote(f'{column}={out}')}"),
    ]
    print_result("hierarchy init", fields, lines, as_json=as_json, quiet=quiet)


@hierarchy.command(short_help="Check that a file is a hierarchy, and covers a column.", epilog=_EPILOG)
@click.argument("file", type=options.DATA)
@click.option("--data", type=options.DATA, metavar="DATA", help="The table whose values it must cover.")
@click.option("--column", metavar="COLUMN", help="The column of the table.")
@options.reading
@options.printing
def check(
    file: Path, data: Path | None, column: str | None, as_json: bool, quiet: bool, **values: Any
) -> int:
    """Check that FILE is a tree, and that it covers a column; says counts, never a value.

    Exit code 1 where a value of the column is not covered.
    """
    from dataclasses import asdict

    from discreet.cli._output import print_result
    from discreet.engines.files import read
    from discreet.job.hierarchy_files import check_hierarchy

    if (data is None) != (column is None):
        raise parse.mistake("--data and --column belong together.", "--data patients.csv --column age")
    relation = None if data is None else read(data, **parse.reading(values))
    checked = check_hierarchy(file, relation, column)
    fields = {"file": str(file), **asdict(checked)}
    print_result("hierarchy check", fields, _checked(checked), ok=checked.ok, as_json=as_json, quiet=quiet)
    return 0 if checked.ok else 1


def _checked(checked: HierarchyCheck) -> Iterator[tuple[str, str]]:
    """Return the lines of a check: a label and what it shows."""
    from discreet.job.hierarchy_files import FEW

    yield "tree", f"each level coarsens the one below; {len(checked.nodes) - 1} levels above the values"
    yield "levels", _levels(list(checked.nodes))
    if checked.n_values is not None:
        covered = checked.n_values - (checked.n_uncovered or 0)
        yield "covered", f"{covered:,} of {checked.n_values:,} values of the column"
        if checked.n_uncovered:
            yield "missing", f"{checked.n_uncovered:,} values, in {checked.n_rows_uncovered:,} rows"
        if checked.n_unused:
            yield "unused", f"{checked.n_unused:,} values of the file are not in the column"
        if checked.n_naming_rare:
            yield "caution", f"{checked.n_naming_rare:,} labels name a value that fewer than {FEW} rows have"


def _levels(nodes: list[int]) -> str:
    numbers = " → ".join(f"{count:,}" for count in nodes[:_LEVELS])
    return numbers if len(nodes) <= _LEVELS else f"{numbers} → … → {nodes[-1]:,}"
