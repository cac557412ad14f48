"""Run experiments: ``python -m discreet.experiments [name …]``, all of them without a name."""

from __future__ import annotations

import sys
from pathlib import Path

from discreet.core.errors import DiscreetError
from discreet.experiments.running import EXPERIMENTS, perform


def main(names: list[str]) -> int:
    """Run the experiments named, or all; each into a folder of its own."""
    for name in names or list(EXPERIMENTS):
        try:
            page = perform(name, Path("release") / "experiments" / name, log=_print)
        except DiscreetError as error:
            sys.stderr.write(f"error: {error}\n")
            return 2
        _print(f"written: {page}")
    return 0


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
