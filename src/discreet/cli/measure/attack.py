"""`discreet attack`: what the attacks that regulators name achieve against a release."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli._command import command
from discreet.kinds.wording import number, percent

if TYPE_CHECKING:
    from discreet.measure import Attacks, AttackSuccess, MembershipAttack

_EPILOG = """\b
Examples:
  discreet attack release/ --original patients.csv
  discreet attack release/ --original patients.csv --control others.csv --population voters.csv
  discreet attack release/ --original patients.csv --control others.csv --json"""


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
    from discreet.job.evidence.attacking import attack_release
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
            reading=reading_from(parse.reading(values)),
        )
    if as_json:
        print_json({"command": "attack", "ok": True} | attacks.to_dict())
    elif not quiet:
        print_lines(list(_lines(attacks)))


def _lines(attacks: Attacks | MembershipAttack) -> Iterator[tuple[str, str]]:
    from discreet.measure import Attacks

    if not isinstance(attacks, Attacks):
        yield from _membership_lines(attacks)
        return
    for success in attacks.all:
        yield from _success_lines(success)
    if attacks.n_controls is None:
        yield "caution", "no control group: what is learned of anybody counts as risk; name one by --control"
    risk = attacks.attackers
    yield "prosecutor", f"highest {percent(risk.prosecutor.highest)}, mean {percent(risk.prosecutor.mean)}"
    if risk.journalist is not None:
        yield (
            "journalist",
            f"highest {percent(risk.journalist.highest)}, mean {percent(risk.journalist.mean)}",
        )
    yield "marketer", f"{percent(risk.marketer)} of the rows found again, on average"


def _success_lines(success: AttackSuccess) -> Iterator[tuple[str, str]]:
    rate, control = success.rate, success.control
    among = "" if control is None else f"; {percent(control.share)} of people who are not in the data"
    yield (
        success.name,
        (
            f"right in {percent(rate.share)} of {rate.n_attempts:,} tries ({percent(rate.low)} to {percent(rate.high)})"
            f"{among}; guessing {percent(success.baseline)}"
        ),
    )
    yield (
        "",
        f"risk due to the release {percent(success.risk)} ({percent(success.low)} to {percent(success.high)})",
    )


def _membership_lines(attack_: MembershipAttack) -> Iterator[tuple[str, str]]:
    from discreet.measure.attacks.membership import CLOSENESS_PROVES_NOTHING

    if attack_.membership is None:
        yield "caution", "no control group, so that nobody can be told from members; name one by --control"
    else:
        auc = attack_.membership.auc
        yield (
            "membership",
            (
                f"a member is nearer than others with {percent(auc)} "
                f"({percent(attack_.low)} to {percent(attack_.high)}); 50% is a coin"
            ),
        )
    near = attack_.closeness
    yield (
        "closest",
        f"{number(round(near.ratio, 3))} of the distance among people; {percent(near.copies)} are copies",
    )
    yield "", CLOSENESS_PROVES_NOTHING
