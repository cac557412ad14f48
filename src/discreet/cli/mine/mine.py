"""`discreet mine`: itemsets and rules, of true baskets or of distorted ones."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as gather
from discreet.cli._basket_reading import basket_reading, reading_of
from discreet.core.percentages import percent

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.core.baskets.baskets import Baskets
    from discreet.core.baskets.bits import ItemBits
    from discreet.core.baskets.grouped import GroupedBaskets
    from discreet.mine.itemsets.found import FoundItemsets

_SHOWN = 10
_SHARES = ("confidence", "support", "jaccard", "kulczynski")
_EPILOG = """\b
Examples:
  discreet mine shop.dat --min-support 0.01
  discreet mine shop.dat --min-support 100 --kind closed --out closed.csv
  discreet mine shop.csv --format lines --min-support 0.01 --rules --metric lift --min-threshold 2
  discreet mine release --min-support 0.01
  discreet mine distorted.bits --p 0.5 --q 0.97 --min-support 0.003 --margin 2 --out itemsets.parquet

\b
A support with a point is a share of the baskets (1.0: all), one without is a number of them (1: one)."""


@click.command(short_help="Find itemsets and rules in baskets.", epilog=_EPILOG)
@click.argument("data", type=options.DATA)
@click.option(
    "--min-support", required=True, metavar="SUPPORT", help="The least support: 0.01, or 100 baskets."
)
@click.option(
    "--kind",
    type=click.Choice(["frequent", "closed", "maximal"]),
    help="Which itemsets; all frequent ones by default.",
)
@click.option("--max-length", type=int, metavar="N", help="The most items of a set.")
@click.option("--include", multiple=True, metavar="ITEMS", help="Look only at these items.")
@click.option("--exclude", multiple=True, metavar="ITEMS", help="Leave these items out.")
@click.option("--rules", "as_rules", is_flag=True, help="Give association rules instead of itemsets.")
@click.option(
    "--metric",
    metavar="MEASURE",
    help="The measure of a rule: confidence (the default), lift, leverage, conviction, jaccard, …",
)
@click.option("--min-threshold", type=float, help="The least measure of a rule; 0.8 by default.")
@click.option("--p", type=float, help="The baskets were distorted: the probability that an item held stayed.")
@click.option("--q", type=float, help="The probability that an item not held stayed away.")
@click.option(
    "--margin", type=float, help="Keep what may be frequent: add so many standard errors; 0 by default."
)
@basket_reading
@click.option(
    "--out",
    type=options.DATA,
    metavar="FILE",
    help="Write what was found: .csv, .tsv, .parquet, .arrow or .jsonl.",
)
@click.option("--overwrite", is_flag=True, help="Replace the file that is there.")
@options.printing
def mine(data: Path, as_rules: bool, out: Path | None, as_json: bool, quiet: bool, **given: Any) -> None:
    """Find the itemsets, or the rules, of the baskets in DATA."""
    from discreet.cli._progress import stages
    from discreet.engines.atomic import require_new_file

    _check(given, as_rules)
    if out is not None:
        require_new_file(out, overwrite=given["overwrite"])
    with stages(3, quiet=quiet or as_json) as progress:
        progress("Reading")
        baskets = _read(data, given)
        progress("Mining")
        found = _mined(baskets, given)
        table = _rules(found, given) if as_rules else found.table
        progress("Writing")
        if out is not None:
            _write(table, out)
    metric = given["metric"] or "confidence"
    highest = _highest(found, metric) if as_rules and not table.num_rows else None
    if as_json:
        _print_json(found, table, as_rules, out, highest)
    elif not quiet:
        _print(found, table, metric if as_rules else None, out)
        if as_rules and not table.num_rows:
            _print_none(metric, highest)


def _check(given: dict[str, Any], as_rules: bool) -> None:
    """Refuse options that do not fit together."""
    if (given["p"] is None) != (given["q"] is None):
        raise gather.mistake("Distorted baskets need both probabilities.", "--p 0.5 --q 0.97")
    if given["margin"] is not None and given["p"] is None:
        raise gather.mistake("A margin is for distorted baskets.", "--p 0.5 --q 0.97 --margin 2")
    if given["kind"] is not None and given["p"] is not None:
        raise gather.mistake("--kind is for baskets that were not distorted.")
    if not as_rules and (given["metric"] is not None or given["min_threshold"] is not None):
        raise gather.mistake("A metric and its threshold are for rules.", "--rules")


def _read(data: Path, given: dict[str, Any]) -> Baskets | ItemBits | GroupedBaskets:
    """Read the baskets; bit columns are mined as they lie in their file, a folder is a release of baskets."""
    from discreet.engines.baskets.bits import is_bit_file, read_bits
    from discreet.engines.baskets.files import read_baskets
    from discreet.engines.baskets.published import read_published

    if data.is_dir():
        return read_published(data)

    if given["format_"] in (None, "bits") and data.is_file() and is_bit_file(data):
        return read_bits(data)
    return read_baskets(data, **reading_of(given))


def _mined(baskets: Baskets | ItemBits | GroupedBaskets, given: dict[str, Any]) -> FoundItemsets:
    from discreet.collect import EMask
    from discreet.core.baskets.grouped import GroupedBaskets
    from discreet.mine import Itemsets, MaskedItemsets

    if isinstance(baskets, GroupedBaskets) and given["p"] is not None:
        raise gather.mistake("--p and --q are for distorted baskets; these are published in groups.")
    names = baskets.sensitive_names if isinstance(baskets, GroupedBaskets) else baskets.names
    asked: dict[str, Any] = {
        "max_length": given["max_length"],
        "include": _items(given["include"], names, "--include"),
        "exclude": _items(given["exclude"], names, "--exclude"),
    }
    support = gather.support(given["min_support"])
    if given["p"] is None or isinstance(baskets, GroupedBaskets):
        return Itemsets(support, kind=given["kind"] or "frequent", **asked).mine(baskets)
    channel = EMask(given["p"], given["q"])
    return MaskedItemsets(channel, support, margin=given["margin"] or 0.0, **asked).mine(baskets)


def _rules(found: FoundItemsets, given: dict[str, Any]) -> pa.Table:
    from discreet.mine import rules

    threshold = 0.8 if given["min_threshold"] is None else given["min_threshold"]
    metric = given["metric"] or "confidence"
    table = rules(found, metric=metric, min_threshold=threshold)
    return table.sort_by([(metric, "descending"), ("support", "descending")])


def _highest(found: FoundItemsets, metric: str) -> float | None:
    """Return the highest metric that any rule reaches; None where there is no rule at all."""
    import pyarrow.compute as pc

    from discreet.mine import rules

    every = rules(found, metric=metric, min_threshold=-1e9)
    return pc.max(every[metric]).as_py() if every.num_rows else None


def _print_none(metric: str, highest: float | None) -> None:
    """Print why there are no rules."""
    from discreet.cli._output import number, print_lines

    if highest is None:
        print_lines(
            [("hint", "no itemset has several items, so there is no rule; try a lower --min-support")]
        )
        return
    reached = percent(highest) if metric in _SHARES else number(highest)
    low = math.floor(100 * highest) / 100
    print_lines([("hint", f"the highest {metric} there is: {reached}; try --min-threshold {low:g}")])


def _items(values: tuple[str, ...], names: pa.Array, flag: str) -> list[Any] | None:
    """Read item names; where the baskets' items are numbers, so are these."""
    import pyarrow as pa

    if not values:
        return None
    listed = gather.names_in(values)
    if not pa.types.is_integer(names.type):
        return list(listed)
    try:
        return [int(name) for name in listed]
    except ValueError:
        raise gather.mistake(f"{flag} takes whole numbers, since the items are.") from None


def _write(table: pa.Table, out: Path) -> None:
    """Write the table; text that has no lists gets them as JSON, and JSON, which has no infinity, gets null for it."""
    from discreet.engines.formats import format_of, without_lists
    from discreet.engines.writing import write_frame

    known = format_of(out)
    if known is not None and known.reader in ("text", "sheets"):
        table = without_lists(table)
    elif known is not None and known.reader == "json":
        table = _finite(table)
    write_frame(table, out)


def _finite(table: pa.Table) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            column = table.column(place)
            known = pc.if_else(pc.is_finite(column), column, pa.scalar(None, field.type))
            table = table.set_column(place, field.name, known)
    return table


def _by_length(found: FoundItemsets) -> dict[str, int]:
    """Count the sets of each length."""
    counts = dict.fromkeys(map(str, sorted(set(found.lengths.tolist()))), 0)
    for length in found.lengths.tolist():
        counts[str(length)] += 1
    return counts


def _print_json(
    found: FoundItemsets, table: pa.Table, as_rules: bool, out: Path | None, highest: float | None
) -> None:
    from discreet.cli._output import print_json

    plain: dict[str, Any] = {
        "command": "mine",
        "ok": True,
        "baskets": found.n,
        "itemsets": len(found),
        "by_length": _by_length(found),
        "written": None if out is None else str(out),
    }
    if as_rules:
        plain["rules"] = table.num_rows
        if not table.num_rows:
            plain["highest"] = highest
    print_json(plain | {"top": _top(table, as_rules).to_pylist()})


def _top(table: pa.Table, as_rules: bool) -> pa.Table:
    """Return the rows to show: the rules as they come, the itemsets of several items by their support first."""
    import pyarrow.compute as pc

    if as_rules:
        return table.slice(0, _SHOWN)
    longer = pc.greater(table["length"], 1)
    ordered = table.append_column("longer", longer).sort_by(
        [("longer", "descending"), ("support", "descending")]
    )
    shown: pa.Table = ordered.drop_columns("longer").slice(0, _SHOWN)
    return shown


def _print(found: FoundItemsets, table: pa.Table, metric: str | None, out: Path | None) -> None:
    """Print the number of sets or rules and the first of them; for rules their metric, too."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from discreet.cli._errors import one_line
    from discreet.cli._output import print_lines

    lengths = ", ".join(f"{count:,} of {length}" for length, count in _by_length(found).items())
    lines = [("baskets", f"{found.n:,}"), ("itemsets", f"{len(found):,} {found.kind}: {lengths or 'none'}")]
    as_rules = metric is not None
    lines += [("rules", f"{table.num_rows:,}")] if as_rules else []
    lines += [("unsure", text)] if (text := _unsure(found)) else []
    lines += [] if out is None else [("written", str(out))]
    print_lines(lines)
    if not table.num_rows:
        return
    columns = [name for name in table.column_names if name not in ("length", "representativity")]
    columns = [name for at, name in enumerate(columns) if at < 7 or name == metric] if as_rules else columns
    printed = Table(box=box.SIMPLE_HEAD)
    for name in columns:
        words = name in ("itemsets", "antecedents", "consequents", "frequent", "ill_conditioned")
        printed.add_column(name, overflow="fold", justify="left" if words else "right")
    for row in _top(table, as_rules).select(columns).to_pylist():
        printed.add_row(*(one_line(_cell(row[name])) for name in columns))
    Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 120).print(printed)


def _unsure(found: FoundItemsets) -> str:
    """Return how many estimates are not to be relied on."""
    from discreet.mine.itemsets.masked import FoundMaskedItemsets

    if not isinstance(found, FoundMaskedItemsets) or not len(found):
        return ""
    only_may_be, drowned = int((~found.frequent).sum()), int(found.ill_conditioned.sum())
    return f"{only_may_be:,} only may be frequent, {drowned:,} have an error above half of their support"


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(f'"{name}"' if "," in str(name) else str(name) for name in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}"
