"""The fenced blocks of a page, and how each kind of block is run as it stands."""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from discreet.cli._app import app

NOT_RUN = re.compile(r"<!-- not run: (?P<why>.+?) -->")
TERMINAL = re.compile(r"<!-- terminal: (?P<name>\S+) -->")
FILE = re.compile(r"<!-- file: (?P<name>\S+) -->")
SHELLS = ("console", "sh")


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text without indentation, its first line, and the comment above it."""

    language: str
    text: str
    line: int
    comment: str

    @property
    def why_not_run(self) -> str | None:
        """The reason in the comment above the block, where it must not be run."""
        found = NOT_RUN.fullmatch(self.comment)
        return found and found["why"]

    @property
    def in_terminal(self) -> bool:
        """Whether the block belongs to one of several terminals, whose blocks are run at the same time."""
        return TERMINAL.fullmatch(self.comment) is not None

    @property
    def file(self) -> str | None:
        """The name of the file that the block shows, where the comment above it says so."""
        found = FILE.fullmatch(self.comment)
        return found and found["name"]


def blocks(page: Path) -> Iterator[Block]:
    """Return the fenced blocks of a page in order."""
    above, language, held, start = "", None, [], 0
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = re.match(r"\s*```\s*(\S*)", line)
        if fence and language is None:
            language, held, start = fence[1], [], number + 1
        elif fence:
            yield Block(language or "", textwrap.dedent("\n".join(held)) + "\n", start, above)
            language, above = None, ""
        elif language is not None:
            held.append(line)
        elif line.strip():
            above = line.strip()


def commands(block: Block) -> list[str]:
    """Return the commands of a block for a shell, joined where a backslash continues them, without their output."""
    text = re.sub(r"\\\n\s*", "", block.text)
    lines = [line.strip() for line in text.splitlines()]
    if block.language == "console":
        return [line[2:] for line in lines if line.startswith("$ ")]
    return [line for line in lines if line and not line.startswith("#")]


def run_page(page: Path) -> int:
    """Run every block of a page in the present folder, in order; return how many were run."""
    names: dict[str, Any] = {"__name__": "__page__"}
    n_run = 0
    together: list[Block] = []
    for block in blocks(page):
        if block.in_terminal:
            together.append(block)
            n_run += 1
            continue
        run_terminals(together, page.name)
        together = []
        if block.file is not None:
            Path(block.file).write_text(block.text, encoding="utf-8")
        elif block.why_not_run is not None:
            continue
        elif block.language == "python":
            run_python(block, page, names)
        elif block.language in SHELLS:
            for command in commands(block):
                run_command(command, f"{page.name}:{block.line}")
        else:
            continue
        n_run += 1
    run_terminals(together, page.name)
    return n_run


def run_terminals(together: list[Block], page: str) -> None:
    """Run the blocks of several terminals at the same time, the commands of each one after the other."""

    def run(block: Block) -> None:
        for command in commands(block):
            code, said = _by_shell(command)
            assert code == 0, f"{page}:{block.line}: `{command}` left with {code}:\n{said}"

    if together:
        with ThreadPoolExecutor(len(together)) as pool:
            list(pool.map(run, together))


def run_python(block: Block, page: Path, names: dict[str, Any]) -> None:
    """Run a Python block among the names of its page; a dialog with the interpreter must show what it shows there."""
    if block.text.startswith(">>>"):
        test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line - 1)
        said = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
        runner.run(test, out=said.write, clear_globs=False)
        names.update(test.globs)
        assert not runner.failures, said.getvalue()
        return
    code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, names)


def run_command(command: str, place: str) -> None:
    """Run a command: ours in this process, any other by the shell."""
    words = shlex.split(command, comments=True)
    if words[0] != "discreet" or "|" in words:
        code, said = _by_shell(command)
    else:
        code, said = _here(words[1:])
    assert code == 0, f"{place}: `{command}` left with {code}:\n{said}"


def _here(words: list[str]) -> tuple[int, str]:
    target = None
    if ">" in words:
        words, target = words[: words.index(">")], words[words.index(">") + 1]
    done = CliRunner().invoke(app, words)
    if target is not None:
        Path(target).write_text(done.stdout, encoding="utf-8")
    broken = "" if done.exception is None or isinstance(done.exception, SystemExit) else repr(done.exception)
    return done.exit_code, done.output + broken


def _by_shell(command: str) -> tuple[int, str]:
    ours = f'discreet() {{ "{sys.executable}" -m discreet "$@"; }}; set -o pipefail; '
    done = subprocess.run(
        ["bash", "-c", ours + command],
        capture_output=True,
        text=True,
        env=os.environ,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr
