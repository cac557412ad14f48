"""`discreet init`: look at a file and propose a job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as gather

_EPILOG = """\b
Examples:
  discreet init patients.csv
  discreet init patients.csv --out jobs/patients.toml
  discreet run job.toml"""


@click.command(short_help="Look at a file and propose a job.", epilog=_EPILOG)
@click.argument("data", type=options.DATA)
@click.option(
    "--out",
    type=options.DATA,
    default="job.toml",
    metavar="FILE",
    help="The job file to write; job.toml by default.",
)
@options.reading
@options.telling
def init(data: Path, out: Path, as_json: bool, quiet: bool, **given: Any) -> None:
    """Look at DATA, propose roles and hierarchies, and write them into a commented job file.

    The proposal is a start; the roles are your decision. Proposed hierarchies of categories name the column's
    values, so keep the job file as you keep the data.
    """
    from discreet.cli._progress import stages
    from discreet.core.errors import OutputError
    from discreet.engines.files import read
    from discreet.engines.writing import atomic_file
    from discreet.job.proposals import propose
    from discreet.job.template import job_text

    if out.exists():
        raise OutputError(
            f"{out} is there already, and a job file is never overwritten; name another with --out."
        )
    reading = gather.reading(given)
    with stages(2, quiet=quiet or as_json) as tell:
        tell("Reading")
        relation = read(data, **reading)
        tell("Looking")
        proposals = propose(relation)
    text = job_text(data, proposals, folder=out.parent, reading=reading)
    with atomic_file(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
    _tell(out, proposals, as_json=as_json, quiet=quiet)


def _tell(out: Path, proposals: Any, *, as_json: bool, quiet: bool) -> None:
    from discreet.cli._output import tell_json, tell_lines

    if as_json:
        columns = [
            {"name": one.name, "role": one.role.value, "reason": one.reason, "warning": one.warning}
            for one in proposals
        ]
        tell_json({"command": "init", "ok": True, "job": str(out), "columns": columns})
    elif not quiet:
        roles = {role: [one.name for one in proposals if one.role.value == role] for role in gather.ROLES}
        tell_lines(
            [
                *((role, ", ".join(names)) for role, names in roles.items() if names),
                *(("check", f"{one.name}: {one.warning}") for one in proposals if one.warning),
                ("written", str(out)),
                ("next", f"read {out}, it is a proposal; then: discreet run {out}"),
            ]
        )
