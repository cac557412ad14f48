"""Jobs of collection: hide numbers behind noise, flip the bits of baskets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.core.boundary import public
from discreet.core.errors import InputError, OutputError, ParameterError, SchemaError
from discreet.core.figures import Caution
from discreet.core.params import BOOL, NONE, Constraint, Constraints, EachOf, FloatIn, MappingOf, OneOf
from discreet.job.verbs import PATH, SEED, TEXTS, Made, Progress, VerbJob
from discreet.kinds.baskets import BasketKind
from discreet.kinds.tables import TableKind

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from discreet.collect import Channels
    from discreet.collect.channels import NoiseChannel
    from discreet.core.baskets.baskets import Baskets
    from discreet.job.channels.hiding import Hiding

_MOST_NAMED = 8


@public
@dataclass(frozen=True, kw_only=True)
class PerturbJob(VerbJob):
    """Hide columns of a file by public chance, and write the rows in random order.

    Rows are read, hidden and written batch by batch; to swap values all are read. Every value is looked at before any
    is written.

    Parameters
    ----------
    columns
        The columns to hide.
    method
        How: noise on numbers, pram (categories redrawn, their shares kept) or rank-swapping, which guarantees nothing.
    noise
        The kind of noise: uniform, gaussian or laplace.
    spread
        Its half width (uniform), standard deviation (gaussian) or scale (laplace).
    privacy
        In place of it, the width of the 95 % interval as a share of the range; 1.0 is the whole range.
    epsilon
        In place of it, the local differential privacy; laplace, and pram.
    multiplicative
        Multiply values, all above 0, by e to the power of the noise; spread, privacy and ε are then of logarithms.
    ranges
        The public range of columns, as pairs of a lower and a higher number; a value outside is refused.
    redraw
        Pram: the probability that a category is drawn anew by the shares, in place of an ε.
    shares
        Pram: a file of two columns, categories and their shares, which are public anyway; by default they are counted
        in the data, and the matrix shows them.
    window
        Swapping: how far a value may move, as a share of the rows; 0.05 by default.
    within
        Swapping: columns that stay; values are swapped between rows that are equal in all of them.
    drop
        Columns to leave out; the others are written as they are.
    keep_order
        Keep the order of the input; shuffled otherwise, since a place in a list is as good as a name.
    seed
        Repeat an experiment; never for real data: who knows it undoes it.
    spreadsheet_safe
        Put an apostrophe before texts that a spreadsheet would run as a formula.

    Examples
    --------
    >>> job = PerturbJob("people.csv", columns=["age"], noise="laplace", epsilon=1, ranges={"age": (0, 100)})
    >>> job.channels().epsilon <= 1
    True
    """

    columns: Sequence[str]
    method: str = "noise"
    noise: str | None = None
    spread: float | None = None
    privacy: float | None = None
    epsilon: float | None = None
    multiplicative: bool = False
    ranges: Mapping[str, Sequence[float]] = field(default_factory=dict)
    redraw: float | None = None
    shares: Path | None = None
    window: float | None = None
    within: Sequence[str] = ()
    drop: Sequence[str] = ()
    keep_order: bool = False
    seed: int | None = None
    spreadsheet_safe: bool = False

    verb = "perturb"
    stages = ("Reading", "Hiding", "Writing")
    reading_keys: ClassVar[Mapping[str, Constraint]] = TableKind.reading
    output_keys = ("keep_order", "seed", "spreadsheet_safe")
    path_keys = ("shares",)
    constraints: ClassVar[Constraints] = {
        "columns": TEXTS,
        "method": OneOf(("noise", "pram", "rank-swapping")),
        "noise": (OneOf(("uniform", "gaussian", "laplace")), NONE),
        "spread": (FloatIn(), NONE),
        "privacy": (FloatIn(), NONE),
        "epsilon": (FloatIn(), NONE),
        "redraw": (FloatIn(0, 1, closed="neither"), NONE),
        "shares": (PATH, NONE),
        "window": (FloatIn(), NONE),
        "within": TEXTS,
        "multiplicative": BOOL,
        "ranges": MappingOf(
            EachOf(FloatIn(), "two numbers"), "a mapping from columns to a lower and a higher number"
        ),
        "drop": TEXTS,
        "keep_order": BOOL,
        "seed": SEED,
        "spreadsheet_safe": BOOL,
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        self._refuse_others()
        for name, ends in self.ranges.items():
            if len(ends) != 2 or not ends[0] < ends[1]:
                raise ParameterError(f"The range of '{name}' must be a lower and a higher number.")
            if name not in self.columns:
                raise ParameterError(f"There is a range of column '{name}', which is not hidden.")
        for name in self.drop:
            if name in (*self.columns, *self.within):
                raise ParameterError(f"Column '{name}' is both hidden or looked at, and left out.")

    def _refuse_others(self) -> None:
        """Refuse keys of another method, and a noise that is not named."""
        from discreet.job.channels.hiding import HIDINGS

        own = HIDINGS[self.method].own
        for method, hiding in HIDINGS.items():
            for name in hiding.own:
                value = getattr(self, name)
                is_stated = value not in ((), [], {}) and value is not None and value is not False
                if name not in own and is_stated:
                    raise ParameterError(
                        f"'{name}' is for another way to hide columns.", fix={"method": method}
                    )
        if self.method == "noise" and self.noise is None:
            raise ParameterError("The kind of noise is missing.", fix={"noise": "gaussian"})

    def channels(self) -> Channels:
        """Return the channel of each column that noise hides."""
        from discreet.collect import Channels

        return Channels({name: self._channel(name) for name in self.columns})

    def _channel(self, name: str) -> NoiseChannel:
        low, high = self.ranges.get(name, (None, None))
        return channel_of(self, low, high, name)

    def make(self, begin: Progress) -> Made:
        """Return the hidden rows as a stream of record batches, which is gone through once."""
        from discreet.core.engine import engine_of
        from discreet.engines.files import read
        from discreet.job.channels.hiding import HIDINGS
        from discreet.measure.spelling import published_cautions

        hiding = HIDINGS[self.method](self)
        begin("Reading")
        relation = read(self.data, **self.reading)
        engine = engine_of(relation)
        types = engine.value_types(relation)
        self._require_fit(types, hiding)
        numbers = self.columns if self.method == "noise" else ()
        rows = engine.select(relation, [name for name in types if name not in self.drop], numbers=numbers)
        rows = engine.defused(rows) if self.spreadsheet_safe else rows
        exact = [name for name in types if name not in (*self.columns, *self.drop)]
        n_rows = hiding.look_at(relation, engine)
        own = hiding.cautions()
        cautions = [*own, *_exact_columns(exact), *published_cautions(rows), *self._unique_columns(rows)]
        begin("Hiding")
        stream = self._hidden(rows, hiding)
        figures = {
            "method": self.method,
            "rows": n_rows,
            "order": "kept" if self.keep_order else "shuffled",
            **hiding.figures(),
            "exact": exact,
            "seeded": self.seed is not None,
            "cautions": [caution.to_dict() for caution in cautions],
            "file": None if self.out is None else str(self.out),
        }
        return Made("noisy-table", stream, figures, self.written(stream))

    def _require_fit(self, types: Mapping[str, str], hiding: Hiding) -> None:
        """Refuse columns that are not there, hidden ones of the wrong type, and types that cannot be written."""
        from discreet.core.tables.encoding import unpublishable

        require_named_columns(types, [*self.columns, *self.within, *self.drop], self.data)
        for name in self.columns:
            if hiding.fit and types[name] not in hiding.fit:
                raise SchemaError(f"Column '{name}' {hiding.unfit}.")
        for name, type_ in types.items():
            if name not in self.drop and type_ == "nested":
                raise unpublishable(name)

    def _unique_columns(self, rows: Any) -> Sequence[Any]:
        """Return cautions about columns without noise that single rows out."""
        from discreet.core.engine import engine_of
        from discreet.measure.tables.table_cautions import unique_columns

        engine = engine_of(rows)
        others = [name for name in engine.value_types(rows) if name not in self.columns]
        if not others:
            return ()
        source = engine.source(engine.select(rows, others))
        singletons = {name: source.singletons([name]) for name in others}
        return list(unique_columns(singletons, " Leave it out with --drop."))

    def _hidden(self, rows: Any, hiding: Hiding) -> pa.RecordBatchReader:
        """Return the rows with their columns hidden, in random order unless theirs is kept.

        The order is drawn before the noise, so that a seed stands for both.
        """
        import pyarrow as pa

        from discreet.core.engine import engine_of
        from discreet.core.rng import generator

        engine = engine_of(rows)
        chance = _chance(self.seed, "perturb")
        if not self.keep_order:
            secret = (chance or generator(None, owner="perturb")).bytes(32)
            rows = engine.shuffled(rows, int.from_bytes(secret, "little"))
        batches = hiding.stream(rows, engine, chance)
        return pa.RecordBatchReader.from_batches(engine.schema(rows), batches)


def _exact_columns(names: Sequence[str]) -> Iterator[Caution]:
    """Return the caution about columns without noise: no epsilon covers them, and others may know them."""
    if not names:
        return
    listed = ", ".join(f"'{name}'" for name in names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    yield Caution(
        "exact-columns",
        f"{listed}{more}: written exactly as they are. No noise hides them, and no epsilon covers them: who knows "
        "them of a person may find the row. Hide numbers as well, leave columns out with --drop, or anonymize them.",
    )


@public
@dataclass(frozen=True, kw_only=True)
class DistortJob(VerbJob):
    """Flip the bits of baskets, and write the reports in random order.

    Parameters
    ----------
    p
        The probability that an item of the basket is reported.
    q
        The probability that another item is not reported; p by default (MASK).
    items
        The file with the public list of items, one a line. By default it is the items of the baskets, and of an item
        that few hold the list shows that somebody holds it.
    format
        How the baskets are written; by default the ending of the file decides. A long table cannot hold empty baskets.
    keep_order
        Keep the order of the input; shuffled otherwise, since a place in a list is as good as a name.
    seed
        Repeat an experiment; never for real data: who knows it undoes the distortion.
    spreadsheet_safe
        Put an apostrophe before texts that a spreadsheet would run as a formula.

    Examples
    --------
    >>> DistortJob("shop.dat", p=0.5, q=0.97).channel().q
    0.97
    """

    p: float
    q: float | None = None
    items: Path | None = None
    format: str | None = None
    keep_order: bool = False
    seed: int | None = None
    spreadsheet_safe: bool = False

    verb = "distort"
    stages = ("Reading", "Distorting", "Writing")
    reading_keys: ClassVar[Mapping[str, Constraint]] = BasketKind.reading
    output_keys = ("format", "keep_order", "seed", "spreadsheet_safe")
    path_keys = ("items",)
    constraints: ClassVar[Constraints] = {
        "p": FloatIn(0, 1),
        "q": (FloatIn(0, 1), NONE),
        "items": (PATH, NONE),
        "format": OneOf((None, "fimi", "spmf", "lines", "onehot", "bits", "sparse")),
        "keep_order": BOOL,
        "spreadsheet_safe": BOOL,
    }

    def channel(self) -> Any:
        """Return the channel."""
        from discreet.collect import EMask

        return EMask(self.p, self.p if self.q is None else self.q)

    def make(self, begin: Progress) -> Made:
        """Return the distorted baskets, as bit columns where such a file is written."""
        from discreet.core.rng import generator
        from discreet.engines.baskets.bits import write_bits
        from discreet.engines.baskets.files import read_baskets, write_baskets

        channel, form = self.channel(), self._form()
        begin("Reading")
        baskets = self._listed(read_baskets(self.data, **self.reading))
        baskets = baskets.spreadsheet_safe() if self.spreadsheet_safe else baskets
        if not baskets.n_items:
            raise InputError(f"{self.data} holds no items, so there is nothing to distort.")
        begin("Distorting")
        chance = _chance(self.seed, "distort")
        if not self.keep_order:
            order = (chance or generator(None, owner="distort")).permutation(len(baskets))
            baskets = baskets.take(order)
        distorted = channel.perturb(baskets, random_state=chance, as_bits=form == "bits")
        # Items that nobody reported may be missing from the file only where they are rare.
        rare = channel.p + channel.q > 1
        entries = int(distorted.counts.sum() if form == "bits" else distorted.items.size)

        def write(path: Path) -> None:
            if form == "bits":
                write_bits(distorted, path, overwrite=self.overwrite)
            else:
                write_baskets(distorted, path, format=form, overwrite=self.overwrite, lossy=rare)

        return Made(
            "distorted-baskets", distorted, self._figures(channel, baskets, entries), self.written(write)
        )

    def _listed(self, baskets: Baskets) -> Baskets:
        """Return the baskets over the public list of items, where one is named."""
        from discreet.core.baskets.names import names_of

        if self.items is None:
            return baskets
        try:
            lines = Path(self.items).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            raise InputError(f"{self.items} cannot be read as a text file with one item a line.") from None
        names = dict.fromkeys(line.strip() for line in lines if line.strip())
        return baskets.listed(names_of(list(names)).to_pylist() if names else ())

    def _form(self) -> str | None:
        """Return the format to write, before any work is done."""
        from discreet.engines.baskets.files import format_from_name

        if self.format is not None or self.out is None:
            return self.format
        try:
            return format_from_name(self.out)
        except OutputError:
            raise ParameterError(
                f"The ending of {self.out} names no format.", fix={"out_format": "lines"}
            ) from None

    def _figures(self, channel: Any, baskets: Any, entries: int) -> dict[str, Any]:
        from discreet.measure.spelling import published_cautions

        longest, n_items = int(baskets.lengths.max(initial=0)), max(baskets.n_items, 1)
        return {
            "p": channel.p,
            "q": channel.q,
            "baskets": len(baskets),
            "items": baskets.n_items,
            "entries": {"in": int(baskets.items.size), "out": entries},
            "epsilon": {
                "bit": channel.epsilon,
                "record": channel.epsilon_of_record(n_items),
                "longest": longest,
                "record_of_longest": channel.epsilon_of_record(n_items, longest=longest),
            },
            "basic_privacy": {
                "ones": channel.basic_privacy(baskets),
                "ones_by_average_support": channel.average_basic_privacy(baskets),
                "zeros": channel.basic_privacy(baskets, ones=0.0),
            },
            "seeded": self.seed is not None,
            "list": "named" if self.items is not None else "of the baskets",
            "cautions": [
                caution.to_dict() for caution in (*published_cautions(baskets), *self._item_list(baskets))
            ],
            "file": None if self.out is None else str(self.out),
            "order": "kept" if self.keep_order else "shuffled",
        }

    def _item_list(self, baskets: Baskets) -> Iterator[Caution]:
        """Return the caution about items whose being listed shows that somebody holds them."""
        if self.items is not None:
            return
        alone = int((baskets.counts == 1).sum())
        yield Caution(
            "item-list",
            "The list of items is that of the baskets, so the file shows which items are held at all"
            + (f"; {alone:,} of {baskets.n_items:,} items are in one basket only" if alone else "")
            + ". Epsilon holds where the list of items is public: name it with --items.",
            public=False,
        )


def require_named_columns(names: Any, required: Sequence[str], data: Any) -> None:
    """Refuse names of columns that a file does not have."""
    missing = [name for name in required if name not in names]
    if missing:
        raise SchemaError(f"{data} has no column {', '.join(repr(name) for name in missing)}.")


def channel_of(job: Any, low: float | None, high: float | None, column: str) -> NoiseChannel:
    """Return the channel of a column by the keys of a job that name the noise and its width."""
    from discreet.collect.channels import noise_channel

    width = {name: getattr(job, name) for name in ("spread", "privacy", "epsilon")}
    ends = {"low": low, "high": high, "multiplicative": job.multiplicative}
    return noise_channel(job.noise, **width, **ends, column=column)


def _chance(seed: int | None, owner: str) -> np.random.Generator | None:
    """Return the generator of a seed; None draws from the operating system."""
    from discreet.core.rng import generator

    return None if seed is None else generator(seed, owner=owner)
