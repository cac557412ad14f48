"""Collection on a cluster: columns and baskets of Spark frames, distorted by the workers, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from discreet.collect.additive_noise import AdditiveNoise
from discreet.collect.multiplicative_noise import LARGEST, LEAST_POSITIVE, MultiplicativeNoise
from discreet.collect.noise import MOST_STEPS
from discreet.collect.secure_random import RowChance, secret_key
from discreet.core.baskets.baskets import Baskets
from discreet.core.baskets.cluster_baskets import ClusterBaskets
from discreet.core.engine import engine_of
from discreet.core.errors import InputError, SchemaError
from discreet.core.rng import RandomState
from discreet.core.validation import refuse_not_finite

if TYPE_CHECKING:
    from discreet.collect.channels import Channels, NoiseChannel
    from discreet.collect.mask import EMask


def perturbed_on_cluster(channels: Channels, frame: Any, random_state: RandomState) -> Any:
    """Return a frame on a cluster with columns hidden behind noise.

    The noise of a row follows from a key, from the row's cells, and from its number among rows with the same cells:
    however often the frame is worked out, and by whichever workers, the row has one noise.
    """
    _check(channels, frame)
    key = secret_key(random_state, owner=channels).tobytes()

    def perturb(rows: pa.Table, places: Sequence[str]) -> tuple[pa.Table, Any]:
        chance = RowChance(key, places)
        wrapped = nw.from_native(rows, eager_only=True)
        columns = {
            name: channels._distorted(wrapped.get_column(name), channel, name, chance)[0].to_numpy()
            for name, channel in channels.channels.items()
        }
        return pa.table(columns), _orders(chance)

    return engine_of(frame).perturbed(frame, list(channels.channels), perturb)


def _check(channels: Channels, frame: Any) -> None:
    """Refuse, before anything is worked out, what the workers would stumble over."""
    engine = engine_of(frame)
    types = engine.value_types(frame)
    ranges = {}
    for name, channel in channels.channels.items():
        if name not in types:
            raise SchemaError(f"The frame has no column '{name}'.")
        if not isinstance(channel, AdditiveNoise | MultiplicativeNoise):
            raise InputError(
                f"'{name}' cannot be hidden on a cluster by {type(channel).__name__}: only numbers, by noise, are "
                "distorted there."
            )
        if types[name] not in ("whole", "real"):
            raise InputError(f"'{name}' must hold numbers to be hidden behind noise.")
        ranges[name] = _range(channel)
    _, counts = engine.outside_counts(frame, ranges)
    for name, (strange, outside) in counts.items():
        refuse_not_finite(strange, f"values of '{name}'")
        if outside:
            raise InputError(
                f"{outside} values of '{name}' lie outside the stated range, or are too large beside the noise to be "
                "hidden by it."
            )


def _range(channel: NoiseChannel) -> tuple[float, float]:
    """Return the ends of the values that a channel hides."""
    if isinstance(channel, MultiplicativeNoise):
        least, most = LEAST_POSITIVE, LARGEST
    else:
        most = float(np.nextafter(MOST_STEPS * channel.noise.grid, 0))
        least = -most
    low = least if channel.low is None else max(channel.low, least)
    return float(low), float(most if channel.high is None else min(channel.high, most))


def flipped_on_cluster(channel: EMask, baskets: ClusterBaskets, random_state: RandomState) -> ClusterBaskets:
    """Return baskets on a cluster with the bits of each flipped by a key of its own."""
    key = secret_key(random_state, owner=channel).tobytes()
    p, q = float(channel.p), float(channel.q)

    def flip(rows: Baskets, places: Sequence[str]) -> tuple[Baskets, Any]:
        from discreet.kernels.baskets.distortion import distort_each

        chance = RowChance(key, places)
        indptr, items = distort_each(rows.indptr, rows.items, rows.n_items, p, q, chance.keys())
        return Baskets(indptr, items, rows.names), _orders(chance)

    return baskets.perturbed(flip, distorted=(p, q))


def _orders(chance: RowChance) -> Any:
    """Return a secret number for each row, by which the rows are put in order."""
    return np.ascontiguousarray(chance.keys()[:, :2]).view(np.int64).ravel()
