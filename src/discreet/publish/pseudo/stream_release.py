"""The release of a stream: pseudo-records and the evidence of the groups; the records themselves are gone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray, FloatArray
from discreet.core.release import Evidence, Release
from discreet.core.rng import seed_of
from discreet.core.schema import Schema, quasi
from discreet.guarantees.indistinguishability import LARGEST
from discreet.publish.recipes.recipe import FORMAT

if TYPE_CHECKING:
    from discreet.publish.pseudo.stream_condensation import StreamCondensation

_PARAMETERS = ("init_number", "segment", "spread", "noise", "max_groups")
_WIDEST_WHOLE = 2.0**62


def release_of(
    stream: StreamCondensation, places: FloatArray, names: Sequence[str], whole: BoolArray
) -> Release:
    """Return the release of pseudo-rows; columns that only had whole numbers stay whole."""
    frame = pa.table({name: _cells(places[:, i], bool(whole[i])) for i, name in enumerate(names)})
    statistics = stream.statistics_
    parameters: dict[str, Any] = {"k": stream._level} | {name: getattr(stream, name) for name in _PARAMETERS}
    return Release(
        data=frame,
        kind="pseudo-data",
        schema=Schema({name: quasi() for name in names}),
        guarantee=stream.guarantee,
        evidence=Evidence(statistics.n_rows, statistics.n, details={LARGEST: statistics.largest}),
        recipe={
            "format": FORMAT,
            "method": type(stream).__name__,
            "parameters": parameters,
            "guarantee": stream.guarantee.to_dict(),
            "seed": seed_of(stream.random_state),
            "columns": [{"name": name, "role": "quasi"} for name in names],
        },
    )


def _cells(places: FloatArray, whole: bool) -> pa.Array:
    if not whole or np.abs(places).max(initial=0.0) > _WIDEST_WHOLE:
        return pa.array(places)
    return pa.array(np.rint(places).astype(np.int64))
