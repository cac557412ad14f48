"""`discreet evidence`: the identifiability statement of a release, for one recipient."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli import _baskets as baskets
from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli._command import command, in_group

_EPILOG = """\b
Examples:
  discreet evidence release/ --recipient "University hospital, group of Dr. Lee" --environment controlled
  discreet evidence release/ --recipient everybody --environment public --threshold 0.09 --pdf
  discreet evidence release/ --recipient "Ministry" --environment controlled --original patients.csv --seed 1

\b
Exit codes: 0 the guarantee was verified; 1 the release is broken, as the paper says; 3 only claimed; 2 user error."""
_FILES = (
    click.option("--original", type=options.DATA, metavar="FILE", help="What the release was made of: attack it."),
    click.option("--control", type=options.DATA, metavar="FILE", help="Rows of people who are not in the release."),
    click.option("--population", type=options.DATA, metavar="FILE", help="The population, for the journalist's risk."),
    click.option("--zip3-populations", type=options.DATA, metavar="FILE", help="People by ZIP code, for Safe Harbor."),
    click.option("--answers", type=options.DATA, metavar="FILE", help="What people decided: a TOML file of texts."),
)  # fmt: skip


@command(
    short_help="Write the identifiability statement of a release (ISO/IEC 27559).",
    epilog=_EPILOG,
    essentials=(
        "--recipient", "--environment", "--threshold", "--original", "--control", "--answers", "--out", "--pdf",
    ),
)  # fmt: skip
@click.argument("release", type=options.DATA)
@click.option("--recipient", required=True, metavar="TEXT", help="Who receives the release.")
@click.option(
    "--environment",
    required=True,
    type=click.Choice(["public", "controlled"]),
    help="Whether anybody may have it, or the recipient alone, bound by controls.",
)
@click.option(
    "--threshold", type=click.FloatRange(0, 1, min_open=True), help="The highest risk that is accepted."
)
@in_group("Files", _FILES)
@click.option(
    "--attacks", "n_attacks", type=click.IntRange(min=10), default=1_000, help="Guesses of each attack."
)
@click.option("--seed", type=click.IntRange(min=0), help="Seeds who is attacked, and what is drawn.")
@click.option(
    "--out", type=options.DATA, metavar="DIR", help="The folder to write; RELEASE.evidence by default."
)
@click.option("--pdf", is_flag=True, help="Also print the paper, with Chromium, Chrome or Edge.")
@options.OVERWRITE
@options.YES
@options.reading
@baskets.attacked
@options.printing
def evidence(
    release: Path, out: Path | None, pdf: bool, overwrite: bool, as_json: bool, quiet: bool, **values: Any
) -> None:
    """Write what is known of how identifiable RELEASE is, in the order of ISO/IEC 27559, with room for decisions.

    DIR may be handed on with the release. With --original, attacks are run, and DIR.private holds what they achieved:
    it compares with the original, and stays with the owner and those who may see the original.
    """
    from discreet.cli._output import print_json, print_lines
    from discreet.cli._progress import stages
    from discreet.job.descriptions import is_release, release_folder
    from discreet.job.evidence.statement import evidence_statement
    from discreet.job.parse import reading_from, toml_of

    if not is_release(release):
        raise parse.mistake(f"{release} is not the folder of a release.")
    folder = release_folder(release)
    named = ("recipient", "environment", "threshold", "original", "control", "population", "zip3_populations", "n_attacks", "seed", "item_hierarchy")  # fmt: skip  # noqa: E501
    with stages(2, quiet=quiet or as_json) as progress:
        progress("Judging")
        statement = evidence_statement(
            folder,
            **{name: values[name] for name in named},
            answers=None if values["answers"] is None else toml_of(values["answers"]),
            reading=reading_from(parse.reading(values)) | baskets.basket_input(values),
        )
        progress("Writing")
        target = out or folder.with_name(f"{folder.resolve().name}.evidence")
        folders = statement.write(target, overwrite=overwrite, pdf=pdf)
    word = statement.judgment.word
    if as_json:
        places = {"folder": str(folders[0]), "private_folder": str(folders[1]) if len(folders) > 1 else None}
        print_json(
            {"command": "evidence", "ok": word != "broken", "verified": statement.judgment.ok} | places
        )
    elif not quiet:
        handed = (
            "says that the release must not be handed on"
            if word == "broken"
            else "may be handed on with the release"
        )
        lines = [
            (word, statement.judgment.verdict.guarantee),
            ("written", f"{target}: {handed}"),
        ]
        if len(folders) > 1:
            lines.append(
                (
                    "private",
                    f"{folders[1]} compares with the original: for its owner and an ethics board alone",
                )
            )
        print_lines([*lines, ("decide", "the questions of the last section are for people to answer")])
    click.get_current_context().exit({"broken": 1, "claimed": 3}.get(word, 0))
