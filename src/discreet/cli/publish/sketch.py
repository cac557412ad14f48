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
from discreet.cli._guarantees import guarantees_of
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
    from discreet.job.kinds import SketchKind, read_records
    from discreet.job.parse import reading_from

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
    if as_json or not quiet:
        print_outcome("sketch", release, out, n_empty=n_empty, as_json=as_json, proposal=proposal)
    if not as_json and not quiet:
        from discreet.cli._output import print_cautions

        print_cautions(release, folder)


def _refuse_misfits(data: Path, out: Path, values: dict[str, Any]) -> None:
    """Refuse options that do not fit together or to the data."""
    if values["k_variance"] is None:
        _refuse(values, ("gap", "partition"), "belongs to --k-variance.", "--k-variance 10")
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


def _plain(command: str, release: Release, n_empty: int, out: Path) -> dict[str, Any]:
    import numpy as np

    from discreet.cli._output import plain_verdict

    lengths = release.data.lengths
    shares = np.percentile(lengths, [0, 25, 50, 75, 100]).tolist()
    return {
        "command": command,
        "ok": release.verdict.ok,
        "promise": release.guarantee.describe(),
        **plain_verdict(release.verdict),
        "records": {
            "in": release.evidence.n_rows + n_empty,
            "empty": n_empty,
            "suppressed": release.evidence.suppressed,
            "out": len(release.data),
        },
        "lengths": dict(zip(("least", "quarter", "median", "three_quarters", "most"), shares, strict=True)),
        "distance_error": asdict(release.figures.public.distance_error),
        "details": dict(release.evidence.details),
        "cautions": [caution.to_dict() for caution in release.cautions],
        "family": release.data.family,
        "written": str(out),
    }


def print_outcome(
    command: str,
    release: Release,
    out: Path,
    *,
    as_json: bool,
    n_empty: int = 0,
    proposal: DeltaProposal | None = None,
) -> None:
    """Print the outcome of a run, and where it was written."""
    from discreet.cli._output import print_json, print_lines, verdict_lines

    plain = _plain(command, release, n_empty, out)
    suggested = _suggested(release) if proposal is None else None
    if as_json:
        found = proposal or suggested
        print_json(plain | {"proposal": None if found is None else asdict(found)})
        return
    records, lengths, error = plain["records"], plain["lengths"], plain["distance_error"]
    empty = f", {records['empty']:,} empty and dropped" if records["empty"] else ""
    outcome = f"{records['suppressed']:,} suppressed, {records['out']:,} published"
    span = f"{lengths['least']:.0f} to {lengths['most']:.0f} components"
    off = f"squared distances are off by about {error['relative']:.0%}"
    print_lines(
        [
            *verdict_lines(release.verdict),
            ("", "from the lengths, and what is kept of the records"),
            *([] if proposal is None else [("delta", _proposed(proposal))]),
            ("records", f"{records['in']:,}{empty}, {outcome}"),
            ("lengths", f"{span}, the median {lengths['median']:g}"),
            ("error", f"{off}; half of the pairs share {error['shared']:,} components or more"),
            *_near(plain["details"]),
            *([] if suggested is None else [("try", _suggestion(suggested))]),
            ("written", plain["written"]),
            ("next", "keep the key secret: whoever has it can estimate what the records hold"),
        ]
    )


def _suggested(release: Release) -> DeltaProposal | None:
    """Propose another delta, where the one that was given leaves little."""
    from discreet.guarantees import DeltaAnonymity
    from discreet.publish import propose_delta

    guarantee = release.guarantee
    if not isinstance(guarantee, DeltaAnonymity) or not release.cautions:
        return None
    proposal = propose_delta(release.original, components=int(release.recipe["parameters"]["components"]))
    better = proposal.delta < guarantee.delta or proposal.hopeless
    return proposal if better else None


def _proposed(proposal: DeltaProposal) -> str:
    return (
        f"{proposal.delta:g}, proposed from the records: the error of an estimated value is about "
        f"{proposal.relative_error:.0%} of a typical largest value; --delta sets another"
    )


def _suggestion(proposal: DeltaProposal) -> str:
    """Return what another delta would suppress, and what none can change."""
    words = f"--delta {proposal.delta:g} (median {proposal.median_length:g} components, "
    words += f"{proposal.suppressed:,} suppressed)"
    if proposal.hopeless:
        words += (
            f"; {proposal.hopeless:,} records of a single item are suppressed at any delta, --k-variance 10 "
        )
        words += "keeps them"
    return words


def _near(details: dict[str, Any]) -> list[tuple[str, str]]:
    """Return how neighbors were searched, where it matters."""
    if "neighbors" not in details:
        return []
    if details["neighbors"] == "exact":
        return [("near", "exact nearest neighbors")]
    return [("near", f"neighbors inside {details['partitions']} partitions, a stand-in for the true ones")]
