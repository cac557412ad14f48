"""The page on the papers is what its inventory and the registry say, and every line of it runs."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
from tests.docs.inputs import provide
from tests.docs.pages import run_command
from tests.docs.papers import PAGE, ROOT, Line, examples, lines, page

from experiments import EXPERIMENTS

LINES = lines()
EXAMPLES = {line.called: line for line in LINES if line.command is None and line.experiment is None}


def names(line: Line) -> str:
    return f"{line.paper}-{line.thing}"


def test_the_page_is_made_from_the_inventory() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.docs.papers makes it again"


def test_no_thing_is_listed_twice() -> None:
    assert len({(line.paper, line.thing) for line in LINES}) == len(LINES)


@pytest.mark.parametrize("line", EXAMPLES.values(), ids=names)
def test_an_example_runs(line: Line) -> None:
    tests = list(examples(line))
    assert tests, f"{line.called} has no example"
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for test in tests:
        runner.run(test)
    assert not runner.failures


@pytest.mark.parametrize("line", [line for line in LINES if line.command], ids=names)
def test_a_command_runs(line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert line.command is not None
    assert line.load() is not None
    provide(tmp_path, line.command)
    monkeypatch.chdir(tmp_path)
    run_command(line.command, line.thing)


@pytest.mark.parametrize("line", [line for line in LINES if line.experiment], ids=names)
def test_an_experiment_has_the_figure(line: Line) -> None:
    assert line.load() is not None
    assert line.experiment in EXPERIMENTS
    sources = (ROOT / "experiments" / line.experiment).glob("*.py")
    assert any(line.figure and line.figure in path.read_text(encoding="utf-8") for path in sources)
