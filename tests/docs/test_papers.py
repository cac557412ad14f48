"""The page on the papers is what its inventory and the registry say, and every line of it runs."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
from tests.docs.inputs import provide
from tests.docs.pages import run_command
from tests.docs.papers import PAGE, Line, examples, lines, page

from experiments.running import EXPERIMENTS, data_folder, perform

LINES = lines()
EXAMPLES = {line.called: line for line in LINES if line.command is None and line.experiment is None}


def names(line: Line) -> str:
    return f"{line.paper}-{line.thing}"


def test_the_page_is_made_from_the_inventory() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.docs.papers makes it again"


def test_no_thing_is_listed_twice() -> None:
    assert len({(line.paper, line.thing) for line in LINES}) == len(LINES)


def test_a_name_stands_for_one_thing() -> None:
    """Examples run once for each name, and what several lines call so is the same."""
    assert all(line.load() is EXAMPLES[line.called].load() for line in LINES if line.called in EXAMPLES)


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


@pytest.mark.slow
@pytest.mark.parametrize("experiment", sorted({line.experiment for line in LINES if line.experiment}))
def test_an_experiment_makes_every_figure_that_lines_name(experiment: str, tmp_path: Path) -> None:
    """One quick run with one seed shows all lines of an experiment."""
    folder = perform(experiment, tmp_path, quick=True, seeds=1).parent
    for line in LINES:
        if line.experiment != experiment:
            continue
        assert line.load() is not None
        assert line.figures or line.on_data
        for name in (*line.figures, *(line.on_data if data_folder() else ())):
            made = list(folder.glob(name))
            assert made, f"{line.thing}: there is no {name}"
            assert all(path.stat().st_size for path in made)


def test_every_experiment_shows_something() -> None:
    assert {line.experiment for line in LINES if line.experiment} == set(EXPERIMENTS)
