"""The release of a stream: pseudo-records and the evidence of the groups; there is no original to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from discreet.core.arrays import BoolArray, FloatArray
from discreet.core.release import Evidence, Release, write_kept
from discreet.core.rng import seed_of
from discreet.core.schema import Schema, quasi
from discreet.core.tables.table import Table
from discreet.guarantees.indistinguishability import LARGEST
from discreet.publish.recipes.recipe import FORMAT

if TYPE_CHECKING:
    from discreet.publish.pseudo.stream_condensation import StreamCondensation

_PARAMETERS = ("init_number", "segment", "spread", "noise", "max_groups")
_WIDEST_WHOLE = 2.0**62


@dataclass(frozen=True, repr=False)
class StreamRelease(Release):
    """A release whose records are gone: ``original`` has the columns but no row, and nothing is compared with it."""

    def write(
        self,
        folder: str | Path,
        *,
        format: Literal["csv", "tsv", "parquet", "arrow", "jsonl"] = "csv",  # noqa: A002
        report: bool = False,
        overwrite: bool = False,
    ) -> Path:
        """Write ``data.<format>`` and ``release.json`` into a new folder, all or nothing.

        There is no report, whatever is asked: it would compare with records that are gone.
        """
        del report
        return write_kept(self, "write stream release", folder, format=format, overwrite=overwrite)


def release_of(
    stream: StreamCondensation, places: FloatArray, names: Sequence[str], whole: BoolArray
) -> StreamRelease:
    """Make the release of pseudo-rows; columns that have held whole numbers only come back whole."""
    frame = pa.table({name: _cells(places[:, i], bool(whole[i])) for i, name in enumerate(names)})
    schema = Schema({name: quasi() for name in names})
    statistics = stream.statistics_
    parameters: dict[str, Any] = {"k": stream._level} | {name: getattr(stream, name) for name in _PARAMETERS}
    return StreamRelease(
        frame=frame,
        schema=schema,
        guarantee=stream.guarantee,
        evidence=Evidence(
            statistics.n_rows, statistics.n, {}, details={LARGEST: statistics.largest}, pseudo=True
        ),
        recipe={
            "format": FORMAT,
            "method": type(stream).__name__,
            "pseudo": True,
            "parameters": parameters,
            "guarantee": stream.guarantee.to_dict(),
            "seed": seed_of(stream.random_state),
            "columns": [{"name": name, "role": "quasi"} for name in names],
        },
        original=Table(frame.slice(0, 0), schema),
    )


def _cells(places: FloatArray, whole: bool) -> pa.Array:
    if not whole or np.abs(places).max(initial=0.0) > _WIDEST_WHOLE:
        return pa.array(places)
    return pa.array(np.rint(places).astype(np.int64))
