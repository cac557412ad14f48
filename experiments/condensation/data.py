"""The data of the condensation experiment: four UCI sets where they are present, scikit-learn's own in their place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.arrays import FloatArray
from experiments.data_sets import present


@dataclass(frozen=True, repr=False)
class Sample:
    """A data set: its rows and its target. ``within`` is how near a predicted number has to come; None for classes."""

    name: str
    values: FloatArray
    target: Any
    accuracy_figure: int
    within: float | None = None
    substitute: bool = False

    @property
    def counts(self) -> bool:
        """Whether the target is a whole number that is counted, as years are."""
        return self.within is not None and bool((self.target == np.rint(self.target)).all())

    @property
    def described(self) -> str:
        """The set in a few words."""
        kind = "classes" if self.within is None else f"a number, right within {self.within:g}"
        return f"{self.name}: {len(self.values):,} rows, {self.values.shape[1]} columns; target: {kind}"


_PLACES = {
    "ionosphere": Path("ionosphere") / "ionosphere.csv",
    "ecoli": Path("ecoli") / "ecoli.csv",
    "pima": Path("pima") / "pima-indians-diabetes.csv",
    "abalone": Path("abalone") / "abalone.csv",
}
_FIGURES = {"ionosphere": 8, "ecoli": 10, "pima": 12, "abalone": 14}


def samples(data: Path | None) -> list[Sample]:
    """Return the four sets, each from the folder of data sets or one of scikit-learn's in its place."""
    return [_sample(name, data) for name in _PLACES]


def _sample(name: str, data: Path | None) -> Sample:
    path = present(data, _PLACES[name]) or _only(data, name)
    if path is None:
        return _bundled(name)
    cells = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    first = 1 if name == "abalone" else 0  # the sex of a shell is no number
    values = np.array([[float(cell) for cell in row[first:-1]] for row in cells])
    last = [row[-1].strip() for row in cells]
    if name == "abalone":
        return Sample(name, values, np.array(last, np.float64), _FIGURES[name], within=1.0)
    return Sample(name, values, np.unique(last, return_inverse=True)[1], _FIGURES[name])


def _only(data: Path | None, name: str) -> Path | None:
    """Return the only CSV in a set's folder, whatever it is called."""
    others = [] if data is None else list((data / name).glob("*.csv"))
    return others[0] if len(others) == 1 else None


def _bundled(name: str) -> Sample:
    from sklearn import datasets

    loaders: dict[str, tuple[str, Callable[..., Any]]] = {
        "ionosphere": ("breast_cancer", datasets.load_breast_cancer),
        "ecoli": ("wine", datasets.load_wine),
        "pima": ("iris", datasets.load_iris),
        "abalone": ("diabetes", datasets.load_diabetes),
    }
    called, load = loaders[name]
    values, target = load(return_X_y=True)
    within = 50.0 if called == "diabetes" else None
    return Sample(called, np.asarray(values, np.float64), target, _FIGURES[name], within, substitute=True)
