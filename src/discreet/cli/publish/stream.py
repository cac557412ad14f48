"""`discreet stream`: condense an endless stream, draw pseudo-records from its state, merge two collectors' states."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as parse
from discreet.cli._command import CommandGroup, in_group
from discreet.cli._spec_options import options_of, parameters_of
from discreet.core.registry import METHODS
from discreet.engines.formats import WRITTEN

if TYPE_CHECKING:
    from discreet.core.release import Release
    from discreet.engines.streams.lines import RecordSource
    from discreet.publish import StreamCondensation

_GROUP = """\b
Examples:
  discreet stream condense --from visits.csv --columns age,weight -k 10 --state state.bin --out pseudo
  discreet stream sample state.bin --out pseudo
  discreet stream merge north.bin south.bin --out both.bin

\b
Each takes --json and --quiet."""
_CONDENSE = """\b
Examples:
  tail -f visits.jsonl | discreet stream condense --input-format jsonl --columns age,weight -k 10 --state state.bin
  discreet stream condense --from visits.csv --columns age,weight --k-column wanted --max-k 50 \\
      --state state.bin --snapshot-every 10000 --out pseudo
  discreet stream condense --kafka localhost:9092 --topic visits --input-format jsonl --columns age,weight -k 10 \\
      --state state.bin

\b
Where the state is there already, the stream goes on from it: a file or a topic from the saved position, a pipe with
what comes. Until init-number records have come they are held in memory, and no state is written."""


_SET_OTHERWISE = ("columns", "allow_unique", "bounds")

_released = in_group(
    "Writing",
    [
        click.option(
            "--format",
            "out_format",
            type=click.Choice(WRITTEN),
            default="csv",
            help="The format of the released rows; csv by default.",
        ),
        options.OVERWRITE,
    ],
)
_SEED = "Repeat an experiment; never for real data: whoever knows or guesses it undoes the draws."


@click.group(cls=CommandGroup, short_help="Condense an endless stream; no record is kept.", epilog=_GROUP)
def stream() -> None:
    """Condense records as they come into statistics of groups."""


@stream.command(
    short_help="Read a stream into a state.",
    epilog=_CONDENSE,
    essentials=(
        "--from", "--kafka", "--topic", "--columns", "-k", "--k-column", "--input-format", "--state", "--records",
        "--out",
    ),
)  # fmt: skip
@click.option(
    "--from",
    "from_",
    type=str,
    metavar="FILE",
    help="A file or a named pipe; - is standard input, the default.",
)
@click.option("--kafka", metavar="HOST:PORT", help="The servers of a Kafka topic, instead of a file.")
@click.option("--topic", metavar="NAME", help="The Kafka topic.")
@click.option(
    "--kafka-config",
    type=options.DATA,
    metavar="FILE",
    help="Settings of the Kafka client, name=value a line, such as sasl.password; never on the command line.",
)
@click.option(
    "--group", default="discreet", metavar="NAME", help="The group of consumers; discreet by default."
)
@click.option(
    "--columns", multiple=True, required=True, metavar="COLUMNS", help="The columns to condense: numbers."
)
@options.allow_unique
@click.option("-k", type=int, help="The privacy level of every record: it is condensed with k − 1 others.")
@click.option("--k-column", metavar="COLUMN", help="The column with each record's own level.")
@click.option("--max-k", type=int, help="Records with a higher level are bad lines.")
@click.option(
    "--input-format",
    "format_",
    type=click.Choice(["csv", "jsonl"]),
    help="How the records are written: by the file's name; csv otherwise.",
)
@click.option(
    "--delimiter", default=",", metavar="CHAR", help="The character between cells of CSV; a comma by default."
)
@click.option(
    "--no-header", is_flag=True, help="CSV without a first line: the columns in order, then the level."
)
@click.option("--skip-bad", is_flag=True, help="Pass over lines that hold no record, and count them.")
@options_of(lambda: [METHODS["stream-condensation"]], without=_SET_OTHERWISE)
@click.option("--state", type=options.DATA, metavar="FILE", help="The state to go on from and to save.")
@click.option(
    "--snapshot-every", type=int, default=10_000, help="Records between two snapshots; 10,000 by default."
)
@click.option("--records", type=int, help="Stop after this many records.")
@click.option("--idle", type=float, metavar="SECONDS", help="Kafka: stop when nothing came for so long.")
@click.option(
    "--out", type=options.DATA, metavar="FOLDER", help="Release as many pseudo-records as came, at the end."
)
@_released
@options.sign
@click.option("--seed", type=click.IntRange(min=0), help=_SEED)
@options.printing
def condense(
    out: Path | None,
    out_format: str,
    overwrite: bool,
    sign: Path | None,
    as_json: bool,
    quiet: bool,
    **values: Any,
) -> None:
    """Read records one batch at a time into the state, and forget them."""
    from discreet.publish.pseudo.stream_running import condense_stream
    from discreet.report.folder import refuse_folder

    _refuse_idle(out, sign, values)
    if out is not None:
        refuse_folder(out, overwrite=overwrite)
    condensation, position = _stream(values)
    source = _source(values, position)
    counts = condense_stream(
        condensation,
        source,
        state=values["state"],
        snapshot_every=values["snapshot_every"],
        records=values["records"],
        idle=values["idle"],
    )
    if not condensation.__sklearn_is_fitted__():
        raise parse.mistake("The stream held no record.")
    release = None
    if out is not None:
        release = condensation.release()
        if values["state"] is not None:
            condensation.save(values["state"], position=_position(values["state"]))
        release.write(out, format=out_format, overwrite=overwrite, sign=sign)
    fields = {"records": counts.records, "skipped": counts.skipped, "snapshots": counts.snapshots}
    files = [path for path in (values["state"], out) if path is not None]
    _print("stream condense", condensation, fields, files, release, as_json=as_json, quiet=quiet)


@stream.command(
    short_help="Draw pseudo-records from a state.",
    epilog="\b\nExample:\n  discreet stream sample state.bin --out pseudo -n 5000",
)
@click.argument("state", type=options.DATA)
@click.option("-n", "n", type=click.IntRange(min=0), help="How many; as many as records came by default.")
@click.option("--out", type=options.DATA, required=True, metavar="FOLDER", help="The folder of the release.")
@_released
@options.sign
@click.option("--seed", type=click.IntRange(min=0), help=_SEED)
@options.printing
def sample(
    state: Path,
    n: int | None,
    out: Path,
    out_format: str,
    overwrite: bool,
    sign: Path | None,
    seed: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Draw pseudo-records from STATE, which stays as it is."""
    from discreet.core.rng import generator
    from discreet.publish import StreamCondensation

    condensation = StreamCondensation.load(state)
    condensation.rng_ = generator(seed)
    release = condensation.release(n)
    release.write(out, format=out_format, overwrite=overwrite, sign=sign)
    _print("stream sample", condensation, {}, [out], release, as_json=as_json, quiet=quiet)


@stream.command(
    short_help="Merge the states of several collectors.",
    epilog="\b\nExample:\n  discreet stream merge north.bin south.bin --out both.bin",
)
@click.argument("states", type=options.DATA, nargs=-1, required=True)
@click.option("--out", type=options.DATA, required=True, metavar="FILE", help="The state to write.")
@options.OVERWRITE_FILE
@options.printing
def merge(states: tuple[Path, ...], out: Path, overwrite: bool, as_json: bool, quiet: bool) -> None:
    """Merge STATES of streams with the same columns into one; they stay as they are."""
    from discreet.engines.atomic import require_free_file
    from discreet.publish import StreamCondensation

    if len({path.resolve() for path in states}) < len(states):
        raise parse.mistake("A state is named twice; its records would count twice.")
    require_free_file(out, *states, overwrite=overwrite)
    first, *others = (StreamCondensation.load(path) for path in states)
    for other in others:
        first.merge(other)
    first.save(out, position=first.position_)
    _print("stream merge", first, {}, [out], as_json=as_json, quiet=quiet)


def _refuse_idle(out: Path | None, sign: Path | None, values: dict[str, Any]) -> None:
    """Refuse options that do not fit together, before anything is read."""
    if (values["kafka"] is None) != (values["topic"] is None):
        raise parse.mistake(
            "A Kafka topic needs its servers and its name.", "--kafka host:9092 --topic visits"
        )
    if values["kafka_config"] is not None and values["kafka"] is None:
        raise parse.mistake("--kafka-config requires --kafka.")
    if values["kafka"] is not None and values["from_"] is not None:
        raise parse.mistake("Read a file or a Kafka topic, not both.")
    if values["state"] is None and out is None:
        raise parse.mistake("Say where the state goes, or the pseudo-records.", "--state state.bin")
    if sign is not None and out is None:
        raise parse.mistake("--sign requires --out.", "--out FOLDER")
    if values["k"] is not None and values["k_column"] is not None:
        raise parse.mistake("Give one level for all or a column of levels, not both.")
    if values["max_k"] is not None and values["k_column"] is None:
        raise parse.mistake("--max-k requires --k-column.")


def _stream(values: dict[str, Any]) -> tuple[StreamCondensation, dict[str, Any]]:
    """Go on from the state where there is one, or begin; return the saved position as well."""
    from discreet.core.errors import SchemaError
    from discreet.publish import StreamCondensation

    columns = parse.names_in(values["columns"])
    named = parameters_of(METHODS["stream-condensation"], values, without=_SET_OTHERWISE)
    named |= {} if values["k"] is None else {"k": values["k"]}
    state = values["state"]
    if state is not None and state.exists():
        condensation = StreamCondensation.load(state)
        if list(condensation.columns or ()) != columns:
            raise SchemaError(f"{state} is the state of a stream with other columns.")
        return condensation.set_params(**named), dict(condensation.position_)
    if values["k"] is None and values["k_column"] is None:
        raise parse.mistake(
            "Say the privacy level: one for all, or the column of each record's own.", "-k 10"
        )
    allowed = parse.names_in(values["allow_unique"])
    condensation = StreamCondensation(
        **named, columns=columns, allow_unique=allowed, random_state=values["seed"]
    )
    return condensation, {}


def _source(values: dict[str, Any], position: dict[str, Any]) -> RecordSource:
    from discreet.engines.formats import ending, format_named
    from discreet.engines.streams.lines import open_lines
    from discreet.engines.streams.records import Records

    path = values["from_"] or "-"
    is_json = ending(Path(path)) in format_named("jsonl").endings
    records = Records(
        parse.names_in(values["columns"]),
        level=values["k_column"],
        format=values["format_"] or ("jsonl" if is_json else "csv"),
        delimiter={"\\t": "\t"}.get(values["delimiter"], values["delimiter"]),
        max_level=values["max_k"],
        bad="skip" if values["skip_bad"] else "refuse",
    )
    if values["kafka"] is None:
        return open_lines(path, records, header=not values["no_header"], position=position)
    from discreet.engines.streams.kafka import KafkaSource, consumer_of, settings_in

    settings = None if values["kafka_config"] is None else settings_in(values["kafka_config"])
    consumer = consumer_of(values["kafka"], values["topic"], values["group"], settings=settings)
    return KafkaSource(consumer, values["topic"], records, position=position)


def _position(state: Path) -> dict[str, Any]:
    from discreet.publish import StreamCondensation

    return dict(StreamCondensation.load(state).position_)


def _print(
    command: str,
    condensation: StreamCondensation,
    counts: dict[str, int],
    files: list[Path],
    release: Release | None = None,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    from discreet.cli._output import plain_verdict, print_result, verdict_lines

    verdict = condensation.guarantee.check(condensation.statistics_)
    groups = condensation.statistics_.n_groups
    written = [str(path) for path in files]
    fields: dict[str, Any] = {
        **plain_verdict(verdict),
        "groups": groups,
        "all_records": condensation.n_records_,
        **counts,
    }
    fields["cautions"] = [] if release is None else [caution.to_dict() for caution in release.cautions]
    read = f"{counts['records']:,} read, {counts['skipped']:,} lines passed over; " if counts else ""
    lines = [
        *verdict_lines(verdict),
        ("", condensation.guarantee.describe()),
        ("", "from the sizes and levels of the groups"),
        ("records", f"{read}{condensation.n_records_:,} in all, in {groups:,} groups"),
        ("written", ", ".join(written)),
    ]
    print_result(command, fields | {"files": written}, lines, ok=verdict.ok, as_json=as_json, quiet=quiet)
