"""Reading baskets: a .dat file of 1M baskets (T10.I4.D1M.N1K, 39 MB) within 0.2 s, beside plain Python."""

from __future__ import annotations

import tempfile
from pathlib import Path

from measuring import cpu
from rows import Row, faster, within

NAME = "T10.I4.D1M.N1K"
SEED = 205
LIMIT = 0.2
GENERATED = 2.0


def run() -> list[Row]:
    """Generate the baskets, write them, and read them every way."""
    import discreet
    from discreet.datasets import quest

    with tempfile.TemporaryDirectory() as folder:
        baskets = quest(NAME, random_state=SEED)
        path = discreet.write_baskets(baskets, Path(folder) / "baskets.dat", lossy=True)
        size = f"{path.stat().st_size / 1e6:.0f} MB, {baskets.items.size:,} entries"
        ours = cpu(lambda: discreet.read_baskets(path), times=11, warm=2)
        bits = discreet.write_bits(baskets.bits(), Path(folder) / "baskets.bits")
        return [
            within("reading the .dat file", ours, LIMIT, "s", note=size),
            faster(
                "the same; plain Python, lists of whole numbers",
                ours,
                cpu(lambda: plain(path), times=1, warm=0),
            ),
            within("generating them", cpu(lambda: quest(NAME, random_state=SEED), times=3), GENERATED, "s"),
            measured("writing them", cpu(lambda: write(baskets, path), times=3)),
            measured(
                "mapping their bit file and counting every item", cpu(lambda: discreet.read_bits(bits).counts)
            ),
        ]


def plain(path: Path) -> list[list[int]]:
    """Read the lines as a script would."""
    with path.open() as lines:
        return [[int(item) for item in line.split()] for line in lines]


def write(baskets: object, path: Path) -> None:
    """Write the baskets over the file."""
    import discreet

    discreet.write_baskets(baskets, path, overwrite=True, lossy=True)


def measured(what: str, seconds: float) -> Row:
    """Make a row without a floor."""
    return Row(what, seconds, "s")
