"""Options of `discreet check` that look for the eighteen identifiers of HIPAA's Safe Harbor method."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli._command import in_group

OPEN = 3
"""The exit code where the data alone cannot settle it."""
safe_harbor_options = in_group(
    "Safe Harbor",
    [
        click.option(
            "--safe-harbor",
            is_flag=True,
            help="Look for the 18 identifiers of HIPAA's Safe Harbor method in all columns, whatever their roles.",
        ),
        click.option(
            "--zip3-populations",
            type=options.DATA,
            metavar="FILE",
            help="ZIP codes of three or five digits and how many people live there, for the rule of 20,000.",
        ),
        click.option("--allow", metavar="COLUMNS", help="Columns that Safe Harbor does not judge."),
    ],
)


def is_safe_harbor(values: Mapping[str, Any]) -> bool:
    """Return whether Safe Harbor was chosen; its other options need it."""
    for option in ("zip3_populations", "allow"):
        if values[option] is not None and not values["safe_harbor"]:
            raise parse.mistake(f"--{option.replace('_', '-')} requires --safe-harbor.", "--safe-harbor")
    return bool(values["safe_harbor"])


def check_safe_harbor(data: Path, values: Mapping[str, Any], *, as_json: bool, quiet: bool) -> int:
    """Look for the identifiers of Safe Harbor in a file or a release; return the exit code."""
    from discreet.cli._output import print_json, print_lines
    from discreet.cli._progress import stages
    from discreet.job.evidence.safe_harbor import safe_harbor_of
    from discreet.job.parse import reading_from
    from discreet.measure.hipaa import ACTUAL_KNOWLEDGE

    with stages(1, quiet=quiet or as_json) as progress:
        progress("Looking")
        harbor = safe_harbor_of(
            data,
            zip3_populations=values["zip3_populations"],
            allow=parse.names_in([values["allow"]] if values["allow"] else []),
            reading=reading_from(parse.reading(values)),
        )
    if as_json:
        print_json({"command": "check", "ok": harbor.ok, "verified": None} | harbor.to_dict())
    elif not quiet:
        lines = [("safe harbor", f"{harbor.word}: {harbor.n_columns:,} columns were looked at")]
        lines += [("found" if finding.is_sure else "open", str(finding)) for finding in harbor.findings]
        lines += [("allowed", f"column '{name}' was not judged") for name in harbor.allowed]
        print_lines([*lines, ("", ACTUAL_KNOWLEDGE)])
    return {"met": 0, "open": OPEN}.get(harbor.word, 1)
