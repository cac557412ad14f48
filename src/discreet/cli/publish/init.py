"""`discreet init`: look at a file and propose a job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli._command import command

_EPILOG = """\b
Examples:
  discreet init patients.csv
  discreet init patients.csv --out jobs/patients.toml
  discreet init project.deid        a project of ARX: its roles, hierarchies, models and settings become a job
  discreet run job.toml"""


@command(short_help="Look at a file and propose a job.", epilog=_EPILOG)
@click.argument("data", type=options.DATA)
@click.option(
    "--out",
    type=options.DATA,
    default="job.toml",
    metavar="FILE",
    help="The job file to write; job.toml by default.",
)
@options.reading
@options.printing
def init(data: Path, out: Path, as_json: bool, quiet: bool, **values: Any) -> None:
    """Look at DATA, propose roles and hierarchies, and write them into a commented job file; or read a project of ARX.

    The proposal is a start; the roles are your decision. Proposed hierarchies of categories name the column's
    values, so keep the job file as you keep the data.
    """
    from discreet.cli._progress import stages
    from discreet.core.errors import InputError, OutputError
    from discreet.engines.atomic import atomic_file
    from discreet.engines.files import read
    from discreet.engines.formats import format_of
    from discreet.engines.inputs import database_file
    from discreet.job.decisions import basket_command, basket_form
    from discreet.job.hierarchy_files import with_files
    from discreet.job.proposals import propose
    from discreet.job.template import job_text

    if out.exists():
        raise OutputError(
            f"{out} is there already, and a job file is never overwritten; name another with --out."
        )
    reading = parse.reading(values)
    if data.suffix.lower() == ".deid":
        _import(data, out, reading, as_json=as_json, quiet=quiet)
        return
    # Tables of databases, folders, patterns and standard input are no files by themselves.
    is_file = data.is_file() and database_file(data) is None
    if is_file and not reading and basket_form(data) is not None:
        baskets = InputError(f"{data} holds baskets, not a table, so there are no columns to give roles to.")
        baskets.remedy = basket_command(data)
        raise baskets
    with stages(2, quiet=quiet or as_json) as progress:
        progress("Reading")
        relation = read(data, **reading)
        progress("Looking")
        form = format_of(data)
        stated = (
            not is_file or "header" in reading or (form is not None and form.reader not in ("text", "sheets"))
        )
        proposals = propose(relation, data if is_file else None, named=stated)
    proposals = with_files(proposals, out.parent)
    text = job_text(data, proposals, folder=out.parent, reading=reading)
    with atomic_file(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
    _print(data, out, proposals, as_json=as_json, quiet=quiet)


def _import(data: Path, out: Path, reading: dict[str, Any], *, as_json: bool, quiet: bool) -> None:
    """Write the job of a project of ARX, and say what was not carried over."""
    from discreet.cli._output import print_result
    from discreet.job.arx.project import import_project

    if reading:
        raise parse.mistake("A project of ARX says itself how its data is read.")
    project = import_project(data, out)
    fields = {
        "job": str(out),
        "columns": {name: column["role"] for name, column in project.columns.items()},
        "guarantees": project.guarantees,
        "not_carried_over": project.left_out,
    }
    lines = [
        ("columns", f"{len(project.columns):,}, {len(project.hierarchies):,} with a hierarchy"),
        ("guarantees", ", ".join(guarantee["kind"] for guarantee in project.guarantees) or "none: add one"),
        *(("left out", each) for each in project.left_out),
        ("written", f"{out}, with the data and hierarchies in {out.stem}-files"),
        ("next", f"read {out}; then: discreet run {out}"),
    ]
    print_result("init", fields, lines, as_json=as_json, quiet=quiet)


def _print(data: Path, out: Path, proposals: Any, *, as_json: bool, quiet: bool) -> None:
    from discreet.cli._output import print_result
    from discreet.job.decisions import decisions, notes

    open_questions, better = decisions(proposals), notes(data, proposals)
    fields = {
        "job": str(out),
        "columns": [_described(proposal) for proposal in proposals],
        "decisions": [
            {"question": proposal.question, "proposed": proposal.proposed} for proposal in open_questions
        ],
        "notes": better,
    }
    role_names = dict.fromkeys(
        (*(proposal.role.value for proposal in proposals if proposal.person), *parse.ROLES)
    )
    roles = {
        role: [proposal.name for proposal in proposals if proposal.role.value == role] for role in role_names
    }
    files = [str(proposal.file) for proposal in proposals if proposal.written]
    lines = [
        *((role, ", ".join(names)) for role, names in roles.items() if names),
        *(("check", f"{proposal.name}: {proposal.warning}") for proposal in proposals if proposal.warning),
        *(("decide", f"{number}. {proposal}") for number, proposal in enumerate(open_questions, start=1)),
        *(("note", proposal) for proposal in better),
        ("written", str(out)),
        *([("", f"{len(files)} hierarchy files to edit: {', '.join(files)}")] if files else []),
        ("next", f"read {out}, it is a proposal; then: discreet run {out}"),
    ]
    print_result("init", fields, lines, as_json=as_json, quiet=quiet)


def _described(proposal: Any) -> dict[str, Any]:
    """Return a proposal as plain data; a hierarchy by its kind, since its labels may hold values."""
    how = None if proposal.hierarchy is None else proposal.hierarchy.kind
    if proposal.file is not None:
        how = f"file {proposal.file.name}"
    return {
        "name": proposal.name,
        "role": proposal.role.value,
        "reason": proposal.reason,
        "confidence": proposal.confidence,
        "warning": proposal.warning,
        "hierarchy": how,
        "person": proposal.person,
    }
