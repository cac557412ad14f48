"""The two walks of docs/architecture.md, run and counted: files, calls of what should run once, and modules loaded.

A file is touched where one of its functions runs; what runs only because a module is imported counts too, but neither
the module itself nor the bodies of its classes. ``python tests/walks.py COMMAND …`` counts one command of `discreet`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from inspect import CO_NEWLOCALS, CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import NoReturn

COUNTED = {
    "measure/tables/risk.py": ("risk", "singling_out"),
    "measure/tables/loss.py": ("loss",),
    "measure/tables/prediction.py": ("prediction",),
    "measure/baskets/risk.py": ("basket_risk", "reidentification"),
    "measure/pseudo/copies.py": ("copies",),
    "measure/pseudo/fidelity.py": ("fidelity",),
    "measure/pseudo/closeness.py": ("closeness",),
    "measure/sketches/quality.py": ("distance_error",),
    "measure/spelling.py": ("published_formulas",),
    "mine/itemsets/itemsets.py": ("mine",),
    "output/hiding/quality.py": ("hiding_quality",),
    "engines/files.py": ("read",),
    "engines/writing.py": ("written_cells",),
    "engines/baskets/files.py": ("read_baskets",),
    "engines/baskets/published.py": ("read_published",),
}
"""The functions whose calls are counted, by the file within the package."""


@dataclass(frozen=True)
class Walk:
    """What one command touched."""

    files: list[str]
    loaded: int
    calls: dict[str, int]

    def __str__(self) -> str:
        calls = ", ".join(f"{name} {count}" for name, count in self.calls.items())
        return f"{len(self.files)} files, {self.loaded} modules loaded; calls: {calls}"


def walks() -> dict[str, Walk]:
    """Run both walks in processes of their own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [
            f"{i},{20 + i * 7 % 60},0{2400 + i * 3 % 40},{['flu', 'cold', 'ache'][i % 3]}" for i in range(600)
        ]
        (folder / "patients.csv").write_text("\n".join(["name,age,zip,disease", *rows]) + "\n")
        baskets = [" ".join(str((i * step) % 50 + 1) for step in (1, 7, 11)) for i in range(600)]
        (folder / "baskets.dat").write_text("\n".join(baskets) + "\n")
        table = [
            "patients.csv",
            "--identifier",
            "name",
            "--quasi",
            "age,zip",
            "--sensitive",
            "disease",
            "-k",
            "5",
        ]
        items = ["baskets.dat", "--sensitive-items", "12,47", "-p", "10"]
        return {"a table": _counted(folder, table, "one"), "baskets": _counted(folder, items, "two")}


def _counted(folder: Path, arguments: list[str], out: str) -> Walk:
    command = [sys.executable, str(Path(__file__).resolve()), "anonymize", *arguments, "--out", out, "--json"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(result.stderr)
    return Walk(**json.loads(result.stderr.splitlines()[-1]))


def _count_command(arguments: list[str]) -> NoReturn:
    """Run a command under a profiler, and write what it touched as the last line of the error stream."""
    import discreet
    from discreet.cli import _startup, main

    source = str(Path(discreet.__file__).parent)
    files: set[str] = set()
    calls: Counter[str] = Counter()

    def profile(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        is_function = code.co_flags & (CO_OPTIMIZED | CO_NEWLOCALS) == CO_OPTIMIZED | CO_NEWLOCALS
        if (
            event == "call"
            and is_function
            and code.co_filename.startswith(source)
            and code.co_filename.endswith(".py")
        ):
            name = Path(code.co_filename).relative_to(source).as_posix()
            files.add(name)
            calls[code.co_name] += code.co_name in COUNTED.get(name, ())

    def leave(code: int) -> NoReturn:
        sys.setprofile(None)
        loaded = sum(name.partition(".")[0] == "discreet" for name in sys.modules)
        record = {"files": sorted(files), "loaded": loaded, "calls": {k: n for k, n in calls.items() if n}}
        sys.stderr.write(json.dumps(record) + "\n")
        sys.exit(code)

    _startup.leave = leave
    sys.argv = ["discreet", *arguments]
    sys.setprofile(profile)
    main()


if __name__ == "__main__":
    _count_command(sys.argv[1:])
