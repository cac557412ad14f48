"""StreamCondensation: condense an endless stream without keeping a record (Aggarwal & Yu, SDM 2005, section 3)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public, reads
from discreet.core.errors import InputError, OutputError, SchemaError
from discreet.core.params import (
    NONE,
    Constraints,
    FloatIn,
    InstanceOf,
    IntIn,
    OneOf,
    check_parameters,
    require,
)
from discreet.core.records.group_statistics import GroupStatistics
from discreet.core.records.vectors import WIDEST
from discreet.core.release import Evidence, Release
from discreet.core.rng import RANDOM_STATE, RandomState, generator, rng_from_plain, rng_to_plain, seed_of
from discreet.core.schema import quasi
from discreet.core.validation import matrix_of
from discreet.engines.streams.kafka import joined_position
from discreet.engines.streams.states import (
    StateFile,
    read_state,
    replace_state,
    state_from_bytes,
    state_to_bytes,
)
from discreet.guarantees import Indistinguishability
from discreet.guarantees.indistinguishability import LARGEST, MEANS
from discreet.measure.tables.risk import refuse_keys
from discreet.publish.pseudo.microaggregation import METHODS, SegmentMethod
from discreet.publish.pseudo.privacy_levels import levels_of
from discreet.publish.pseudo.pseudo_data import SPREADS, Condensed, Spread, bounded, draw, pseudo_release
from discreet.publish.pseudo.stream_state import StreamState
from discreet.publish.pseudo.stream_window import (
    Bounds,
    Names,
    OneLevel,
    Window,
    needs_no_conversion,
    require_enough,
    require_takeable,
    unsaved,
)

_IN_RECIPE = ("init_number", "segment", "split", "spread", "noise", "max_groups")
_WIDEST_WHOLE = 2.0**62
_SAVED = ("k", *_IN_RECIPE, "bounds", "columns", "random_state")


@public
class StreamCondensation(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Condense records as they come, and keep only statistics of groups; the guarantee holds after every record.

    The first ``init_number`` records are condensed together, as `Condensation` does. From then on a record of privacy
    level p joins the group with the nearest mean among those of at least p − 1 records, and is forgotten. A group is
    split in two along its leading eigenvector, as if its records were spread evenly; the halves have the whole's mean
    and covariance together. Since either half may stand for the record with the largest level, each half must have as
    many records as the largest level; ``split="paper"`` splits sooner, by the mean level. Where no group is large
    enough for a record, the groups nearest to it are merged until one is; a record that has a level above the number of
    records so far is refused.

    Records are held in memory only until ``init_number`` of them have come, and such a state can be neither saved nor
    pickled. Afterwards no record is anywhere: the state is as large as its groups, of which there are at most
    ``max_groups``. Nor is the observed range kept, since its ends are somebody's values.

    Parameters
    ----------
    k
        The privacy level of records that come without one of their own: a number, or an `Indistinguishability`.
    init_number
        How many records are condensed together at first; no fewer than the largest level among them.
    segment
        How the first records of one level are grouped; see `Condensation`.
    split
        When a group is divided: ``"safe"`` once each half has as many records as the largest level in the group;
        ``"paper"`` as soon as n ≥ 2·Ps/n, with Ps the sum of the levels. By the paper's rule a half can be smaller than
        a level in it. The paper argues that the record may be in either half; the verdict is "assumed" then, and stays
        so for a state that once split by it.
    spread
        How pseudo-records are spread along an eigenvector: ``"uniform"`` or ``"gaussian"``.
    noise
        The standard deviation of additional Gaussian noise, as a share of each column's own.
    max_groups
        The most groups kept; when there are as many, groups grow and split no more.
    bounds
        The least and the most each column can be, a number or one for each column; pseudo-values beyond are mirrored
        back. Without them nothing is bounded.
    columns
        The names of the columns, where rows come without them.
    allow_unique
        The names of columns of whole numbers that may be different in nearly every record. Others, if at least a
        hundred records show it, are taken for keys and refused when the first records are condensed.
    random_state
        Seeds the first groups and the draws. The generator goes on from sample to sample, and is saved.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(3000, 2)) @ [[2.0, 1.0], [0.0, 1.0]]
    >>> stream = StreamCondensation(10, init_number=500, random_state=0)
    >>> for batch in np.split(X, 30):
    ...     stream = stream.partial_fit(batch)
    >>> stream.n_records_, int(stream.statistics_.n.min()) >= 10
    (3000, True)
    >>> bool(abs(np.corrcoef(stream.sample(2000).T)[0, 1] - np.corrcoef(X.T)[0, 1]) < 0.05)
    True

    The paper's example: levels 2, 2, 2, 3, 5 do not split (5 < 2·14/5); another of level 3 divides them (6 ≥ 2·17/6),
    and a half of three may hold the record that requires five:

    >>> stream = StreamCondensation(init_number=5, split="paper", random_state=0).partial_fit(X[:5], k=[2, 2, 2, 3, 5])
    >>> stream.statistics_.n.tolist(), stream.update(X[5], k=3).statistics_.n.tolist()
    ([5], [3, 3])
    >>> print(stream.guarantee.check(stream.statistics_))
    Indistinguishability(by='mean'): assumed (records to spare 0, required >= -0.5)
    """

    constraints: ClassVar[Constraints] = {
        "k": (IntIn(1), OneLevel()),
        "init_number": IntIn(1),
        "segment": OneOf(METHODS),
        "split": OneOf(("safe", "paper")),
        "spread": OneOf(SPREADS),
        "noise": FloatIn(0),
        "max_groups": IntIn(1),
        "allow_unique": InstanceOf((list, tuple), "a list of names of columns"),
        "random_state": RANDOM_STATE,
    }
    _state: StreamState | None = None
    _window: Window | None = None
    _own_levels: bool = False
    _least_level: int | None = None
    position_: dict[str, Any]

    def __init__(
        self,
        k: int | Indistinguishability = 10,
        *,
        init_number: int = 1000,
        segment: SegmentMethod = "auto",
        split: Literal["safe", "paper"] = "safe",
        spread: Spread = "uniform",
        noise: float = 0.0,
        max_groups: int = 10_000,
        bounds: tuple[Any, Any] | None = None,
        columns: Sequence[str] | None = None,
        allow_unique: Sequence[str] = (),
        random_state: RandomState = None,
    ) -> None:
        self.k = k
        self.init_number = init_number
        self.segment = segment
        self.split = split
        self.spread = spread
        self.noise = noise
        self.max_groups = max_groups
        self.bounds = bounds
        self.columns = columns
        self.allow_unique = allow_unique
        self.random_state = random_state

    @property
    def statistics_(self) -> GroupStatistics:
        """The statistics of the groups as they are now."""
        return self._begun().statistics()

    @property
    def n_records_(self) -> int:
        """How many records have come so far."""
        if self._state is not None:
            return self._state.n_rows
        return 0 if self._window is None else self._window.n_rows

    @property
    def guarantee(self) -> Indistinguishability:
        """The guarantee: every group is at least as large as the largest level in it, or as the mean level.

        It names the least level that was set for all records of a run. Levels that came with the records are data, also
        where all are the same.
        """
        least = None if self._own_levels else self._least_level
        return Indistinguishability(least, by="mean" if self._begun().by_mean else "largest")

    def fit(self, X: Any, y: Any = None, *, k: Any = None) -> StreamCondensation:
        """Begin anew, and take the rows of a matrix as a stream; y is not used."""
        del y
        self._checked()
        lone = k is None and self._level > 1
        values = self._validated(X, reset=True, least=2 if lone else 1)
        levels = self._levels(k, len(values))
        window = Window(min(self.init_number, len(values)), values.shape[1])
        require_takeable(window, levels, len(values))
        self._window, self._state, self._own_levels, self._least_level = window, None, False, None
        self.rng_ = generator(self.random_state, owner=self)
        self._note_level(k)
        self._take(window, values, levels)
        return self

    def partial_fit(self, X: Any, y: Any = None, *, k: Any = None) -> StreamCondensation:
        """Let records join, one row after the other; y is not used.

        Parameters
        ----------
        X
            The records. A batch has the same effect as its rows one by one. Rows that do not fit are refused with the
            whole batch, and the state stays as it was.
        y
            Not used.
        k
            A privacy level for each row, or one for all; the estimator's own by default.
        """
        del y
        state = self._state
        # A matrix that needs no conversion is checked in one pass, without the validation of scikit-learn.
        if state is not None and needs_no_conversion(X, state.n_columns):
            from discreet.kernels.points.streaming import usable

            if usable(X, WIDEST):
                self._join(state, X, self._levels(k, len(X)))
                self._note_level(k)
                return self
        self._checked()
        first = state is None and self._window is None
        values = self._validated(X, reset=first)
        levels = self._levels(k, len(values))
        if state is not None:
            self._join(state, values, levels)
            self._note_level(k)
            return self
        window = self._window or Window(self.init_number, values.shape[1])
        require_takeable(window, levels, len(values))
        if first:
            self.rng_ = generator(self.random_state, owner=self)
            self._window = window
        self._note_level(k)
        self._take(window, values, levels)
        return self

    def update(self, record: Any, *, k: int | None = None) -> StreamCondensation:
        """Let one record join."""
        return self.partial_fit(np.asarray(record, np.float64)[None, :], k=k)

    def initialize(self) -> StreamCondensation:
        """Condense the first records now, though fewer than ``init_number`` have come."""
        if self._window is not None:
            if not self._window.n_rows:
                raise SchemaError("No record has come yet.")
            refuse_keys(self._named(), self._window.values, self.allow_unique)
            statistics, integral = self._window.condensed(method=self.segment, rng=self.rng_)
            self._state = StreamState(
                statistics, integral, max_groups=self.max_groups, by_mean=self.split == "paper"
            )
            self._window = None
        return self

    def roll_back(self, content: bytes | None) -> StreamCondensation:
        """Go back to the bytes of a state file, or to no record; what is not condensed yet is wiped from memory."""
        if self._window is not None:
            self._window.wipe()
        self._window, self._state, self.position_ = None, None, {}
        if content is not None:
            saved = self._of(state_from_bytes(content, display_path=Path("state")), "state")
            self._state, self.rng_, self.position_ = saved._state, saved.rng_, saved.position_
            self._own_levels, self._least_level = saved._own_levels, saved._least_level
        return self

    def merge(self, other: StreamCondensation) -> StreamCondensation:
        """Take in the groups of another collector's stream, which stays as it is.

        Where both say which messages of a topic they counted, ``position_`` says so of both; states that counted a
        message both are refused.
        """
        require(self, "other", other, InstanceOf((StreamCondensation,), "a StreamCondensation"))
        mine, other_state = self._begun(), other._begun()
        if mine.n_columns != other_state.n_columns or _names(self) != _names(other):
            raise SchemaError(
                f"The two streams do not have the same columns: {mine.n_columns} here, {other_state.n_columns} there, "
                "or under other names."
            )
        self.position_ = joined_position(getattr(self, "position_", {}), getattr(other, "position_", {}))
        self._state = mine.merged(other_state, max_groups=self.max_groups)
        self._own_levels |= other._own_levels
        levels = [level for level in (self._least_level, other._least_level) if level is not None]
        self._least_level = min(levels, default=None)
        return self

    def sample(self, n: int | None = None) -> FloatArray:
        """Draw pseudo-rows: as many as records have come, or n."""
        self._checked()
        require(self, "n", n, IntIn(0), NONE)
        state = self._begun()
        statistics = state.statistics()
        count = statistics.n_rows if n is None else int(n)
        condensed = Condensed.of_numbers(statistics, state.scale)
        places = draw(
            condensed,
            count,
            spread=self.spread,
            noise=np.full(statistics.n_columns, self.noise),
            rng=self.rng_,
        ).places
        if self.bounds is None:
            return places
        low, high = (
            np.broadcast_to(np.asarray(end, np.float64), statistics.n_columns) for end in self.bounds
        )
        return bounded(places, low, high)

    def release(self, n: int | None = None) -> Release:
        """Draw pseudo-rows as a release, with the guarantee judged by the groups that were kept."""
        places, names, integral = self.sample(n), self._named(), self._begun().whole
        statistics = self.statistics_
        details = {LARGEST: statistics.largest, MEANS: statistics.levels / statistics.n}
        return pseudo_release(
            self,
            pa.table({name: _cells(places[:, i], bool(integral[i])) for i, name in enumerate(names)}),
            {name: quasi() for name in names},
            Evidence(statistics.n_rows, statistics.n, details=details),
            parameters={"k": self.guarantee.k or "given apart"}
            | {name: getattr(self, name) for name in _IN_RECIPE},
            columns=dict.fromkeys(names, "quasi"),
        )

    def save(self, path: str | os.PathLike[str], *, position: Mapping[str, Any] | None = None) -> Path:
        """Write the state to a file, whole or not at all; ``position`` may say where the stream's reader is."""
        content = self.to_bytes(position)
        self.position_ = dict(position or {})
        replace_state(Path(path), content)
        return Path(path)

    def to_bytes(self, position: Mapping[str, Any] | None = None) -> bytes:
        """Return the bytes of a state file."""
        if self._window is not None:
            raise OutputError(unsaved(self._window.n_rows))
        state = self._begun()
        parameters: dict[str, Any] = {name: getattr(self, name) for name in _SAVED}
        parameters["columns"] = None if self.columns is None else [str(name) for name in self.columns]
        parameters["k"] = self._level
        parameters["random_state"] = seed_of(self.random_state)
        if self.bounds is not None:
            parameters["bounds"] = [np.asarray(end, np.float64).tolist() for end in self.bounds]
        names: Any = getattr(self, "feature_names_in_", None)
        header = {
            "parameters": parameters,
            "names": None if names is None else [str(name) for name in names],
            "rng": rng_to_plain(self.rng_),
            "own_levels": self._own_levels,
            "least_level": self._least_level,
        }
        return state_to_bytes(header | {"position": dict(position or {})}, state.to_arrays())

    @classmethod
    @reads("The state of the stream")
    def load(cls, path: str | os.PathLike[str]) -> StreamCondensation:
        """Read a state file; the stream goes on as if it had never stopped. ``position_`` is what was saved with it."""
        return cls._of(read_state(path), path)

    @classmethod
    def _of(cls, file: StateFile, path: str | os.PathLike[str]) -> StreamCondensation:
        try:
            parameters = dict(file.header["parameters"])
            loaded = cls(**parameters)
            names, position, rng = (file.header[name] for name in ("names", "position", "rng"))
        except (KeyError, TypeError, ValueError):
            raise InputError(f"{path} cannot be read as the state of a stream.") from None
        loaded._checked()
        # Where a state does not say it, levels count as data, which are not named.
        loaded._own_levels = file.header.get("own_levels") is not False
        loaded._state = StreamState.from_arrays(file.arrays)
        # States of earlier versions do not say it; no group was made with less than the largest level in it.
        least = int(loaded.statistics_.largest.min())
        loaded._least_level = file.header.get("least_level", least)
        loaded.rng_ = rng_from_plain(rng)
        loaded.n_features_in_ = loaded._state.n_columns
        loaded.position_ = position
        if names is not None:
            loaded.feature_names_in_ = np.array(names, object)
        return loaded

    def _named(self) -> Sequence[str]:
        """Return the names of the columns, made up where there are none."""
        return _names(self) or [f"column{number + 1}" for number in range(self.n_features_in_)]

    @property
    def _level(self) -> int:
        """The privacy level of records without one of their own."""
        return int(self.k.k if isinstance(self.k, Indistinguishability) else self.k)  # type: ignore[arg-type]

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    def _begun(self) -> StreamState:
        from sklearn.exceptions import NotFittedError

        if self._state is None:
            raise NotFittedError(
                f"This StreamCondensation is not fitted yet: {self.n_records_} records have come, and init_number is "
                f"{self.init_number}."
            )
        return self._state

    def _checked(self) -> None:
        check_parameters(self)
        width = getattr(self, "n_features_in_", None)
        require(self, "bounds", self.bounds, Bounds(width))
        require(self, "columns", self.columns, Names(width))

    def _validated(self, X: Any, *, reset: bool, least: int = 1) -> FloatArray:
        values = matrix_of(self, X, order="C", reset=reset, ensure_min_samples=least)
        if np.abs(values).max() > WIDEST:
            raise SchemaError("X holds numbers too large to be squared; rescale it.")
        return values

    def _note_level(self, k: Any) -> None:
        """Note whose level the records came with that have joined: their own, or the one for all."""
        if k is not None:
            self._own_levels = True
        elif self._least_level is None or self._level < self._least_level:
            self._least_level = self._level

    def _levels(self, k: Any, n: int) -> IntArray:
        """Return the level of each row, or one for all."""
        if k is not None:
            return levels_of(self, k, n)
        check_parameters(self, "k")
        return np.array([min(self._level, 2**62)], np.int64)

    def _take(self, window: Window, values: FloatArray, levels: IntArray) -> None:
        """Fill the window first; once it is full its records are condensed and the rest joins."""
        of_rows = np.broadcast_to(levels, len(values))
        room = window.room
        window.take(values[:room], of_rows[:room])
        if not window.room:
            self.initialize()
            if len(values) > room:
                self._join(self._begun(), values[room:], of_rows[room:].copy())

    def _join(self, state: StreamState, values: FloatArray, levels: IntArray) -> None:
        check_parameters(self, "max_groups", "split")
        require_enough(levels, state.n_rows)
        state.absorb(values, levels, max_groups=self.max_groups, by_mean=self.split == "paper")


def _names(stream: StreamCondensation) -> list[str] | None:
    names: Sequence[str] | None = getattr(stream, "feature_names_in_", stream.columns)
    return None if names is None else [str(name) for name in names]


def _cells(places: FloatArray, integral: bool) -> pa.Array:
    """Return the cells of a column; one that only had whole numbers stays whole."""
    if not integral or np.abs(places).max(initial=0.0) > _WIDEST_WHOLE:
        return pa.array(places)
    return pa.array(np.rint(places).astype(np.int64))
