"""`discreet choose-pq`: find good probabilities for flipping bits."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as gather
from discreet.cli._basket_reading import basket_reading, reading_of
from discreet.cli._command import command

if TYPE_CHECKING:
    from discreet.collect import Choice, Choices

_EPILOG = """\b
Examples:
  discreet choose-pq sample.dat --baskets 1000000
  discreet choose-pq --support 0.01 --baskets 1000000 --tolerance 0.05 --picture points.html"""

_HEAD = f"{'p':>6} {'q':>6} {'privacy':>9} {'error/MASK':>11} {'epsilon':>8} {'entries':>8}"


@command(name="choose-pq", short_help="Find p and q for flipping bits.", epilog=_EPILOG)
@click.argument("data", type=options.DATA, metavar="[FILE]", required=False)
@click.option("--support", type=float, help="The average support of an item, in place of a FILE.")
@click.option(
    "--baskets", type=int, help="How many baskets will be collected; as many as FILE has by default."
)
@click.option(
    "--privacy", type=float, default=90.0, help="The least basic privacy in percent; 90 by default."
)
@click.option(
    "--tolerance",
    type=float,
    default=0.0,
    help="How much more error than MASK's at 0.9 is allowed; 0.05 is 5 %.",
)
@click.option(
    "--above-q",
    type=float,
    default=0.95,
    help="q must be larger, so that baskets stay short; 0.95 by default.",
)
@click.option("--p-step", type=float, default=0.1, help="The step of the grid for p; 0.1 by default.")
@click.option("--q-step", type=float, default=0.01, help="The step of the grid for q; 0.01 by default.")
@click.option("--every", is_flag=True, help="Show every point of the grid, not only the good ones.")
@click.option("--picture", type=options.DATA, metavar="FILE", help="Draw the grid: .html, .svg or .png.")
@options.OVERWRITE_FILE
@basket_reading
@options.printing
def choose_pq(
    data: Path | None,
    every: bool,
    picture: Path | None,
    overwrite: bool,
    as_json: bool,
    quiet: bool,
    **params: Any,
) -> None:
    """Find p and q that hide well, estimate well and keep baskets short, for a sample in FILE or a known support."""
    from discreet.collect import choose_pq as choose
    from discreet.engines.atomic import require_free_file

    require_free_file(picture, data, overwrite=overwrite)
    support, n_baskets = _sample(data, params)
    choices = choose(
        support,
        n_baskets,
        at_least=params["privacy"],
        tolerance=params["tolerance"],
        above_q=params["above_q"],
        p_step=params["p_step"],
        q_step=params["q_step"],
    )
    if picture is not None:
        from discreet.report.pictures import acceptable_points, write_picture

        write_picture(acceptable_points(choices), picture)
    _print_result(choices, choices.points if every else choices.good, picture, as_json=as_json, quiet=quiet)


def _sample(data: Path | None, params: dict[str, Any]) -> tuple[float, int]:
    """Return the average support and the number of baskets, from a file or from the options."""
    support, n_baskets = params["support"], params["baskets"]
    if (data is None) == (support is None):
        raise gather.mistake("Pass either a FILE or --support.", "--support 0.01 --baskets 1000000")
    if data is None:
        if n_baskets is None:
            raise gather.mistake("The number of baskets is missing.", "--baskets 1000000")
        return support, n_baskets
    from discreet.core.errors import InputError
    from discreet.engines.baskets.files import read_baskets

    baskets = read_baskets(data, **reading_of(params))
    if not baskets.items.size:
        raise InputError(f"{data} holds no items, so there is no support to choose by.")
    return float(baskets.counts.mean() / len(baskets)), len(baskets) if n_baskets is None else n_baskets


def _print_result(
    choices: Choices, points: tuple[Choice, ...], picture: Path | None, *, as_json: bool, quiet: bool
) -> None:
    from discreet.cli._output import print_result

    figures = {
        "support": choices.support,
        "baskets": choices.n_baskets,
        "points": [_plain(point) for point in points],
        "picture": None if picture is None else str(picture),
    }
    lines = [
        ("support", f"{choices.support:.4g} on average, {choices.n_baskets:,} baskets"),
        *([("points", _HEAD)] if points else []),
        *(("good" if point.good else "", _line(point)) for point in points),
        *_advice(choices),
        *([] if picture is None else [("picture", str(picture))]),
        *(_legend(choices) if points else []),
    ]
    print_result("choose-pq", figures, lines, ok=bool(choices.good), as_json=as_json, quiet=quiet)


def _legend(choices: Choices) -> list[tuple[str, str]]:
    from discreet.cli._output import number_text

    bound = number_text(1 + choices.tolerance)
    return [
        ("legend", "privacy: basic privacy in percent, by the average support; epsilon: of one bit;"),
        ("", f"entries: for each true one; error: at most {bound} × MASK's"),
    ]


def _line(point: Choice) -> str:
    return (
        f"{point.p:>6.4g} {point.q:>6.4g} {point.basic_privacy:>9.2f} {point.error_ratio:>11.3f} "
        f"{point.epsilon:>8.3f} {point.growth:>8.2f}"
    )


def _advice(choices: Choices) -> list[tuple[str, str]]:
    if choices.good:
        return []
    private = [point for point in choices.points if point.private and point.fast]
    if not private:
        return [("none", "no point is private enough; lower --privacy, or --above-q")]
    nearest = min(point.error_ratio for point in private)
    enough = math.ceil(1000 * (nearest - 1)) / 1000
    return [("none", f"no point meets all conditions; --tolerance {enough:g} would leave one")]


def _plain(point: Choice) -> dict[str, Any]:
    names = (
        "p",
        "q",
        "basic_privacy",
        "error",
        "error_ratio",
        "epsilon",
        "growth",
        "private",
        "accurate",
        "fast",
    )
    return {name: getattr(point, name) for name in names} | {"good": point.good}
