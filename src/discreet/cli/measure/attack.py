"""`discreet attack`: what the attacks that regulators name achieve against a release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli import _baskets as baskets
from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli._command import command

_EPILOG = """\b
Examples:
  discreet attack release/ --original patients.csv
  discreet attack release/ --original patients.csv --control others.csv --population voters.csv
  discreet attack release/ --original patients.csv --control others.csv --json
  discreet attack release/ --original baskets.dat --control last-year.dat"""


@command(
    short_help="Attack a release as regulators name it: single out, link, infer.",
    epilog=_EPILOG,
)
@click.argument("release", type=options.DATA)
@click.option(
    "--original",
    required=True,
    type=options.DATA,
    metavar="FILE",
    help="The file that the release was made of.",
)
@click.option(
    "--control",
    type=options.DATA,
    metavar="FILE",
    help="Rows of people of the same kind who are not in the release: what the attack learns of anybody.",
)
@click.option(
    "--population", type=options.DATA, metavar="FILE", help="The population, for the journalist's risk."
)
@click.option(
    "--attacks",
    "n_attacks",
    type=click.IntRange(min=10),
    default=1_000,
    help="How many guesses, or people, each attack takes; 1000 by default.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Seeds who is attacked, and what is drawn.")
@options.reading
@baskets.attacked
@options.printing
def attack(
    release: Path,
    original: Path,
    control: Path | None,
    population: Path | None,
    n_attacks: int,
    seed: int | None,
    as_json: bool,
    quiet: bool,
    **values: Any,
) -> None:
    """Try singling out, linkability and inference on RELEASE, and membership inference on drawn rows."""
    from discreet.cli._output import print_json, print_lines
    from discreet.cli._progress import stages
    from discreet.job.descriptions import is_release, release_folder
    from discreet.job.evidence.attacking import attack_lines, attack_release
    from discreet.job.parse import reading_from

    if not is_release(release):
        raise parse.mistake(f"{release} is not the folder of a release.")
    with stages(1, quiet=quiet or as_json) as progress:
        progress("Attacking")
        attacks = attack_release(
            release_folder(release),
            original,
            control=control,
            population=population,
            n_attacks=n_attacks,
            seed=seed,
            item_hierarchy=values["item_hierarchy"],
            reading=reading_from(parse.reading(values)) | baskets.basket_input(values),
        )
    if as_json:
        print_json({"command": "attack", "ok": True} | attacks.to_dict())
    elif not quiet:
        print_lines(list(attack_lines(attacks)))
