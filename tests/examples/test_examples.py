"""Every example script and every notebook runs, and notebooks are kept with their outputs and plots."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

HERE = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(HERE.glob("*.py"))
NOTEBOOKS = sorted(HERE.glob("*.ipynb"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_runs_and_prints(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.strip()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path, tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    document = nbformat.read(notebook, as_version=4)
    nbformat.validate(document)
    NotebookClient(document, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert any(cell.get("outputs") for cell in document.cells)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_with_outputs_and_a_plot(notebook: Path) -> None:
    """First use (17): notebooks shipped without outputs or any plot."""
    text = notebook.read_text(encoding="utf-8")
    code = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert len(NOTEBOOKS) >= 3
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any(output["output_type"] == "error" for output in outputs)
    assert not any(place in text for place in ("/tmp/", "/home/", "/root/", "iopub"))
    assert len(text) < 600_000


def test_the_list_of_examples_names_each() -> None:
    listed = (HERE / "README.md").read_text(encoding="utf-8")
    assert all(f"`{path.name}`" in listed for path in [*SCRIPTS, *NOTEBOOKS])
