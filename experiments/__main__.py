"""Run experiments: ``python -m experiments [name …]``, all of them without a name."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from discreet.core.errors import DiscreetError
from experiments.running import EXPERIMENTS, perform

USER_ERROR = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiments named, or all; each into a folder of its own."""
    options = _parser().parse_args(arguments)
    for name in options.names or list(EXPERIMENTS):
        try:
            page = perform(name, options.out / name, quick=options.quick, seeds=options.seeds, log=_print)
        except DiscreetError as error:
            sys.stderr.write(f"error: {error}\n")
            return USER_ERROR
        _print(f"written: {page}")
    return 0


def _parser() -> argparse.ArgumentParser:
    listing = "\n".join(f"  {name:14}{about}" for name, about in EXPERIMENTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Make the tables and figures of papers again and lay them beside the published ones.",
        epilog=f"Experiments:\n{listing}\n\nPublic data sets are looked for in the folder that DISCREET_DATA names; "
        "what is not there is skipped.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="The experiments to run; all by default.")
    parser.add_argument("--out", type=Path, default=Path("release/experiments"), help="The folder to write.")
    parser.add_argument("--quick", action="store_true", help="Take smaller data: seconds, not minutes.")
    parser.add_argument("--seeds", type=int, default=3, help="How many seeds to run, for the spread.")
    return parser


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
