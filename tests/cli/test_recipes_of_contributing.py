"""The recipes of CONTRIBUTING, followed to the letter: what is added in one file and one line is there everywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import discreet.guarantees
import discreet.publish.tables
from discreet.core import registry
from discreet.core.outline import outline
from discreet.core.registry import GUARANTEES, METHODS
from discreet.guarantees.registry import guarantee_from_dict
from discreet.job import Job

GUARANTEE = '''"""Rarity: no sensitive value is alone in its class (made up for this test)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet.core.arrays import FloatArray
from discreet.core.guarantee import ColumnNames, SensitiveGuarantee
from discreet.core.params import Constraints, IntIn
from discreet.core.tables.groups import SensitiveCounts


@dataclass(frozen=True, repr=False)
class Rarity(SensitiveGuarantee):
    """Every sensitive value that occurs in a class occurs in it at least ``r`` times.

    Parameters
    ----------
    r
        The least number of rows of a class that share a sensitive value.
    of
        The sensitive column or columns; None means all.
    """

    r: int
    of: str | tuple[str, ...] | None = field(default=None, kw_only=True)

    measured: ClassVar[str] = "count of the rarest value"
    constraints: ClassVar[Constraints] = {"r": IntIn(1), "of": ColumnNames()}

    @property
    def bound(self) -> float:
        """The bound r."""
        return float(self.r)

    def describe(self) -> str:
        """Return the guarantee in one plain sentence."""
        return f"Every value of a class occurs in it at least {self.r} times."

    def _score(self, counts: SensitiveCounts) -> FloatArray:
        return np.minimum.reduceat(counts.counts, counts.indptr[:-1]).astype(np.float64)
'''
PUBLISHER = '''"""Everything in one class (made up for this test)."""

from __future__ import annotations

from typing import ClassVar

from discreet.core.params import BOOL, Constraints, check_parameters
from discreet.core.release import Release
from discreet.core.tables.table import Table
from discreet.guarantees import Guarantee
from discreet.publish.tables.mondrian import Mondrian


class OneClass:
    """Publish all rows as one class.

    Parameters
    ----------
    guarantee
        What the class must keep.
    boasting
        Whether the box is tight around the values.
    """

    constraints: ClassVar[Constraints] = {"boasting": BOOL}

    def __init__(self, guarantee: Guarantee, *, boasting: bool = False) -> None:
        self.guarantee = guarantee
        self.boasting = boasting

    def release(self, table: Table) -> Release:
        """Publish the table."""
        check_parameters(self)
        from discreet.guarantees import KAnonymity

        return Mondrian(self.guarantee & KAnonymity(table.n_rows)).release(table)
'''
ROLES = ("--quasi", "age", "--sensitive", "disease", "--rest", "identifier")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    rows = [f"{age},{disease}" for age in range(20, 60) for disease in ("flu", "cold")]
    path.write_text("age,disease\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def rarity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add a guarantee as CONTRIBUTING says: a file in guarantees/, and one line in the registry."""
    _add(tmp_path, monkeypatch, discreet.guarantees, "rarity", GUARANTEE)
    entry = registry._guarantee("rarity", "rarity:Rarity", "classes")
    monkeypatch.setitem(GUARANTEES, entry.name, entry)
    yield
    outline.cache_clear()


@pytest.fixture
def one_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add a publisher as CONTRIBUTING says: a file in publish/tables/, and one entry in the registry."""
    _add(tmp_path, monkeypatch, discreet.publish.tables, "one_class", PUBLISHER)
    entry = registry._table("one-class", "one_class:OneClass", "publishes all rows as one class")
    monkeypatch.setitem(METHODS, entry.name, entry)
    yield
    outline.cache_clear()


def _add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: object, name: str, text: str) -> None:
    folder = tmp_path / "added"
    folder.mkdir()
    (folder / f"{name}.py").write_text(text)
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])  # type: ignore[attr-defined]


@pytest.mark.usefixtures("rarity")
def test_a_guarantee_has_its_option_with_its_own_words(invoke) -> None:
    for command in ("anonymize", "check", "explore"):
        shown = " ".join(invoke(command, "--help-all").output.split())
        assert "--rarity INTEGER rarity: the least number of rows of a class that share" in shown


@pytest.mark.usefixtures("rarity")
def test_a_guarantee_is_kept_by_every_publisher_for_classes(invoke, people: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    result = invoke(
        "anonymize", people, *ROLES, "-k", 2, "--rarity", 3, "--out", out, "--no-report", "--json"
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["judgment"]["guarantee"] == "KAnonymity(k=2) & Rarity(r=3)"
    assert invoke("check", out).exit_code == 0
    wrong = invoke("anonymize", people, *ROLES, "--rarity", 0, "--out", tmp_path / "no")
    assert "The 'r' parameter of Rarity must be an int in [1, inf). Got 0 instead." in wrong.stderr


@pytest.mark.usefixtures("rarity")
def test_a_guarantee_can_stand_in_a_job_file(people: Path) -> None:
    described = {
        "input": {"path": people, "rest": "identifier"},
        "columns": {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}},
        "guarantee": [{"kind": "rarity", "r": 2}],
    }
    job = Job.from_dict(described)
    assert repr(job.guarantee) == "Rarity(r=2)"
    assert guarantee_from_dict(job.guarantee.to_dict()) == job.guarantee  # type: ignore[union-attr]


@pytest.mark.usefixtures("rarity")
def test_a_guarantee_is_among_what_check_and_explore_judge_by(invoke, people: Path) -> None:
    checked = json.loads(invoke("check", people, *ROLES, "--json").stdout)
    assert {"name": "rarity, r", "column": "disease", "relation": ">=", "worst": 1.0} in checked["measures"]
    assert invoke("check", people, *ROLES, "--rarity", 2).exit_code == 1
    explored = invoke("explore", people, *ROLES, "--hierarchy", "age=intervals:5,10", "--rarity", 2)
    assert explored.exit_code == 0, explored.output
    assert "Rarity(r=2)" in explored.stdout
    assert "--rarity 2" in explored.stdout


@pytest.mark.usefixtures("one_class")
def test_a_publisher_has_its_name_and_its_options(invoke, people: Path, tmp_path: Path) -> None:
    shown = " ".join(invoke("anonymize", "--help-all").output.split())
    assert "one-class" in shown
    assert "--boasting / --no-boasting one-class: whether the box is tight around the values." in shown
    chosen = ("--method", "one-class", "--boasting", "--no-report", "--json")
    result = invoke("anonymize", people, *ROLES, "-k", 5, *chosen, "--out", tmp_path / "release")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["risk"]["after"]["smallest_class"] == 80
    refused = invoke("anonymize", people, *ROLES, "-k", 5, "--boasting", "--out", tmp_path / "no")
    assert "--boasting belongs to one-class." in refused.stderr
    explored = invoke("explore", people, *ROLES, "-k", 5, "--hierarchy", "age=intervals:5,10", "--all")
    assert "one-class" in explored.stdout, explored.output
