"""`discreet reconstruct`: the distribution of true values, from a file of noisy ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _noise_options as noise_options
from discreet.cli import _options as options
from discreet.cli import _parse_options as gather

if TYPE_CHECKING:
    from discreet.collect import Density
    from discreet.core.arrays import FloatArray

_EPILOG = """\b
Examples:
  discreet reconstruct noisy.csv --column age --noise gaussian --privacy 1.0 --range 0,100 --out density.csv
  discreet reconstruct noisy.csv --column age --noise laplace --spread 12 --band 0.95 --out density.csv \\
      --picture density.html"""


@click.command(short_help="Recover a distribution from noisy numbers.", epilog=_EPILOG)
@click.argument("data", type=options.DATA, metavar="FILE")
@click.option("--column", required=True, metavar="COLUMN", help="The column of noisy numbers.")
@noise_options.NOISE
@noise_options.SPREAD
@noise_options.PRIVACY
@noise_options.EPSILON
@click.option(
    "--range", "range_", metavar="LOW,HIGH", help="The range of the true values, where it is known."
)
@click.option("--intervals", type=int, default=50, help="How many intervals; 50 by default.")
@click.option("--method", type=click.Choice(["em", "bayes"]), default="em", help="The steps; em by default.")
@click.option(
    "--stop",
    type=click.Choice(["chi2", "change", "likelihood"]),
    default="chi2",
    help="The rule that ends the steps; chi2 by default.",
)
@click.option("--tolerance", type=float, help="The rule's threshold.")
@click.option("--max-steps", type=int, default=5_000, help="The most steps; 5000 by default.")
@click.option("--band", type=float, metavar="SHARE", help="Also a confidence band, e.g. 0.95.")
@click.option("--seed", type=click.IntRange(min=0), help="Make the band repeatable.")
@click.option("--out", type=options.DATA, metavar="FILE", help="Write the intervals to a file.")
@click.option("--picture", type=options.DATA, metavar="FILE", help="Draw the density: .html, .svg or .png.")
@click.option("--overwrite", is_flag=True, help="Replace the files that are there.")
@options.reading
@options.printing
def reconstruct(
    data: Path, out: Path | None, picture: Path | None, as_json: bool, quiet: bool, **params: Any
) -> None:
    """Recover the distribution of the true values of a column of FILE; memory does not grow with FILE."""
    import warnings

    from discreet.cli._progress import stages
    from discreet.engines.files import read
    from discreet.job.parse import reading_from

    _refuse(out, picture, overwrite=params["overwrite"])
    reconstruction = _reconstruction(params)
    with stages(3, quiet=quiet or as_json) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        progress("Counting")
        relation = read(data, **reading_from(gather.reading(params)))
        counted = reconstruction.histogram(_numbers(relation, params["column"], data))
        progress("Reconstructing")
        found = reconstruction.reconstruct(counted, band=params["band"], random_state=params["seed"])
        progress("Writing")
        _write(found, counted, out, picture)
    _print_result(found, out, picture, as_json=as_json, quiet=quiet)


def _reconstruction(params: dict[str, Any]) -> Any:
    """Make the reconstruction from the options."""
    wide = {name: params[name] for name in ("spread", "privacy", "epsilon")}
    ends = None if params["range_"] is None else noise_options.ends(params["range_"])
    if wide["spread"] is None and ends is None:
        raise gather.mistake(
            "The range of the true values is not known; pass it, or the noise's spread.", "--spread"
        )
    channel = noise_options.channel(params["noise"], **wide, ends=ends, column=params["column"])
    parameters = {name: params[name] for name in ("method", "stop", "tolerance", "max_steps")}
    return channel.reconstruction(params["intervals"], **parameters)


def _refuse(out: Path | None, picture: Path | None, *, overwrite: bool) -> None:
    """Refuse what could not be written, before any work is done."""
    from discreet.core.errors import OutputError
    from discreet.engines.atomic import require_new_file
    from discreet.report.pictures import KINDS

    if picture is not None and picture.suffix.lower() not in KINDS:
        raise OutputError(f"A picture's name must end in {', '.join(KINDS)}.")
    for target in (out, picture):
        if target is not None:
            require_new_file(target, overwrite=overwrite)


def _numbers(relation: Any, column: str, data: Path) -> Iterator[FloatArray]:
    """Read a column batch by batch."""
    from discreet.core.engine import engine_of
    from discreet.core.errors import InputError, SchemaError

    engine = engine_of(relation)
    types = engine.value_types(relation)
    if column not in types:
        raise SchemaError(f"{data} has no column '{column}'.")
    if types[column] not in ("whole", "real"):
        raise SchemaError(f"Column '{column}' must hold noisy numbers.")
    for batch in engine.batches(engine.select(relation, [column], numbers=[column])):
        if batch.column(0).null_count:
            raise InputError(f"Some noisy values of '{column}' are null; drop the rows first.")
        yield batch.column(0).to_numpy()


def _write(found: Density, counted: Any, out: Path | None, picture: Path | None) -> None:
    if out is not None:
        from discreet.engines.writing import write_frame

        write_frame(found.frame(), out)
    if picture is not None:
        from discreet.report.densities import chart
        from discreet.report.pictures import write_picture

        write_picture(chart(found, noisy=counted), picture)


def _print_result(
    found: Density, out: Path | None, picture: Path | None, *, as_json: bool, quiet: bool
) -> None:
    from discreet.cli._output import number, print_result

    quartiles = [float(value) for value in found.ppf([0.25, 0.5, 0.75])]
    plain = {
        "values": found.n,
        "intervals": int(found.shares.size),
        "steps": found.iterations,
        "converged": found.converged,
        "mean": found.mean,
        "sd": found.variance**0.5,
        "quartiles": quartiles,
        "edges": found.edges.tolist(),
        "shares": found.shares.tolist(),
        "lower": None if found.lower is None else found.lower.tolist(),
        "upper": None if found.upper is None else found.upper.tolist(),
        "file": None if out is None else str(out),
        "picture": None if picture is None else str(picture),
    }
    settled = "" if found.converged else ", not settled: the best so far"
    lines = [
        ("values", f"{found.n:,} noisy ones, on {found.shares.size} intervals"),
        ("steps", f"{found.iterations:,}{settled}"),
        ("mean", f"{number(found.mean)}, standard deviation {number(found.variance**0.5)}"),
        ("quartiles", ", ".join(number(value) for value in quartiles)),
        *([] if out is None else [("written", str(out))]),
        *([] if picture is None else [("picture", str(picture))]),
    ]
    print_result("reconstruct", plain, lines, ok=found.converged, as_json=as_json, quiet=quiet)
