"""`discreet distort`: flip the bits of baskets, so that nobody's are known for sure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import _options as options
from discreet.cli import _parse_options as gather
from discreet.cli._basket_reading import FORMATS, basket_reading, reading_of

if TYPE_CHECKING:
    import numpy as np

    from discreet.collect import EMask
    from discreet.core.baskets.baskets import Baskets

_EPILOG = """\b
Examples:
  discreet distort shop.dat --p 0.5 --q 0.97 --out distorted.dat
  discreet distort sales.csv --format long --basket receipt --item product --p 0.5 --q 0.97 --out distorted.bits

\b
The miner must know p and q; discreet choose-pq proposes them."""


@click.command(short_help="Flip the bits of baskets.", epilog=_EPILOG)
@click.argument("data", type=options.DATA, metavar="FILE")
@click.option(
    "--p", type=float, required=True, help="The probability that an item of the basket is reported."
)
@click.option(
    "--q", type=float, help="The probability that another item is not reported; p by default (MASK)."
)
@click.option(
    "--out", type=options.DATA, required=True, metavar="FILE", help="The file to write: .dat, .bits, .npz …"
)
@click.option(
    "--out-format",
    type=click.Choice([form for form in FORMATS if form != "long"]),
    help="How to write the baskets; by default the ending decides. A long table cannot hold empty baskets.",
)
@basket_reading
@options.KEEP_ORDER
@click.option(
    "--seed", type=int, help="Repeat an experiment; never for real data: who knows it undoes the distortion."
)
@click.option("--overwrite", is_flag=True, help="Replace the file that is there.")
@options.spreadsheet_safe
@options.printing
def distort(
    data: Path,
    p: float,
    q: float | None,
    out: Path,
    overwrite: bool,
    as_json: bool,
    quiet: bool,
    **params: Any,
) -> None:
    """Report every item of the baskets in FILE with the given probabilities, and write the reports in random order."""
    from discreet.cli._progress import stages
    from discreet.collect import EMask
    from discreet.core.errors import InputError
    from discreet.core.rng import generator
    from discreet.engines.atomic import require_new_file
    from discreet.engines.baskets.files import read_baskets

    channel = EMask(p, p if q is None else q)
    form = params["out_format"] or _format_of(out)
    require_new_file(out, overwrite=overwrite)
    with stages(3, quiet=quiet or as_json) as progress:
        progress("Reading")
        baskets = read_baskets(data, **reading_of(params))
        if params["spreadsheet_safe"]:
            baskets = baskets.spreadsheet_safe()
        if not baskets.n_items:
            raise InputError(f"{data} holds no items, so there is nothing to distort.")
        progress("Distorting")
        chance = None if params["seed"] is None else generator(params["seed"], owner="distort")
        if not params["keep_order"]:
            order = (chance or generator(None, owner="distort")).permutation(len(baskets))
            baskets = baskets.take(order)
        entries = _write(channel, baskets, out, form, chance, progress, overwrite=overwrite)
    order_of = "kept" if params["keep_order"] else "shuffled"
    plain = _plain(channel, baskets, entries, out, params["seed"]) | {"order": order_of}
    _print_result(plain, as_json=as_json, quiet=quiet)


def _format_of(out: Path) -> str:
    """Determine by the ending how to write, before any work is done."""
    from discreet.core.errors import OutputError
    from discreet.engines.baskets.formats import format_from_name

    try:
        return format_from_name(out)
    except OutputError:
        raise gather.mistake(f"The ending of {out} names no format.", "--out-format lines") from None


def _write(
    channel: EMask,
    baskets: Baskets,
    out: Path,
    form: str,
    chance: np.random.Generator | None,
    progress: Any,
    *,
    overwrite: bool,
) -> int:
    """Distort the baskets into the form, and write them; return the number of entries.

    Items that nobody reported may be left out of the file only where they are rare: p + q > 1.
    """
    from discreet.engines.baskets.bits import write_bits
    from discreet.engines.baskets.files import write_baskets

    if form == "bits":
        bits = channel.perturb(baskets, random_state=chance, as_bits=True)
        progress("Writing")
        write_bits(bits, out, overwrite=overwrite)
        return int(bits.counts.sum())
    distorted = channel.perturb(baskets, random_state=chance)
    progress("Writing")
    write_baskets(distorted, out, format=form, overwrite=overwrite, lossy=channel.p + channel.q > 1)
    return int(distorted.items.size)


def _plain(channel: EMask, baskets: Baskets, entries: int, out: Path, seed: int | None) -> dict[str, Any]:
    from discreet.cli._output import plain_cautions

    longest = int(baskets.lengths.max(initial=0))
    return {
        "p": channel.p,
        "q": channel.q,
        "baskets": len(baskets),
        "items": baskets.n_items,
        "entries": {"in": int(baskets.items.size), "out": entries},
        "epsilon": {
            "bit": channel.epsilon,
            "record": channel.epsilon_of_record(max(baskets.n_items, 1)),
            "longest": longest,
            "record_of_longest": channel.epsilon_of_record(max(baskets.n_items, 1), longest=longest),
        },
        "basic_privacy": {
            "ones": channel.basic_privacy(baskets),
            "ones_by_average_support": channel.average_basic_privacy(baskets),
            "zeros": channel.basic_privacy(baskets, ones=0.0),
        },
        "seeded": seed is not None,
        "cautions": plain_cautions(baskets),
        "file": str(out),
    }


def _print_result(plain: dict[str, Any], *, as_json: bool, quiet: bool) -> None:
    from discreet.cli._output import number, print_result

    epsilon, privacy = plain["epsilon"], plain["basic_privacy"]
    bit, record, of_longest = (number(epsilon[name]) for name in ("bit", "record", "record_of_longest"))
    lines = [
        ("baskets", f"{plain['baskets']:,} of {plain['items']:,} items"),
        ("entries", f"{plain['entries']['in']:,} → {plain['entries']['out']:,}"),
        ("epsilon", f"{bit} for one bit; {record} for a whole basket,"),
        ("", f"{of_longest} where no basket may hold more than {epsilon['longest']:,}"),
        ("privacy", f"{privacy['ones']:.1f} % basic privacy of the items in a basket, exactly;"),
        ("", f"{privacy['ones_by_average_support']:.1f} % by the average support, as papers have it"),
        ("written", plain["file"]),
        *options.order_caution(plain["order"]),
        *([("warning", "seeded: whoever knows the seed can undo this")] if plain["seeded"] else []),
        ("next", f"mine it with p = {plain['p']:g} and q = {plain['q']:g}"),
    ]
    print_result("distort", plain, lines, as_json=as_json, quiet=quiet)
