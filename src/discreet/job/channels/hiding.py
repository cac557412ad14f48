"""How columns of a file are hidden: by noise, by post-randomization, or by swapping values between rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.core.errors import InputError, ParameterError, SchemaError
from discreet.core.figures import Caution
from discreet.core.validation import refuse_not_finite
from discreet.job.channels.shares import stated_shares

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from discreet.collect import Channels, Pram
    from discreet.core.arrays import IntArray
    from discreet.core.engine import Engine
    from discreet.job.collecting import PerturbJob

NUMBERS = ("whole", "real")
"""What the values of columns are that noise can hide."""
_MOST_CATEGORIES = 1000


class Hiding(ABC):
    """One way to hide the columns of a job's file; every value is looked at before any is written."""

    own: ClassVar[tuple[str, ...]]
    """The keys that belong to it, beside the columns and what is left out."""
    fit: ClassVar[tuple[str, ...]] = ()
    """What the values of hidden columns must be; anything by default."""
    unfit: ClassVar[str] = ""
    """Why a column of other values is refused, after its name."""

    def __init__(self, job: PerturbJob) -> None:
        self.job = job

    @abstractmethod
    def look_at(self, relation: Any, engine: Engine) -> int:
        """Return the number of rows, after seeing that every value can be hidden."""

    @abstractmethod
    def stream(
        self, rows: Any, engine: Engine, chance: np.random.Generator | None
    ) -> Iterator[pa.RecordBatch]:
        """Return the rows, hidden; without ``chance`` the operating system is drawn from."""

    @abstractmethod
    def figures(self) -> dict[str, Any]:
        """Return what is said of the columns, ``epsilon`` among it."""

    def cautions(self) -> Sequence[Caution]:
        """Return what the columns still reveal."""
        return ()


class ByChannels(Hiding):
    """Each column through a channel of its own, batch by batch."""

    channels: Channels

    def stream(
        self, rows: Any, engine: Engine, chance: np.random.Generator | None
    ) -> Iterator[pa.RecordBatch]:
        """Return the rows through the channels."""
        import pyarrow as pa

        schema = engine.schema(rows)
        for batch in engine.batches(rows):
            hidden = self.channels.perturb(pa.Table.from_batches([batch]), random_state=chance)
            yield from hidden.cast(schema).to_batches()


class ByNoise(ByChannels):
    """Noise of a public distribution on numbers."""

    own = ("noise", "spread", "privacy", "epsilon", "multiplicative", "ranges")
    fit = NUMBERS
    unfit = "must hold numbers to be hidden behind noise"

    def __init__(self, job: PerturbJob) -> None:
        super().__init__(job)
        self.channels = job.channels()

    def look_at(self, relation: Any, engine: Engine) -> int:
        """Return the number of rows, after seeing that noise can hide every value."""
        from discreet.collect.multiplicative_noise import LEAST_POSITIVE, MultiplicativeNoise

        ranges = {name: (channel.low, channel.high) for name, channel in self.channels.channels.items()}  # type: ignore[union-attr]
        for name, channel in self.channels.channels.items():
            if isinstance(channel, MultiplicativeNoise) and channel.low is None:
                ranges[name] = (LEAST_POSITIVE, channel.high)
        n_rows, unfit = engine.outside_counts(relation, ranges)
        for name, (strange, outside) in unfit.items():
            refuse_not_finite(strange, f"values of '{name}'")
            if outside:
                raise InputError(
                    f"{outside} values of '{name}' lie outside the stated range, so noise could not hide them; widen "
                    "the range, or leave the rows out."
                    if ranges[name][0] != LEAST_POSITIVE
                    else f"{outside} values of '{name}' are not above 0, or outside the stated range: no factor hides "
                    "them. Leave the rows out, or add noise in place of multiplying."
                )
        return n_rows

    def figures(self) -> dict[str, Any]:
        """Return the noise of each column, and what that of a row is worth."""
        columns = {name: _noise_figures(channel) for name, channel in self.channels.channels.items()}
        return {"columns": columns, "epsilon": self.channels.epsilon}


class ByRedrawing(ByChannels):
    """Post-randomization of categories, whose shares are stated or counted in the file."""

    own = ("redraw", "epsilon", "shares")
    fit = ("text", "whole", "other")
    unfit = "must hold categories to be redrawn: texts, whole numbers or truth values"

    def __init__(self, job: PerturbJob) -> None:
        super().__init__(job)
        if (job.redraw is None) == (job.epsilon is None):
            raise ParameterError("Say in one way how likely a category is drawn anew.", fix={"redraw": 0.3})
        if job.shares is not None and len(job.columns) != 1:
            raise ParameterError(
                "A file of shares is that of one column; hide the others in a run of their own."
            )
        self.alone: dict[str, int] = {}

    def look_at(self, relation: Any, engine: Engine) -> int:
        """Return the number of rows, after counting the categories of every column."""
        from discreet.collect import Channels

        n_rows, _ = engine.outside_counts(relation, {})
        columns = {}
        for name in self.job.columns:
            categories, counts = engine.value_counts(relation, name)
            n_null = n_rows - int(counts.sum())
            if n_null:
                raise InputError(f"{n_null} values of '{name}' are null; drop or fill them first.")
            self.alone[name] = int((counts == 1).sum())
            columns[name] = self._channel(name, categories, counts)
        self.channels = Channels(columns)
        return n_rows

    def _channel(self, name: str, values: pa.Array, counts: IntArray) -> Pram:
        """Return the matrix of a column, from stated shares or from its own counts."""
        import pyarrow as pa

        from discreet.collect import Pram
        from discreet.collect.category_estimates import codes_of

        kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_boolean)
        if not any(kind(values.type) for kind in kinds):
            raise SchemaError(f"Column '{name}' {self.unfit}.")
        categories, shares = values.to_pylist(), counts.tolist()
        if self.job.shares is not None:
            categories, shares = stated_shares(Path(self.job.shares), values.type)
            codes_of(values, categories, column=name)
        if not 2 <= len(categories) <= _MOST_CATEGORIES:
            raise SchemaError(
                f"Column '{name}' has {len(categories):,} categories; post-randomization takes 2 to "
                f"{_MOST_CATEGORIES:,}. Leave it out, or join categories."
            )
        if self.job.epsilon is not None:
            return Pram.keeping(categories, shares, epsilon=self.job.epsilon)
        return Pram(categories, shares, redraw=float(self.job.redraw or 0.0))

    def figures(self) -> dict[str, Any]:
        """Return each matrix, and how much of a value it leaves."""
        columns = {name: _pram_figures(channel) for name, channel in self.channels.channels.items()}
        return {"columns": columns, "epsilon": self.channels.epsilon}

    def cautions(self) -> Sequence[Caution]:
        """Return that shares counted in the file are exact."""
        if self.job.shares is not None:
            return ()
        return [
            Caution(
                "exact-shares",
                f"The shares of {name} were counted in this file, and whoever has the matrix has them exactly"
                + (f"; {alone:,} of its categories are of one row each" if alone else "")
                + ". Epsilon is that of a value for a given matrix. Name shares that are public anyway with --shares.",
                public=False,
            )
            for name, alone in self.alone.items()
        ]


class BySwapping(Hiding):
    """Values swapped between rows of near rank; nothing is guaranteed."""

    own = ("window", "within")

    def __init__(self, job: PerturbJob) -> None:
        super().__init__(job)
        from discreet.collect import RankSwapping

        window = {} if job.window is None else {"window": job.window}
        self.swapping = RankSwapping(list(job.columns), **window, within=tuple(job.within))
        self.private: dict[str, Any] = {}

    def look_at(self, relation: Any, engine: Engine) -> int:
        """Return the number of rows."""
        n_rows, _ = engine.outside_counts(relation, {})
        if n_rows < 2:
            raise InputError(f"Swapping needs two rows at least, and the file has {n_rows}.")
        return n_rows

    def stream(
        self, rows: Any, engine: Engine, chance: np.random.Generator | None
    ) -> Iterator[pa.RecordBatch]:
        """Return the rows with swapped values, all in memory, and measure an attack on them before and after."""
        from discreet.measure import record_linkage

        before = engine.arrow(rows)
        after = self.swapping.perturb(before, random_state=chance).cast(before.schema)
        known = {"on": list(self.job.columns), "within": list(self.job.within)}
        self.private = {
            "changed": self.swapping.changed(before, after),
            "known": [*self.job.columns, *self.job.within],
            "before": record_linkage(before, before, **known).to_dict(),
            "after": record_linkage(before, after, **known).to_dict(),
        }
        return iter(after.to_batches())

    def figures(self) -> dict[str, Any]:
        """Return what was swapped, without an epsilon, and for the owner what an attacker still finds."""
        columns = {name: {"swapped": True, "window": self.swapping.window} for name in self.job.columns}
        return {"columns": columns, "within": list(self.job.within), "epsilon": None, "private": self.private}

    def cautions(self) -> Sequence[Caution]:
        """Return that nothing is guaranteed."""
        return [
            Caution(
                "no-guarantee",
                f"Swapping guarantees nothing: every value of {', '.join(self.job.columns)} is still in the file, so a "
                "rare one shows that somebody has it, and it is near the rank where it was. Generalize with "
                "a guarantee where people must be protected.",
                public=True,
            )
        ]


def _noise_figures(channel: Any) -> dict[str, Any]:
    has_range = channel.low is not None and channel.high is not None
    return {
        **channel.to_dict(),
        "privacy": channel.privacy() if has_range else None,
        "epsilon": channel.epsilon,
    }


def _pram_figures(channel: Any) -> dict[str, Any]:
    """Return the matrix; by its invariance a published category is the true one as often as a true one stays."""
    stays = channel.matrix.diagonal()
    return {
        **channel.to_dict(),
        "epsilon": channel.epsilon,
        "redraw": channel.redraw,
        "unchanged": float(stays @ channel.shares),
        "highest_belief": float(stays.max()),
    }


HIDINGS: Mapping[str, type[Hiding]] = {"noise": ByNoise, "pram": ByRedrawing, "rank-swapping": BySwapping}
"""The ways to hide columns, by their names."""
