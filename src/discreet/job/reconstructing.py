"""The job of reconstruction: the distribution of true values, from a file of noisy ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.core.boundary import public
from discreet.core.errors import InputError, OutputError, ParameterError, SchemaError
from discreet.core.params import BOOL, NONE, POSITIVE, Constraint, Constraints, FloatIn, InstanceOf, OneOf
from discreet.job.channels.hiding import NUMBERS
from discreet.job.collecting import channel_of, require_named_columns
from discreet.job.learning import plain_of
from discreet.job.verbs import PATH, SEED, TEXT, Made, Progress, VerbJob
from discreet.kinds.tables import TableKind

if TYPE_CHECKING:
    from discreet.core.arrays import FloatArray


@public
@dataclass(frozen=True, kw_only=True)
class ReconstructJob(VerbJob):
    """Recover the distribution of a column's true values from a file of hidden ones, in memory that does not grow.

    What hid them is stated by its parts, or by the channels that were printed when they were hidden.

    Parameters
    ----------
    column
        The column of noisy numbers, or of categories reported at random.
    channels
        In place of the noise, how columns were hidden: plain data by column, or a file of it, JSON or TOML.
    by
        Of categories: another column, for each of whose values the shares are recovered.
    noise
        The kind of noise: uniform, gaussian or laplace.
    spread
        Its half width (uniform), standard deviation (gaussian) or scale (laplace).
    privacy
        In place of it, the width of the 95 % interval as a share of the range; 1.0 is the whole range.
    epsilon
        In place of it, the local differential privacy; laplace only.
    multiplicative
        The values were multiplied by e to the power of the noise; spread, privacy and ε are those of logarithms.
    low, high
        The range of the true values, where it is known.
    intervals
        How many intervals there are.
    method
        The steps of expectation maximization (em), or those of Bayes' rule as first published (bayes); a kernel density
        of numbers (kernel); the inverse matrix of categories (inverse), which is unbiased and may fall below 0.
    stop
        The rule that ends the steps.
    tolerance
        The threshold of that rule.
    max_steps
        The most steps.
    bandwidth
        How far a kernel density smooths: a number, silverman or cv.
    band
        Also a confidence band, such as 0.95.
    seed
        Make the band repeatable.
    picture
        A file for a picture of the density: .html, .svg, .png or .json.

    Examples
    --------
    >>> job = ReconstructJob("noisy.csv", column="age", noise="gaussian", spread=12, low=0, high=100)
    >>> job.reconstruction().intervals
    50
    """

    column: str
    channels: Path | Mapping[str, Any] | None = None
    by: str | None = None
    noise: str | None = None
    spread: float | None = None
    privacy: float | None = None
    epsilon: float | None = None
    multiplicative: bool = False
    low: float | None = None
    high: float | None = None
    intervals: int = 50
    method: str = "em"
    stop: str = "chi2"
    tolerance: float | None = None
    max_steps: int = 5_000
    bandwidth: str | float = "silverman"
    band: float | None = None
    seed: int | None = None
    picture: Path | None = None

    verb = "reconstruct"
    stages = ("Counting", "Reconstructing", "Writing")
    reading_keys: ClassVar[Mapping[str, Constraint]] = TableKind.reading
    output_keys = ("picture",)
    path_keys = ("picture", "channels")
    constraints: ClassVar[Constraints] = {
        "column": TEXT,
        "channels": (PATH, InstanceOf((Mapping,), "a table for each hidden column"), NONE),
        "by": (TEXT, NONE),
        "noise": (OneOf(("uniform", "gaussian", "laplace")), NONE),
        "spread": (FloatIn(), NONE),
        "privacy": (FloatIn(), NONE),
        "epsilon": (FloatIn(), NONE),
        "multiplicative": BOOL,
        "method": OneOf(("em", "bayes", "kernel", "inverse")),
        "stop": OneOf(("chi2", "change", "likelihood")),
        "bandwidth": (POSITIVE, OneOf(("silverman", "cv"))),
        "picture": (PATH, NONE),
        "seed": SEED,
    }

    def reconstruction(self) -> Any:
        """Return the reconstruction that undoes the noise."""
        names = ("method", "stop", "tolerance", "max_steps", "bandwidth")
        named = {name: getattr(self, name) for name in names}
        return self._channel().reconstruction(self.intervals, **named)

    def _channel(self) -> Any:
        """Return the channel that the values went through."""
        if self.channels is not None:
            return self._stated()
        if self.noise is None:
            raise ParameterError(
                "What hid the column is missing: the kind of noise, or its channel.", fix={"channels": "FILE"}
            )
        if self.spread is None and (self.low is None or self.high is None):
            raise ParameterError(
                "The range of the true values is not known; pass it, or the noise's spread.",
                fix={"spread": "SPREAD"},
            )
        return channel_of(self, self.low, self.high, self.column)

    def _stated(self) -> Any:
        """Return the channel of the column among those that are stated."""
        from discreet.collect import UnaryResponse
        from discreet.collect.channels import channels_from_dict

        ways = ("noise", "spread", "privacy", "epsilon", "low", "high")
        twice = [name for name in ways if getattr(self, name) is not None]
        if twice or self.multiplicative:
            raise ParameterError(f"The channel says '{(*twice, 'multiplicative')[0]}' already; leave it out.")
        record = self.channels if isinstance(self.channels, Mapping) else plain_of(Path(str(self.channels)))
        channel = channels_from_dict(record).channels.get(self.column)
        if channel is None or isinstance(channel, UnaryResponse):
            raise ParameterError(
                f"There is no channel of a column '{self.column}' with one report for each row."
            )
        return channel

    def targets(self) -> tuple[Path, ...]:
        """Return the file of the intervals and that of the picture."""
        from discreet.report.pictures import KINDS

        if self.picture is None:
            return super().targets()
        picture = Path(self.picture)
        if picture.suffix.lower() not in KINDS:
            raise OutputError(f"A picture's name must end in {', '.join(KINDS)}.")
        return (*super().targets(), picture)

    def make(self, begin: Progress) -> Made:
        """Return the density, or the shares of categories."""
        import warnings

        from discreet.collect import MultiplicativeNoise, RandomizedResponse
        from discreet.engines.files import read

        channel = self._channel()
        if isinstance(channel, RandomizedResponse):
            return self._shares(channel, begin)
        if self.by is not None or self.method == "inverse":
            raise ParameterError(
                "'by', and the inverse matrix, are for categories; this column holds noisy numbers."
            )
        reconstruction = self.reconstruction()
        logs = isinstance(channel, MultiplicativeNoise)
        with warnings.catch_warnings():
            # Whether the steps converged is among the figures.
            warnings.simplefilter("ignore")
            begin("Counting")
            counted = reconstruction.histogram(self._numbers(read(self.data, **self.reading), logs=logs))
            begin("Reconstructing")
            density = reconstruction.reconstruct(counted, band=self.band, random_state=self.seed)
        if logs:
            density = channel.from_logarithms(density)
        files = self.written(density.frame())
        if self.picture is not None:
            noisy = None if logs else counted
            files[Path(self.picture)] = lambda path: _draw(density, noisy, path)
        return Made("density", density, self._figures(density), files)

    def _shares(self, channel: Any, begin: Progress) -> Made:
        """Return the shares of a column of categories, for each value of another column where one is named."""
        import warnings

        from discreet.core.engine import engine_of
        from discreet.engines.files import read
        from discreet.job.channels.shares import recovered_shares, shares_table

        for name in ("band", "picture"):
            if getattr(self, name) is not None:
                raise ParameterError(f"'{name}' is for noisy numbers; this column holds categories.")
        if self.method == "kernel":
            raise ParameterError("A kernel density is for noisy numbers.", fix={"method": "em"})
        relation = read(self.data, **self.reading)
        engine = engine_of(relation)
        named = [self.column] if self.by is None else [self.column, self.by]
        require_named_columns(engine.value_types(relation), named, self.data)
        tolerance = {} if self.tolerance is None else {"tolerance": self.tolerance}
        begin("Counting")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = recovered_shares(
                relation,
                engine,
                self.column,
                channel,
                by=self.by,
                method=self.method,
                max_steps=self.max_steps,
                **tolerance,
            )
        begin("Reconstructing")
        figures = {
            "values": sum(shares.n for _, shares in found),
            "categories": list(channel.categories),
            "by": self.by,
            "converged": all(shares.converged for _, shares in found),
            "shares": [
                {
                    **({} if self.by is None else {"value": group}),
                    "reports": shares.n,
                    "shares": shares.shares.tolist(),
                    "standard_errors": shares.standard_errors.tolist(),
                }
                for group, shares in found
            ],
            "file": None if self.out is None else str(self.out),
        }
        table = shares_table(found, self.column, self.by)
        return Made("shares", table, figures, self.written(table))

    def _numbers(self, relation: Any, *, logs: bool) -> Iterator[FloatArray]:
        """Return the column batch by batch, or its logarithms."""
        from discreet.collect.multiplicative_noise import logarithms
        from discreet.core.engine import engine_of

        engine = engine_of(relation)
        types = engine.value_types(relation)
        require_named_columns(types, [self.column], self.data)
        if types[self.column] not in NUMBERS:
            raise SchemaError(f"Column '{self.column}' must hold noisy numbers.")
        for batch in engine.batches(engine.select(relation, [self.column], numbers=[self.column])):
            values = batch.column(0)
            if values.null_count:
                raise InputError(f"Some noisy values of '{self.column}' are null; drop the rows first.")
            numbers = values.to_numpy()
            yield logarithms(numbers, column=self.column) if logs else numbers

    def _figures(self, density: Any) -> dict[str, Any]:
        return {
            "values": density.n,
            "intervals": int(density.shares.size),
            "steps": density.iterations,
            "converged": density.converged,
            "mean": density.mean,
            "sd": density.variance**0.5,
            "quartiles": [float(value) for value in density.ppf([0.25, 0.5, 0.75])],
            "edges": density.edges.tolist(),
            "shares": density.shares.tolist(),
            "lower": None if density.lower is None else density.lower.tolist(),
            "upper": None if density.upper is None else density.upper.tolist(),
            "file": None if self.out is None else str(self.out),
            "picture": None if self.picture is None else str(self.picture),
        }


def _draw(density: Any, counted: Any, path: Path) -> None:
    from discreet.report.pictures import chart, write_picture

    write_picture(chart(density, noisy=counted), path)
