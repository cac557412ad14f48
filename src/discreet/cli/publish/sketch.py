"""`discreet sketch`: publish texts or baskets as short random projections."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli._basket_reading import FORMAT, reading_of
from discreet.cli._command import command, in_group
from discreet.cli._options import guarantees_of
from discreet.cli._spec_options import options_of
from discreet.core.registry import GuaranteeSpec, methods, releasable_guarantees

if TYPE_CHECKING:
    from discreet.core.release import Release
    from discreet.publish import DeltaProposal

_EPILOG = """\b
Examples:
  discreet sketch docs/ --key-file secret.key --out sketches
  discreet sketch docs/ --delta 0.02 --key-file secret.key --out sketches
  discreet sketch mails.csv --column body --k-variance 10 --components 200 --key-file secret.key --out sketches
  discreet sketch shop.dat --delta 0.5 --key-file secret.key --out sketches.arrow
  discreet sketch shop.dat --delta 0.4 --k-variance 10 --gap root --key-file secret.key --out sketches

\b
A key: head -c 32 /dev/urandom > secret.key"""


def sketch_guarantees() -> list[GuaranteeSpec]:
    """Return the guarantees about sketches."""
    return [spec for spec in releasable_guarantees().values() if spec.about[0] == "sketches"]


_OF_TABLES = ("delimiter", "encoding", "decimal", "thousands", "nulls", "dates", "header", "text")
_FLAGS = {"format_": "format", "nulls": "null", "header": "header or --no-header"}


@command(
    short_help="Publish texts or baskets as sketches.",
    epilog=_EPILOG,
    essentials=(
        "--delta", "--k-variance", "--components", "--key-file", "--column", "--weights", "--out", "--overwrite",
    ),
)  # fmt: skip
@click.argument("data", type=options.DATA)
@options_of(sketch_guarantees, group="Guarantee")
@options_of(lambda: methods(role="publisher", takes="records"))
@in_group(
    "Method",
    [
        click.option("--components", type=int, default=128, help="The longest sketch; 128 by default."),
        click.option(
            "--key-file",
            type=options.DATA,
            required=True,
            metavar="FILE",
            help="The file with the secret key.",
        ),
    ],
)
@in_group(
    "Reading",
    [
        click.option("--column", metavar="COLUMN", help="The column of the texts, where DATA is a table."),
        click.option(
            "--weights",
            type=click.Choice(["tf-idf", "counts"]),
            help="How words count; tf-idf by default, brought to length 1.",
        ),
        click.option("--min-texts", type=int, help="Leave out words in fewer texts; 1 by default."),
        FORMAT,
        options.BASKET,
        options.ITEM,
    ],
)
@in_group(
    "Writing",
    [
        click.option(
            "--out",
            type=options.DATA,
            required=True,
            metavar="PATH",
            help="The folder to write, or an .arrow file.",
        ),
        options.OVERWRITE,
    ],
)
@options.sign
@options.reading
@options.printing
def sketch(data: Path, out: Path, as_json: bool, quiet: bool, **values: Any) -> None:
    """Publish the texts in the folder DATA, those in a column of it, or its baskets, as sketches."""
    from discreet.cli._progress import stages
    from discreet.engines.sketches import write_sketches
    from discreet.job import Job, SketchSection, run
    from discreet.job.parse import reading_from
    from discreet.kinds.sketches import SketchKind, read_records

    _refuse_misfits(data, out, values)
    about = SketchSection(_key(values["key_file"]), values["components"])
    with stages(5, quiet=quiet or as_json) as progress:
        progress("Reading")
        rows, n_empty = read_records(data, **reading_from(_reading(data, values), SketchKind.reading))
        folder = None if out.suffix == ".arrow" else out
        proposal = _proposal(rows, values)
        job = Job(
            rows,
            guarantee=_guarantee(values, proposal),
            sketches=about,
            options={} if values["partition"] is None else {"partition": values["partition"]},
            out=folder,
            overwrite=values["overwrite"],
            sign=values["sign"],
            source=data,
        )
        release = run(job, progress)
        if folder is None:
            release.verdict.enforce()
            write_sketches(release.data, out, overwrite=values["overwrite"])
    _print(release, out, n_empty, proposal, as_json=as_json, quiet=quiet)


def _print(
    release: Release, out: Path, n_empty: int, proposal: DeltaProposal | None, *, as_json: bool, quiet: bool
) -> None:
    """Print the outcome, with the records that held nothing, and a delta that was proposed."""
    from discreet.cli._output import print_outcome
    from discreet.kinds.kind import kind_of

    counts = release.figures.public.counts
    plain: dict[str, Any] = {"records": {**counts.to_dict(), "in": counts.n_in + n_empty, "empty": n_empty}}
    lines = kind_of(release).lines(release)
    if proposal is not None:
        plain["proposal"] = asdict(proposal)
        lines = [line for line in lines if line[0] != "try"]
        lines.insert(1, ("delta", _proposed(proposal)))
    if n_empty:
        published = f"{counts.suppressed:,} suppressed, {counts.n_out:,} published"
        records = f"{counts.n_in + n_empty:,}, {n_empty:,} empty and dropped, {published}"
        lines = [("records", records) if label == "records" else (label, text) for label, text in lines]
    plain["written"] = str(out)
    print_outcome("sketch", release, out, as_json=as_json, quiet=quiet, plain=plain, lines=lines)


def _refuse_misfits(data: Path, out: Path, values: dict[str, Any]) -> None:
    """Refuse options that do not fit together or to the data."""
    from discreet.engines.folders import require_apart

    if values["k_variance"] is None:
        _refuse(values, ("gap", "partition"), "belongs to --k-variance.", "--k-variance 10")
    require_apart(out, data, values["key_file"])
    if values["sign"] is not None and out.suffix == ".arrow":
        raise parse.mistake(
            "--sign is for a release; a file of sketches alone has no release.json.", "--out FOLDER"
        )
    key = values["key_file"].resolve()
    if key == data.resolve() or data.resolve() in key.parents:
        raise parse.mistake("The key file is among the data; keep it elsewhere.")
    if data.is_dir() and values["column"] is not None:
        raise parse.mistake("--column is for a table, and this is a folder.")
    texts = data.is_dir() or values["column"] is not None
    if texts:
        _refuse(values, ("format_", "basket", "item"), "is for baskets, and these are texts.")
    else:
        _refuse(values, ("weights", "min_texts"), "is for texts.", "--column COLUMN")
        _refuse(values, set(_OF_TABLES) - {"delimiter"}, "is for a column of texts.", "--column COLUMN")
    if data.is_dir():
        _refuse(values, set(_OF_TABLES) - {"encoding"}, "is for a table, and this is a folder.")


def _refuse(values: dict[str, Any], names: Collection[str], why: str, remedy: str | None = None) -> None:
    for name in sorted(names):
        if values[name] not in (None, ()):
            raise parse.mistake(f"--{_FLAGS.get(name, name).replace('_', '-')} {why}", remedy)


def _key(path: Path) -> bytes:
    """Read the key: the bytes of the file, without line ends at its end."""
    from discreet.core.errors import InputError

    try:
        key = path.read_bytes().rstrip(b"\r\n")
    except OSError:
        raise InputError(f"The key file cannot be read: {path}.") from None
    if not key:
        raise InputError(f"The key file is empty: {path}.")
    return key


def _reading(data: Path, values: dict[str, Any]) -> dict[str, Any]:
    """Return how the records are to be read."""
    words = {name: values[name] for name in ("column", "weights", "min_texts")}
    if data.is_dir():
        options_ = words | {"encoding": values["encoding"]}
    elif values["column"] is not None:
        options_ = words | parse.reading(values)
    else:
        options_ = reading_of(values)
    return {name: value for name, value in options_.items() if value is not None}


def _proposal(rows: Any, values: dict[str, Any]) -> DeltaProposal | None:
    """Propose a delta where no guarantee is named."""
    from discreet.publish import propose_delta

    if values["delta"] is not None or values["k_variance"] is not None:
        return None
    return propose_delta(rows, components=values["components"])


def _guarantee(values: dict[str, Any], proposal: DeltaProposal | None) -> Any:
    from discreet.job.parse import guarantee_from

    delta = values["delta"] if proposal is None else proposal.delta
    chosen = guarantees_of({**values, "delta": delta}, sketch_guarantees())
    return guarantee_from(chosen, {}, Path())


def _proposed(proposal: DeltaProposal) -> str:
    return (
        f"{proposal.delta:g}, proposed from the records: the error of an estimated value is about "
        f"{proposal.relative_error:.0%} of a typical largest value; --delta sets another"
    )
