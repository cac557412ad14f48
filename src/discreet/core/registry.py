"""The registry of methods: each named once, with its class, the data it takes, its guarantees and its parameters.

Command line, job files, the tables in the documentation and the checks that all methods share are made from it. Classes
are named by their modules and loaded when they are first needed.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from discreet.core.params import Constraint, listed

Role = Literal["publisher", "collector", "miner", "hider"]
"""What a method does: publishers release, collectors perturb, miners mine or learn, hiders hide."""
Data = Literal[
    "table", "baskets", "records", "stream", "values", "grouped-table", "pseudo-data", "sketches", "model"
]
"""What a method takes or makes."""

CLASS_GUARANTEES = (
    "KAnonymity",
    "DistinctDiversity",
    "EntropyDiversity",
    "RecursiveDiversity",
    "TCloseness",
    "AlphaKAnonymity",
    "BasicBetaLikeness",
    "EnhancedBetaLikeness",
    "DeltaDisclosure",
    "KMap",
    "PrivacyDegree",
)
"""The guarantees about the equivalence classes of a table."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a method: its name, what it must be, and its default."""

    name: str
    constraints: tuple[Constraint, ...]
    default: Any
    required: bool


@dataclass(frozen=True)
class Method:
    """A method as commands, job files and documentation name it.

    Parameters
    ----------
    name
        The name in commands and job files.
    home
        The class, as ``module:Class`` within the package.
    role
        What it does.
    takes
        The kinds of data it takes.
    makes
        The kinds of release or result, one for each kind of data.
    summary
        What it does, in one line.
    guarantees
        The names of the guarantees it can keep.
    joins
        Whether it keeps several guarantees at once.
    supplied
        Parameters that the guarantee or the description of the data supplies, and no option does.
    """

    name: str
    home: str
    role: Role
    takes: tuple[Data, ...]
    makes: tuple[Data, ...]
    summary: str
    guarantees: tuple[str, ...] = ()
    joins: bool = False
    supplied: tuple[str, ...] = ()

    @property
    def class_name(self) -> str:
        """The name of the class."""
        return self.home.partition(":")[2]

    def load(self) -> Any:
        """Return the class."""
        module, _, name = self.home.partition(":")
        return getattr(import_module(f"discreet.{module}"), name)

    def parameters(self) -> dict[str, Parameter]:
        """Return the parameters of the class by name, in the order of its constructor."""
        made = self.load()
        constraints = getattr(made, "constraints", {})
        return {
            name: Parameter(
                name,
                listed(constraints.get(name, ())),
                None if one.default is inspect.Parameter.empty else one.default,
                one.default is inspect.Parameter.empty,
            )
            for name, one in inspect.signature(made).parameters.items()
        }

    def options(self) -> dict[str, Parameter]:
        """Return the parameters that a command or a job file may set: all but the guarantee and what is supplied."""
        parameters = self.parameters()
        fixed = {*list(parameters)[:1], "random_state", *self.supplied}
        return {name: one for name, one in parameters.items() if name not in fixed}

    def makes_of(self, takes: str) -> Data:
        """Return the kind of release that is made of a kind of data."""
        return dict(zip(self.takes, self.makes, strict=True))[takes]  # type: ignore[index]

    def keeps(self, guarantees: Iterable[str]) -> bool:
        """Return whether the method can keep guarantees, named by their classes, all at once."""
        names = list(guarantees)
        return (len(names) == 1 or self.joins) and all(name in self.guarantees for name in names)


def methods(*, role: Role | None = None, takes: str | None = None) -> Iterator[Method]:
    """Iterate over methods, all or those of a role that take a kind of data.

    >>> [method.name for method in methods(role="publisher", takes="baskets")]
    ['cahd', 'perm-mondrian', 'anatomy', 'apriori']
    """
    for method in METHODS.values():
        if role in (None, method.role) and (takes is None or takes in method.takes):
            yield method


def _table(name: str, home: str, summary: str) -> Method:
    return Method(name, home, "publisher", ("table",), ("table",), summary, CLASS_GUARANTEES, joins=True)


def _groups(name: str, home: str, summary: str) -> Method:
    kept = ("PrivacyDegree",)
    return Method(name, home, "publisher", ("baskets",), ("baskets",), summary, kept, supplied=("sensitive",))


def _collector(name: str, home: str, takes: Data, summary: str, guarantees: tuple[str, ...] = ()) -> Method:
    return Method(name, home, "collector", (takes,), (takes,), summary, guarantees)


def _miner(name: str, home: str, takes: tuple[Data, ...], summary: str) -> Method:
    makes: tuple[Data, ...] = tuple("model" for _ in takes)
    return Method(name, home, "miner", takes, makes, summary)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        _table(
            "mondrian",
            "publish.tables.mondrian:Mondrian",
            "cuts the table into boxes, each column as fine as its neighborhood allows",
        ),
        _table("generalization", "publish.tables.generalization:Generalization", "takes the levels you name"),
        _table(
            "optimal",
            "publish.tables.optimal_lattice:OptimalLattice",
            "finds the levels, one for each whole column, that cost least of all",
        ),
        _table(
            "samarati",
            "publish.tables.samarati:Samarati",
            "finds the least height of the lattice at which a node keeps the guarantee",
        ),
        _table("incognito", "publish.tables.incognito:Incognito", "finds every minimal node of the lattice"),
        _table(
            "local",
            "publish.tables.local_recoding:LocalRecoding",
            "publishes each row at the finest level of its trees that its surroundings allow",
        ),
        _groups(
            "cahd",
            "publish.baskets.cahd:Cahd",
            "groups like baskets, with sensitive items as counts per group",
        ),
        _groups(
            "perm-mondrian",
            "publish.baskets.perm_mondrian:PermMondrian",
            "divides baskets by their items, with sensitive items as counts per group",
        ),
        Method(
            "anatomy",
            "publish.tables.anatomy:Anatomy",
            "publisher",
            ("table", "baskets"),
            ("grouped-table", "baskets"),
            "publishes everything exactly but sensitive values, which are counted per group",
            ("PrivacyDegree", "DistinctDiversity"),
            supplied=("sensitive",),
        ),
        Method(
            "apriori",
            "publish.baskets.apriori_anonymization:AprioriAnonymization",
            "publisher",
            ("baskets",),
            ("baskets",),
            "generalizes items until every small combination of them is frequent",
            ("KmAnonymity",),
            supplied=("m", "hierarchy"),
        ),
        Method(
            "condensation",
            "publish.pseudo.condensation:Condensation",
            "publisher",
            ("table",),
            ("pseudo-data",),
            "draws pseudo-rows from the statistics of groups of near rows",
            ("Indistinguishability",),
            supplied=("target",),
        ),
        Method(
            "stream-condensation",
            "publish.pseudo.stream_condensation:StreamCondensation",
            "publisher",
            ("stream",),
            ("pseudo-data",),
            "condenses records as they come, and keeps no record",
            ("Indistinguishability",),
        ),
        Method(
            "delta-sketch",
            "publish.sketches.delta_sketch:DeltaSketch",
            "publisher",
            ("records",),
            ("sketches",),
            "publishes sketches, each as long as its own record allows",
            ("DeltaAnonymity",),
            supplied=("family",),
        ),
        Method(
            "k-variance-sketch",
            "publish.sketches.k_variance_sketch:KVarianceSketch",
            "publisher",
            ("records",),
            ("sketches",),
            "publishes sketches too short to tell a record from its nearest neighbors",
            ("KVariance", "DeltaAnonymity"),
            joins=True,
            supplied=("family", "gap"),
        ),
        _collector(
            "mask",
            "collect.mask:Mask",
            "baskets",
            "flips each item with one probability",
            ("LocalDP", "BasicPrivacy"),
        ),
        _collector(
            "emask",
            "collect.mask:EMask",
            "baskets",
            "flips ones and zeros with probabilities of their own",
            ("LocalDP", "BasicPrivacy"),
        ),
        _collector(
            "additive-noise",
            "collect.additive_noise:AdditiveNoise",
            "values",
            "adds noise of a known distribution to numbers",
            ("LocalDP",),
        ),
        _collector(
            "correlated-noise",
            "collect.correlated_noise:CorrelatedNoise",
            "values",
            "adds noise shaped like the data to rows of numbers",
        ),
        _collector(
            "randomized-response",
            "collect.randomized_response:RandomizedResponse",
            "values",
            "reports a category, true or not, with known probabilities",
            ("LocalDP",),
        ),
        _collector(
            "unary-response",
            "collect.unary_response:UnaryResponse",
            "values",
            "reports a bit for each category, each flipped with known probabilities",
            ("LocalDP",),
        ),
        _collector(
            "channels", "collect.channels:Channels", "table", "distorts each column by a collector of its own"
        ),
        _miner(
            "itemsets",
            "mine.itemsets.itemsets:Itemsets",
            ("baskets",),
            "finds frequent, closed or maximal itemsets",
        ),
        _miner(
            "masked-itemsets",
            "mine.itemsets.masked:MaskedItemsets",
            ("baskets",),
            "estimates frequent itemsets from distorted baskets",
        ),
        _miner(
            "naive-bayes",
            "mine.noisy.naive_bayes:ReconstructedNaiveBayes",
            ("values",),
            "learns naive Bayes from noisy values",
        ),
        _miner(
            "tree",
            "mine.noisy.decision_tree:ReconstructedTree",
            ("values",),
            "learns a decision tree from noisy values",
        ),
        _miner(
            "sketch-neighbors",
            "mine.sketches.neighbors:SketchNeighbors",
            ("sketches",),
            "classifies sketches by their nearest neighbors",
        ),
        _miner(
            "sketch-kmeans",
            "mine.sketches.kmeans:SketchKMeans",
            ("sketches",),
            "clusters sketches by k-means",
        ),
        _miner(
            "sketch-reconstruction",
            "mine.sketches.values:SketchReconstruction",
            ("sketches",),
            "estimates the values of sketched records with the key",
        ),
    )
}
"""Every method by its name."""
