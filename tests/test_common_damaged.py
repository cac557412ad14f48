"""Damaged recipes, models, states, channels and jobs: our error and nothing else, whatever their shape."""

from __future__ import annotations

import contextlib
import copy
import json
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet import Recipe, Table, intervals, masked, quasi, sensitive, tree
from discreet.collect import AdditiveNoise, Channels, Histogram, Laplace, RandomizedResponse, noise_from_dict
from discreet.collect.channels import channels_from_dict
from discreet.core.baskets.row_items import RowItems
from discreet.core.errors import DiscreetError
from discreet.core.hierarchy.specs import spec_from_dict
from discreet.engines.streams.states import read_state, state_to_bytes
from discreet.guarantees import (
    DistinctDiversity,
    KAnonymity,
    RulesHidden,
    TCloseness,
    guarantee_from_dict,
)
from discreet.job import Job
from discreet.mine import ReconstructedNaiveBayes, ReconstructedTree, model_from_dict, model_to_dict
from discreet.publish import Generalization, Mondrian, StreamCondensation

FRAME = pa.table(
    {"age": [20 + i % 9 for i in range(60)], "town": ["Ulm", "Hof", "Kiel"] * 20, "ill": list("abcd") * 15}
)
COLUMNS = {
    "age": quasi(intervals(5, 10)),
    "town": quasi(tree({"s": ["Ulm", "Hof"], "n": ["Kiel"]})),
    "ill": sensitive(),
}
PROMISE = KAnonymity(3) & DistinctDiversity(2, of="ill") & TCloseness(0.9)
BOXES = Mondrian(PROMISE, random_state=1).release(Table(FRAME, COLUMNS))
LEVELS = Generalization(PROMISE, levels={"age": 2, "town": 2}, random_state=1).release(Table(FRAME, COLUMNS))
POINTS = np.random.default_rng(1).normal(size=(60, 2))
CLASSES = np.arange(60) % 2


def _applied(plain: Any) -> None:
    Recipe(plain["public"], plain["private"]).apply(FRAME, random_state=1)


def _job(plain: Any) -> None:
    Job.from_dict(plain).publisher()


JOB = {
    "input": {"path": "a.csv", "delimiter": ",", "text": ["town"], "header": True},
    "columns": {
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}, "weight": 2},
        "town": {"role": "quasi", "hierarchy": {"rows": [["Ulm", "Hof"], ["s", "s"], ["*", "*"]]}},
        "ill": {"role": "sensitive", "ordered": ["a", "b"]},
    },
    "guarantee": [{"kind": "k-anonymity", "k": 3}, {"kind": "t-closeness", "t": 0.3, "of": "ill"}],
    "method": {"name": "mondrian", "strict": True},
    "output": {"folder": "out", "format": "csv", "report": True, "seed": 3},
}
BASKET_JOB = {
    "input": {"path": "a.dat"}, "baskets": {"sensitive": ["a"]}, "guarantee": [{"kind": "privacy-degree", "p": 4}],
    "method": {"name": "cahd", "alpha": 3}, "output": {"folder": "out"},
}  # fmt: skip
HIDING_JOB = {
    "input": {"path": "a.dat"},
    "baskets": {},
    "guarantee": {
        "kind": "rules-hidden",
        "rules": ["a => b"],
        "min_support": 2,
        "min_confidence": 0.5,
        "margin": 0.1,
    },
    "method": {"name": "exact", "time_limit": 3, "objective": "border"},
    "output": {"folder": "out"},
}


def _predicted(plain: Any) -> None:
    model_from_dict(plain).predict(POINTS[:3])


READERS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "boxes": (_applied, {"public": BOXES.recipe, "private": BOXES.private}),
    "levels": (_applied, {"public": LEVELS.recipe, "private": LEVELS.private}),
    "tree": (_predicted, model_to_dict(ReconstructedTree(min_leaf=1).fit(POINTS, CLASSES))),
    "bayes": (
        _predicted,
        model_to_dict(ReconstructedNaiveBayes([AdditiveNoise(Laplace(1.0)), None]).fit(POINTS, CLASSES)),
    ),
    "channels": (
        channels_from_dict,
        Channels(
            {
                "age": AdditiveNoise(Laplace(2.0), low=0, high=9),
                "ill": RandomizedResponse.k_ary(["a", "b"], epsilon=1),
            }
        ).to_dict(),
    ),
    "noise": (noise_from_dict, {"noise": "laplace", "spread": 2.0}),
    "histogram": (Histogram.from_dict, Histogram.of(POINTS[:, 0], width=0.5).to_dict()),
    "guarantee": (guarantee_from_dict, PROMISE.to_dict()),
    "hidden rules": (
        guarantee_from_dict,
        RulesHidden(
            ["a => b", "c"], 2, 0.5, reading=RowItems({"x": 1}, {"x": {"1": "low"}})
        ).to_private_dict(),
    ),
    "hierarchy": (
        lambda plain: spec_from_dict(plain).bind(pa.array(["Ulm"]), column="c"),
        COLUMNS["town"].hierarchy.to_dict(),
    ),
    "masks": (lambda plain: spec_from_dict(plain).bind(pa.array(["Ulm"]), column="c"), masked().to_dict()),
    "bound": (spec_from_dict, COLUMNS["town"].hierarchy.bind(pa.array(["Ulm"]), column="town").to_dict()),
    "job": (_job, JOB),
    "basket job": (_job, BASKET_JOB),
    "hiding job": (_job, HIDING_JOB),
}
JUNK: list[Any] = [
    None, True, -1, 0, 10**30, 1e308, float("nan"), "", "x", [], {}, [[1]], [1, 2, 3], {"x": [None]}, [[], "a"], [None],
    "9" * 6000,
    json.loads("[" * 300 + "]" * 300),
]  # fmt: skip


def _paths(plain: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    inner = (
        plain.items() if isinstance(plain, dict) else enumerate(plain[:3]) if isinstance(plain, list) else ()
    )
    for key, value in inner:
        yield from _paths(value, (*at, key))


def damaged(plain: Any) -> Iterator[Any]:
    """Return the data with each of its parts replaced by junk, one after the other, or left out."""
    plain = json.loads(json.dumps(plain))
    for path in _paths(plain):
        for junk in JUNK:
            made = copy.deepcopy(plain)
            if not path:
                yield junk
                continue
            held = made
            for key in path[:-1]:
                held = held[key]
            held[path[-1]] = junk
            yield made
        if path:
            made = copy.deepcopy(plain)
            held = made
            for key in path[:-1]:
                held = held[key]
            del held[path[-1]]
            yield made


@pytest.mark.parametrize("name", sorted(READERS))
@pytest.mark.filterwarnings("ignore")
def test_a_reader_takes_or_refuses_whatever_it_reads(name: str) -> None:
    read, plain = READERS[name]
    read(json.loads(json.dumps(plain)))
    cases = list(damaged(plain))
    for case in cases[:: max(len(cases) // 600, 1)]:
        if name in ("boxes", "levels") and not (
            isinstance(case, dict) and {"public", "private"} <= set(case)
        ):
            continue
        with contextlib.suppress(DiscreetError):
            read(case)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":' * 100_000,
        "[" * 100_000,
        "9" * 6000,
        '{"format": ' + "9" * 6000 + "}",
        "\ud800".encode("utf-8", "surrogatepass"),
        b"\0",
    ],
)
def test_files_that_are_no_json(tmp_path: Path, text: str | bytes) -> None:
    path = tmp_path / "release.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DiscreetError):
        Recipe.read(path)


def test_states_of_streams(tmp_path: Path) -> None:
    path = tmp_path / "state"
    stream = StreamCondensation(3, init_number=20, random_state=1).fit(POINTS)
    stream.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    stream.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    file = read_state(path)
    cases = list(damaged(dict(file.header)))
    for case in cases[:: max(len(cases) // 400, 1)]:
        try:
            path.write_bytes(state_to_bytes(case, file.arrays))
        except (TypeError, ValueError, AttributeError):
            continue
        with contextlib.suppress(DiscreetError):
            StreamCondensation.load(path).sample(3)
    for name, array in file.arrays.items():
        for wrong in (
            array[:0],
            np.zeros((2, 2)),
            array + 1,
            array.astype(np.float64)[None] * np.nan,
        ):
            path.write_bytes(state_to_bytes(dict(file.header), {**file.arrays, name: np.nan_to_num(wrong)}))
            with contextlib.suppress(DiscreetError):
                StreamCondensation.load(path).sample(3)
