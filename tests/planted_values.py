"""What the check of errors shares: values to plant, good arguments by name, and where an exception could hold one."""

from __future__ import annotations

import functools
import importlib
import inspect
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from sklearn.exceptions import NotFittedError

from discreet import (
    Baskets,
    Recipe,
    Schema,
    Table,
    flat,
    intervals,
    masked,
    quasi,
    sensitive,
)
from discreet.collect import (
    AdditiveNoise,
    Channels,
    CorrelatedNoise,
    Gaussian,
    Laplace,
    Mask,
    RandomizedResponse,
    UnaryResponse,
    Uniform,
)
from discreet.core.errors import DiscreetError, InternalError
from discreet.guarantees import KAnonymity
from discreet.mine import (
    GroupNeighborsClassifier,
    Itemsets,
    ReconstructedTree,
    SketchKMeans,
    SketchNeighbors,
    SketchReconstruction,
)
from discreet.publish import (
    Cahd,
    Condensation,
    DeltaSketch,
    Mondrian,
    OptimalLattice,
    SketchFamily,
    StreamCondensation,
)

PACKAGES = (
    "", ".collect", ".publish", ".mine", ".measure", ".guarantees", ".job", ".report", ".datasets", ".output.audit",
    ".output.hiding", ".parties", ".parties.mining",
)  # fmt: skip
TEXT, NUMBER = "Zyzzogeton-4711", 91827.375
_MARKS = ("Zyzzogeton", "91827")

_RNG = np.random.default_rng(3)
_POINTS = _RNG.normal(size=(40, 2))
_FRAME = pa.table(
    {
        "age": [20 + i % 5 for i in range(40)],
        "zip": [f"021{i % 4}" for i in range(40)],
        "disease": [f"d{i % 3}" for i in range(40)],
    }
)
_COLUMNS = {"age": quasi(intervals(5, 10)), "zip": quasi(masked()), "disease": sensitive()}
_TABLE = Table(_FRAME, _COLUMNS)
_BASKETS = Baskets.from_lists([["a", "b", "s"], ["a", "c"], ["b", "c"], ["a", "b", "c"]] * 10)
_FAMILY = SketchFamily(b"a key of sixteen bytes", components=8)
_SKETCHES = DeltaSketch(0.5, family=_FAMILY).release(np.abs(_POINTS)).data
_RELEASE = Mondrian(KAnonymity(3), random_state=1).release(_TABLE)
_FOUND = Itemsets(0.1).mine(_BASKETS)
_STREAM = StreamCondensation(3, init_number=20, random_state=1).fit(_POINTS)


def planted() -> list[Any]:
    """Forms in which a person's value could come, by mistake or not."""
    texts, numbers = [TEXT, "b"] * 20, [NUMBER, 1.0] * 20
    return [
        TEXT,
        TEXT.encode(),
        NUMBER,
        int(NUMBER),
        [TEXT],
        [[TEXT, 1.0], [2.0, 3.0]],
        [[NUMBER], [1.0, 2.0]],
        {TEXT: TEXT},
        {"age": NUMBER, "format": TEXT},
        np.array([[TEXT, "x"]] * 40),
        np.array([[NUMBER, np.nan]] * 40),
        np.array([[NUMBER + 1j, 0]] * 40),
        np.array([[{TEXT: 1}, None]] * 40, dtype=object),
        pa.array(texts),
        pa.table({"age": texts, "zip": numbers, "disease": texts}),
        pd.DataFrame({"age": texts, "zip": [TEXT, 3] * 20, "disease": [{TEXT}, None] * 20}),
        pl.DataFrame({"age": texts, "zip": numbers, "disease": [[TEXT]] * 40}),
        b"\xff" + TEXT.encode(),
        f"\ud800{TEXT}",
    ]


EXAMPLES: dict[str, Any] = {
    "X": _POINTS, "y": np.arange(40) % 2, "record": _POINTS[0], "data": _POINTS, "frame": _FRAME, "columns": _COLUMNS,
    "table": _TABLE, "guarantee": KAnonymity(2), "levels": 2, "random_state": 1, "baskets": _BASKETS, "k": 2, "l": 2,
    "p": 0.9, "q": 0.8, "m": 2, "t": 0.3, "c": 2.0, "delta": 0.5, "alpha": 0.5, "beta": 2.0, "epsilon": 1.0,
    "noise": Laplace(1.0), "noisy": _POINTS[:, 0], "truth": _POINTS, "original": _POINTS, "pseudo": _POINTS,
    "members": _POINTS, "others": _POINTS, "test": _POINTS, "family": _FAMILY, "rows": np.abs(_POINTS),
    "sketches": _SKETCHES, "labels": np.arange(40) % 2, "key": b"a key of sixteen bytes", "release": _RELEASE,
    "subject": _TABLE, "external": _TABLE, "values": _POINTS[:, 0], "width": 1.0,
    "channels": [AdditiveNoise(Laplace(1.0)), None],
    "start": OptimalLattice(KAnonymity(2)), "found": _FOUND, "itemsets": _FOUND, "true": _FOUND,
    "min_support": 0.1, "channel": Mask(0.9), "groups": _TABLE.groups(), "lists": [["a", "b"], ["c"]],
    "domain": pa.array(["a", "b", "c"]), "categories": ["a", "b", "c"], "covariance": np.eye(2), "value": 1.0,
    "category": "a", "spread": 1.0, "support": 0.1, "supports": [0.1], "n_baskets": 100, "n_items": 3, "items": [0, 1],
    "distorted": Mask(0.9).perturb(_BASKETS, random_state=1), "nested": {"u": ["a"]},
    "plain": {}, "actual": [0.5, 0.5], "estimated": [0.5, 0.5], "matrix": np.eye(3), "target": _POINTS[:, 0],
    "training": np.arange(40) % 2, "predicted": np.arange(40) % 2, "other": _SKETCHES, "low": 0.0, "high": 9.0,
    "parts": (KAnonymity(2),), "population": _TABLE, "sd": 1.0, "scale": 1.0, "half_width": 1.0,
    "schema": Schema(_COLUMNS),
    "released": _RELEASE.table, "at": _POINTS[:, 0], "share": 0.5, "reports": np.array([0, 1, 2]), "n": 5, "length": 8,
    "array": np.abs(_POINTS), "domain_": None, "patients": _FRAME, "array_": None, "codes": np.array([0, 1]),
    "partition": None, "sensitive": ["s"], "wanted": np.array([0]), "intervals": 5, "confidence": 0.9, "span": 1.0,
    "privacy": 1.0, "edges": np.array([0.0, 1.0]), "at_least": 0.5,
}  # fmt: skip
"""Arguments that work, by the name of the parameter."""

CHANGED: dict[str, dict[str, Any]] = {
    "Cahd": {"p": 2},
    "PermMondrian": {"p": 2},
    "PrivacyDegree": {"p": 2},
    "Anatomy": {"sensitive": None},
    "CorrelatedNoise.perturb": {"data": _POINTS, "columns": None},
    "AdditiveNoise.perturb": {"data": _POINTS[:, 0], "columns": None},
    "corrected_moments": {"noisy": _POINTS, "noise": np.eye(2) * 0.1},
    "corrected_regression": {"noisy": _POINTS, "noise": np.eye(2) * 0.1},
    "pca_attack": {"noisy": _POINTS, "noise": 0.1},
    "spectral_attack": {"noisy": _POINTS, "noise": 0.1},
    "KVariance": {"k": 3},
    "Generalization": {"levels": {"age": 1}},
    "EMask": {"p": 0.5, "q": 0.9},
    "closeness_between": {"original": _TABLE, "pseudo": _TABLE},
    "fidelity_between": {"original": _TABLE, "pseudo": _TABLE},
    "loss_between": {"original": _TABLE},
    "membership": {"members": _TABLE, "others": _TABLE, "pseudo": _TABLE},
    "RandomizedResponse.perturb": {"values": ["a", "b"]},
    "UnaryResponse.perturb": {"values": ["a", "b"]},
}
"""Arguments that work in one place only."""


def instances() -> list[Any]:
    """Objects whose methods are called."""
    tree = ReconstructedTree(min_leaf=1).fit(_POINTS, np.arange(40) % 2)
    return [
        _TABLE, _BASKETS, _SKETCHES, _RELEASE, _RELEASE.verdict, _STREAM, _FAMILY, tree,
        Recipe(_RELEASE.recipe, _RELEASE.private),
        Condensation(3, random_state=1).fit(_POINTS), AdditiveNoise(Laplace(1.0)), Mask(0.9), Uniform(1.0),
        Gaussian(1.0),
        Channels({"age": AdditiveNoise(Laplace(1.0))}), CorrelatedNoise(np.eye(2)),
        RandomizedResponse.k_ary(["a", "b", "c"], epsilon=1.0),
        UnaryResponse.optimal(["a", "b", "c"], epsilon=1.0), DeltaSketch(0.5, family=_FAMILY), Mondrian(KAnonymity(2)),
        Cahd(2, sensitive=["s"]), SketchKMeans(2, random_state=1).fit(np.abs(_POINTS)), KAnonymity(2),
        SketchNeighbors(1).fit(np.abs(_POINTS), np.arange(40) % 2), EXAMPLES["found"], Schema(_COLUMNS),
        GroupNeighborsClassifier(Condensation(2, random_state=1)).fit(_POINTS, np.arange(40) % 2),
        SketchReconstruction(_FAMILY, [0, 1]), flat().bind(pa.array(["a", "b"]), column="c"),
    ]  # fmt: skip


def entries() -> dict[str, Any]:
    """Return every function and class that the packages name as public, by its name."""
    found: dict[str, Any] = {}
    for package in PACKAGES:
        module = importlib.import_module(f"discreet{package}")
        found |= {name: getattr(module, name) for name in module.__all__ if callable(getattr(module, name))}
    return found


@functools.cache
def methods() -> dict[str, Callable[..., Any]]:
    """Return the public methods of the instances, by class and name."""
    found: dict[str, Callable[..., Any]] = {}
    for one in instances():
        for name in dir(type(one)):
            member = inspect.getattr_static(type(one), name)
            plain = getattr(member, "__func__", member)
            ours = inspect.isfunction(plain) and inspect.unwrap(plain).__module__.startswith("discreet")
            if not name.startswith("_") and ours:
                found[f"{type(one).__name__}.{name}"] = getattr(one, name)
    return found


def called(
    name: str, entry: Callable[..., Any], argument: str, value: Any, folder: Path
) -> Iterator[tuple[BaseException, str]]:
    """Call an entry with one argument planted; gives what it raised, and each warning, if any."""
    parameters = inspect.signature(entry).parameters
    known = (
        EXAMPLES
        | {"path": folder / "file", "source": folder / "file", "folder": folder / "new"}
        | CHANGED.get(name, {})
    )
    given = {
        one: known.get(one, value)
        for one, parameter in parameters.items()
        if one != argument and parameter.default is parameter.empty and parameter.kind in (1, 3)
    }
    several = next(iter(parameters.values())).kind == 2 if parameters else False
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            if several or argument not in parameters:
                entry(value)
            elif parameters[argument].kind == 4:
                entry(**given, **{argument: value})
            else:
                entry(**given | {argument: value})
        except Exception as error:  # noqa: BLE001  # every kind is looked at
            yield error, name
    yield from ((one.message, name) for one in told if isinstance(one.message, BaseException))


def holds_a_plant(error: BaseException | None) -> bool:
    """Return whether an exception, or anything it refers to, shows what was planted."""
    seen: set[int] = set()
    todo: list[Any] = [error]
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if not isinstance(one, BaseException):
            if any(mark in _shown(one) for mark in _MARKS):
                return True
            continue
        todo += [str(one), *one.args, one.__cause__, one.__context__, *getattr(one, "__notes__", ())]
        todo += [value for key, value in vars(one).items() if key != "__notes__"]
        todo += [
            getattr(one, key, None) for key in ("object", "obj", "doc", "filename", "reason", "msg", "name")
        ]
    return False


def _shown(one: Any) -> str:
    shown = one if isinstance(one, str) else repr(one)
    return shown + (repr(list(one)) if isinstance(one, list | tuple | dict) else "")


def is_ours(error: BaseException) -> bool:
    """Return whether the type is one that users are told of."""
    ours = (DiscreetError, InternalError, NotFittedError, Warning, MemoryError)
    return isinstance(error, ours) or type(error) in (TypeError, AttributeError, ValueError)
