"""The page "What of the papers is here", made from its inventory and the registry: ``python -m tests.docs.papers``."""

from __future__ import annotations

import doctest
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from discreet.core.registry import AUDITORS, GUARANTEES, METHODS, PROTOCOLS, Spec
from discreet.core.spec import Role

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "papers.md"
INVENTORY = Path(__file__).with_name("papers.toml")
PAPERS = {
    "chapter": "C. C. Aggarwal: Data mining: the textbook, chapter 20, Privacy-preserving data mining (2015)",
    "sketches": "C. C. Aggarwal, P. S. Yu: On privacy-preservation of text and sparse binary data with sketches "
    "(SDM 2007)",
    "emask": "S. Agrawal, V. Krishnan, J. R. Haritsa: On addressing efficiency concerns in privacy-preserving mining "
    "(DASFAA 2004)",
    "condensation": "C. C. Aggarwal, P. S. Yu: On variable constraints in privacy preserving data mining (SDM 2005)",
    "cahd": "G. Ghinita, Y. Tao, P. Kalnis: On the anonymization of sparse high-dimensional data (ICDE 2008)",
}
_ROLES: dict[Role, Any] = {"guarantee": GUARANTEES, "auditor": AUDITORS, "protocol": PROTOCOLS}
_HEAD = """# What of the papers is here

The systems, measures, attacks, tables and figures of five papers that are here, with what shows each: the example
in its documentation, a command, or files of an experiment's page (`python -m experiments NAME`; where the public
data sets are absent some are left out). A system or measure is one line, and so are its command and each group of
figures that vary one thing; steps of an algorithm are not counted by themselves.

<!-- Made by `python -m tests.docs.papers` from tests/docs/papers.toml and the registry; tests run each line. -->

"""
_TAIL = """
## What is described there and not here

- **Data.** Yahoo's taxonomy (Text17), the Netflix prize and IMDb are not public: 20 Newsgroups, Reuters' 17 largest
  topics and MovieLens stand in for them. The voter roll is the book's own.
- **Readings that a text leaves open**, each said where it is used: what k-variance compares (three readings, by the
  gap, its root and distances; the last was taken up because it comes nearest to the paper's curves), the patterns
  of figure 6 on band matrices and the error of ±1 of known ratings (both chosen knowing the outcome), and where
  steps of reconstruction stop.
- **Adjusting the border of the miner** (20.4) instead of the data: border-based hiding here changes the data, since
  a data set that is handed over can be mined again by others. To publish patterns alone, mine the hidden data.
- **Bandwidth reduction by A + Aᵀ** (CAHD, III): the paper names it and takes A·Aᵀ, as here.
- **Outliers from noisy values** (20.2.2): the text says that aggregate distributions cannot find them, and nothing
  here claims to.
- **Work that is cited and not described**: compressed long transactions, breaches of single entries (`LocalDP`
  bounds those), dimensionality mapping, indexing documents over a network, proofs of hardness.
"""


@dataclass(frozen=True)
class Line:
    """One thing of a paper: its section, its name here, and one of a command, an experiment or a doctest."""

    paper: str
    section: str
    thing: str
    name: str | None = None
    object: str | None = None
    command: str | None = None
    experiment: str | None = None
    figures: Sequence[str] = ()
    on_data: Sequence[str] = ()

    @property
    def spec(self) -> Spec | None:
        """The entry of the registry, where there is one."""
        if self.name is None:
            return None
        role, _, name = self.name.rpartition(":")
        entries: dict[str, Any] = _ROLES[role] if role else PROTOCOLS | AUDITORS | GUARANTEES | METHODS
        spec: Spec = entries[name]
        return spec

    @property
    def called(self) -> str:
        """The class or function."""
        return self.spec.class_name if self.spec is not None else (self.object or "").rpartition(".")[2]

    @property
    def shown(self) -> str:
        """What shows it, as the page says it."""
        if self.command is not None:
            return f"`{self.command}`"
        if self.experiment is None:
            return "its example"
        names = ", ".join(f"`{name}`" for name in (*self.on_data, *self.figures))
        return f"`python -m experiments {self.experiment}`: {names}"

    def load(self) -> Any:
        """Return the class, function or package."""
        if self.spec is not None:
            return self.spec.load()
        module, _, name = (self.object or "").rpartition(".")
        found = getattr(import_module(module), name, None)
        return import_module(self.object or "") if found is None else found


def lines() -> list[Line]:
    """Return the inventory."""
    inventory = tomllib.loads(INVENTORY.read_text(encoding="utf-8"))
    return [Line(paper, **entry) for paper in PAPERS for entry in inventory[paper]]


def page() -> str:
    """Return the page as it must be."""
    every = lines()
    parts = [_HEAD, f"{len(every)} lines in all.\n"]
    for paper, title in PAPERS.items():
        parts.append(
            f"\n## {title}\n\n| thing | section | name | what it does | shown by |\n|---|---|---|---|---|\n"
        )
        parts.extend(_row(line) for line in every if line.paper == paper)
    parts.append(_TAIL)
    return "".join(parts)


def _row(line: Line) -> str:
    words = (line.load().__doc__ or "").partition("\n")[0] if line.spec is None else line.spec.words
    words = words.rstrip(".")
    cells = (line.thing, line.section, f"`{line.called}`", words, line.shown)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def examples(line: Line) -> Iterator[doctest.DocTest]:
    """Return the doctests of a line's class or function."""
    shown = line.load()
    module = import_module(getattr(shown, "__module__", "discreet"))
    for test in doctest.DocTestFinder(recurse=False).find(shown, line.called, globs=dict(vars(module))):
        if test.examples:
            yield test


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
