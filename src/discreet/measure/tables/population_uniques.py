"""Population uniques, estimated from a sample: Pitman, Zayatz, the shifted negative binomial, and Dankar's rule."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from discreet.core.boundary import public
from discreet.core.errors import ParameterError
from discreet.core.params import InstanceOf, IntIn, require
from discreet.core.release import Release
from discreet.core.tables.population_models import (
    PopulationModel,
    class_size_histogram,
    dankar_uniques,
    pitman_uniques,
    snb_uniques,
    zayatz_uniques,
)
from discreet.core.tables.table import Table


@public
@dataclass(frozen=True)
class PopulationUniques:
    """How many people of a population are alone with their values, estimated from a sample of it.

    Attributes
    ----------
    n_rows, population_size
        The sizes of the sample and of the population.
    sample_uniques
        The rows alone in their class.
    pitman, zayatz, snb
        The estimated number of population uniques by each model; None where a model has no solution.
    dankar
        The estimate of the model that Dankar's rule chooses.
    model
        That model.
    """

    n_rows: int
    population_size: int
    sample_uniques: int
    pitman: float | None
    zayatz: float
    snb: float | None
    dankar: float
    model: PopulationModel

    @property
    def share(self) -> float:
        """The share of the population that is unique, by Dankar's rule."""
        return self.dankar / self.population_size

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        return asdict(self) | {"share": self.share}


@public
def population_uniques(subject: Table | Release, population_size: int) -> PopulationUniques:
    """Estimate how many people of a population are unique, from a simple random sample of it.

    Dankar's rule takes Pitman's model for samples of up to a tenth of the population, and the lower one of Zayatz's and
    the shifted negative binomial for larger ones; where the model it names has no solution, Zayatz's. Where the table
    is the whole population, its uniques are those of the population.

    Parameters
    ----------
    subject
        The sample: any table, or a release. Where a column says whose row it is, people are counted.
    population_size
        How many people the population has.

    References
    ----------
    N. Hoshino: Applying Pitman's sampling formula to microdata disclosure risk assessment. J. Official Statistics 17,
    2001. L. Zayatz: Estimation of the number of unique population elements using a sample. US Census Bureau 1991.
    G. Chen, S. Keller-McNulty: Estimation of identification disclosure risk in microdata. J. Official Statistics 14,
    1998.
    F. Dankar, K. El Emam, A. Neisa, T. Roffey: Estimating the re-identification risk of clinical data sets. BMC Medical
    Informatics and Decision Making 12, 2012.

    Examples
    --------
    Ten of a hundred people, four of them unique. By Zayatz, a unique of the sample is one of the population with a
    chance of 42 %:

    >>> import pyarrow as pa
    >>> from discreet import quasi
    >>> ages = Table(pa.table({"age": [20, 21, 22, 23, 30, 30, 31, 31, 32, 32]}), {"age": quasi()})
    >>> round(population_uniques(ages, 100).zayatz, 1)
    16.9
    """
    require("population_uniques", "subject", subject, InstanceOf((Table, Release), "a Table or a Release"))
    require("population_uniques", "population_size", population_size, IntIn(1))
    classes = class_size_histogram(subject.counted)
    n = int(classes.rows.sum())
    if population_size < n:
        raise ParameterError(
            f"The 'population_size' parameter of population_uniques must be at least the {n:,} of the sample. "
            f"Got {population_size} instead."
        )
    alone = int(classes.classes[classes.sizes == 1].sum())
    if alone == 0 or population_size == n:
        known = float(alone)
        return PopulationUniques(n, population_size, alone, known, known, known, known, "zayatz")
    pitman, snb = pitman_uniques(classes, population_size), snb_uniques(classes, population_size)
    zayatz = zayatz_uniques(classes, population_size)
    dankar, model = dankar_uniques(classes, population_size)
    return PopulationUniques(n, population_size, alone, pitman, zayatz, snb, dankar, model)
