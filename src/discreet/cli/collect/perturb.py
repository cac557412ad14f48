"""`discreet perturb`: hide numbers behind public noise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _noise_options as noise_options
from discreet.cli import _options as options
from discreet.cli import _parse_options as gather
from discreet.core.percentages import percent

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from discreet.collect import Channels

_EPILOG = """\b
Examples:
  discreet perturb people.csv --noise gaussian --privacy 1.0 --columns age --range age=0,100 --out noisy.csv
  discreet perturb people.csv --noise laplace --epsilon 1 --columns age,pay --range age=0,100 \\
      --range pay=0,200000 --out noisy.parquet

\b
Whoever learns from the noisy file must know the noise; discreet reconstruct recovers the distributions."""


@click.command(short_help="Hide numbers behind public noise.", epilog=_EPILOG)
@click.argument("data", type=options.DATA, metavar="FILE")
@click.option("--columns", multiple=True, required=True, metavar="COLUMNS", help="The columns to hide.")
@noise_options.NOISE
@noise_options.PRIVACY
@noise_options.SPREAD
@noise_options.EPSILON
@click.option(
    "--range",
    "ranges",
    multiple=True,
    metavar="COLUMN=LOW,HIGH",
    help="The public range of a column; a value outside is refused.",
)
@click.option(
    "--drop",
    multiple=True,
    metavar="COLUMNS",
    help="Columns to leave out; the others are written as they are.",
)
@click.option("--out", type=options.DATA, required=True, metavar="FILE", help="The file to write.")
@options.KEEP_ORDER
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Repeat an experiment; never for real data: who knows it undoes it.",
)
@click.option("--overwrite", is_flag=True, help="Replace the file that is there.")
@options.spreadsheet_safe
@options.reading
@options.printing
def perturb(data: Path, out: Path, overwrite: bool, as_json: bool, quiet: bool, **params: Any) -> None:
    """Add noise to columns of FILE and write the rows with their noisy numbers, in random order."""
    from discreet.cli._output import plain_cautions
    from discreet.cli._progress import stages
    from discreet.engines.atomic import require_new_file
    from discreet.engines.duckdb.spreadsheet import defused
    from discreet.engines.files import read
    from discreet.job.parse import reading_from

    channels = _channels(params)
    require_new_file(out, overwrite=overwrite)
    with stages(3, quiet=quiet or as_json) as progress:
        progress("Reading")
        relation = read(data, **reading_from(gather.reading(params)))
        kept = _kept(relation, channels, gather.names_in(params["drop"]), data)
        if params["spreadsheet_safe"]:
            kept = defused(kept)
        cautions = [*plain_cautions(kept), *_unique_columns(kept, channels)]
        rows = _examined(relation, channels.channels)
        progress("Adding noise")
        _write(kept, channels, out, params["seed"], keep_order=params["keep_order"])
        progress("Done")
    _print_result(channels, rows, out, params, cautions, as_json=as_json, quiet=quiet)


def _channels(params: dict[str, Any]) -> Channels:
    from discreet.collect import Channels

    names = gather.names_in(params["columns"])
    ranges = noise_options.ranges(params["ranges"])
    idle = [name for name in ranges if name not in names]
    if idle:
        raise gather.mistake(f"--range names column '{idle[0]}', which is not hidden.", "--columns")
    wide = {name: params[name] for name in ("spread", "privacy", "epsilon")}
    return Channels(
        {
            name: noise_options.channel(params["noise"], **wide, ends=ranges.get(name), column=name)
            for name in names
        }
    )


def _kept(
    relation: duckdb.DuckDBPyRelation, channels: Channels, dropped: list[str], data: Path
) -> duckdb.DuckDBPyRelation:
    """Leave columns out, after seeing that all named ones are there and hold numbers."""
    from discreet.core.errors import SchemaError
    from discreet.core.tables.encoding import unpublishable
    from discreet.engines.duckdb.admission import is_unpublishable
    from discreet.engines.duckdb.connection import identifier
    from discreet.engines.files import describe

    types = dict(describe(relation))
    missing = [name for name in (*channels.channels, *dropped) if name not in types]
    if missing:
        raise SchemaError(f"{data} has no column {', '.join(repr(name) for name in missing)}.")
    words = [name for name in channels.channels if not noise_options.holds_numbers(types[name])]
    if words:
        raise SchemaError(f"Column '{words[0]}' must hold numbers to be hidden behind noise.")
    for name, type_ in types.items():
        if name not in dropped and is_unpublishable(type_):
            raise unpublishable(name)
    both = [name for name in dropped if name in channels.channels]
    if both:
        raise gather.mistake(f"Column '{both[0]}' is both hidden and left out.")
    cells = [
        f"CAST({identifier(name)} AS DOUBLE) AS {identifier(name)}"
        if name in channels.channels
        else identifier(name)
        for name in types
        if name not in dropped
    ]
    return relation.project(", ".join(cells))


def _unique_columns(kept: duckdb.DuckDBPyRelation, channels: Channels) -> list[dict[str, object]]:
    """Return cautions about columns without noise that single rows out."""
    from discreet.core.tables.source import source_of
    from discreet.engines.duckdb.connection import identifier
    from discreet.measure.tables.table_cautions import unique_columns

    plain = [name for name in kept.columns if name not in channels.channels]
    if not plain:
        return []
    rows = source_of(kept.project(", ".join(map(identifier, plain))))
    found = unique_columns({name: rows.singletons([name]) for name in plain}, " Leave it out with --drop.")
    return [caution.to_dict() for caution in found]


def _examined(relation: duckdb.DuckDBPyRelation, channels: dict[str, Any]) -> int:
    """Check in one pass that every value can be hidden, before any is written; return the number of rows."""
    from discreet.core.errors import InputError
    from discreet.engines.duckdb.connection import identifier

    aggregates = ["count(*)"]
    for name, channel in channels.items():
        cell = f"CAST({identifier(name)} AS DOUBLE)"
        low = "-1e308" if channel.low is None else repr(float(channel.low))
        high = "1e308" if channel.high is None else repr(float(channel.high))
        aggregates += [
            f"count(*) FILTER (WHERE {cell} IS NULL OR NOT isfinite({cell}))",
            f"count(*) FILTER (WHERE isfinite({cell}) AND ({cell} < {low} OR {cell} > {high}))",
        ]
    rows, *found = relation.aggregate(", ".join(aggregates)).fetchall()[0]
    for place, name in enumerate(channels):
        strange, outside = found[2 * place : 2 * place + 2]
        if strange:
            raise InputError(
                f"{strange} values of '{name}' are null, NaN or infinite; drop or fill them first."
            )
        if outside:
            raise InputError(
                f"{outside} values of '{name}' lie outside the stated range, so noise could not hide them."
            )
    return int(rows)


def _write(
    relation: duckdb.DuckDBPyRelation, channels: Channels, out: Path, seed: int | None, *, keep_order: bool
) -> None:
    """Stream the rows through the channels into the file, in random order unless it is to be kept."""
    import pyarrow as pa

    from discreet.core.errors import DiscreetError
    from discreet.core.rng import generator
    from discreet.engines.duckdb.connection import connect
    from discreet.engines.duckdb.queries import batches, schema_of, shuffled
    from discreet.engines.writing import write_frame

    chance = None if seed is None else generator(seed, owner="perturb")
    if not keep_order:
        secret = (chance or generator(None, owner="perturb")).bytes(32)
        relation = shuffled(relation, int.from_bytes(secret, "little"))
    failed: list[DiscreetError] = []

    def noisy() -> Iterator[pa.RecordBatch]:
        try:
            for batch in batches(relation):
                rows = channels.perturb(pa.Table.from_batches([batch]), random_state=chance)
                yield from rows.cast(schema).to_batches()
        except DiscreetError as error:
            failed.append(error)
            raise

    schema = schema_of(relation)
    reader = pa.RecordBatchReader.from_batches(schema, noisy())
    try:
        write_frame(connect().from_arrow(reader), out)
    except DiscreetError:
        if failed:
            raise failed[0] from None
        raise


def _print_result(
    channels: Channels,
    rows: int,
    out: Path,
    params: dict[str, Any],
    cautions: list[dict[str, object]],
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    from discreet.cli._output import number, print_result

    columns = {name: _plain(channel) for name, channel in channels.channels.items()}
    order = "kept" if params["keep_order"] else "shuffled"
    plain = {
        "rows": rows,
        "order": order,
        "columns": columns,
        "epsilon": channels.epsilon,
        "seeded": params["seed"] is not None,
        "cautions": cautions,
        "file": str(out),
    }
    lines = [
        ("rows", f"{rows:,}"),
        *((name, _described(column)) for name, column in columns.items()),
        ("epsilon", f"{number(channels.epsilon)} for a whole row"),
        ("written", str(out)),
        *options.order_caution(order),
        *([("warning", "seeded: whoever knows the seed can undo this")] if plain["seeded"] else []),
        ("next", "pass the noise to discreet reconstruct"),
    ]
    print_result("perturb", plain, lines, as_json=as_json, quiet=quiet)


def _described(column: dict[str, Any]) -> str:
    privacy = column["privacy"]
    share = "" if privacy is None else f", {percent(privacy)} of the range at 95 % confidence"
    return f"{column['noise']} noise, spread {column['spread']:.6g}{share}"


def _plain(channel: Any) -> dict[str, Any]:
    has_range = channel.low is not None and channel.high is not None
    return {
        **channel.to_dict(),
        "privacy": channel.privacy() if has_range else None,
        "epsilon": channel.epsilon,
    }
