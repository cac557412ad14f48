"""Every command and every Python snippet of the README and the documentation runs as it stands, in order."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from tests.docs.inputs import provide, provide_database
from tests.docs.pages import Block, blocks, commands, run_page
from tests.servers import remote

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TO_RUN = [
    page for page in PAGES if any(block.language in ("python", "console", "sh") for block in blocks(page))
]
MOST_NOT_RUN = 20


@pytest.mark.parametrize("page", TO_RUN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_runs_as_it_stands(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text(encoding="utf-8")
    provide(tmp_path, text)
    if "postgresql:///" in text:
        provide_database(tmp_path, monkeypatch)
    if "--engine spark" in text and page.name == "on-a-cluster.md":
        monkeypatch.setenv("SPARK_REMOTE", remote())
    monkeypatch.chdir(tmp_path)
    assert run_page(page) or all(block.why_not_run for block in blocks(page))


def test_few_blocks_are_not_run() -> None:
    left_out = [block for page in PAGES for block in blocks(page) if block.why_not_run]
    assert 0 < len(left_out) <= MOST_NOT_RUN


def test_no_command_hides_in_a_block_without_a_language() -> None:
    for page in PAGES:
        for block in blocks(page):
            if not block.language:
                assert not any(
                    line.lstrip("$ ").startswith(("discreet ", "make ")) for line in block.text.splitlines()
                )


def test_settings_shown_are_toml() -> None:
    shown = [block for page in PAGES for block in blocks(page) if block.language == "toml"]
    assert shown
    for block in shown:
        assert tomllib.loads(block.text)


def test_blocks_are_found_with_their_comments(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- not run: a server -->\n\n```console\n$ a \\\n    b\nsaid\n```\n\ntext\n\n    ```sh\n    c  # d\n    ```\n"
    )
    assert list(blocks(page)) == [
        Block("console", "$ a \\\n    b\nsaid\n", 4, "<!-- not run: a server -->"),
        Block("sh", "c  # d\n", 12, "text"),
    ]
    first, second = blocks(page)
    assert (first.why_not_run, second.why_not_run) == ("a server", None)
    assert (commands(first), commands(second)) == (["a b"], ["c  # d"])


def test_a_failing_command_or_snippet_fails_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for text, error in (
        ("console\n$ discreet check nowhere.csv -k 2", AssertionError),
        ("python\nmissing", NameError),
    ):
        page = tmp_path / "page.md"
        page.write_text(f"```{text}\n```\n")
        with pytest.raises(error):
            run_page(page)


def test_blocks_of_terminals_run_at_the_same_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    block = "<!-- terminal: {} -->\n```console\n$ touch {}; until test -e {}; do sleep 0.05; done\n```\n\n"
    page = tmp_path / "page.md"
    page.write_text(block.format("a", "a", "b") + block.format("b", "b", "a"))
    assert run_page(page) == 2
    page.write_text("<!-- terminal: a -->\n```console\n$ false\n```\n")
    with pytest.raises(AssertionError):
        run_page(page)
