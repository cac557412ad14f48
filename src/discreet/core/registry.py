"""The registry of methods: each named once, with its class, the data it takes, its guarantees and its parameters.

Command line, job files, the tables in the documentation and the checks that all methods share are made from it. Classes
are named by their modules and loaded when they are first needed.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

from discreet.core.params import Constraint, listed

Role = Literal["publisher", "collector", "miner", "hider"]
"""What a method does: publishers release, collectors perturb, miners mine or learn, hiders hide."""
RELEASING: tuple[Role, ...] = ("publisher", "hider")
"""The roles of methods that make a release."""
Data = Literal[
    "table", "baskets", "records", "stream", "values", "grouped-table", "pseudo-data", "sketches", "model",
]  # fmt: skip
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
        Parameters that no option sets: the guarantee or the description of the data supplies them, or the method has
        no use for them.
    fixed
        Parameters whose values the name stands for, where one class has several methods.
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
    fixed: Mapping[str, Any] = field(default_factory=dict)

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
        fixed = {*list(parameters)[:1], "random_state", *self.supplied, *self.fixed}
        return {name: one for name, one in parameters.items() if name not in fixed}

    def make(self, guarantee: Any, **given: Any) -> Any:
        """Make the method's object for a guarantee."""
        return self.load()(guarantee, **self.fixed, **given)

    def publish(self, publisher: Any, data: Any) -> Any:
        """Return the release that an object of the method makes of data."""
        return publisher.hide(data) if self.role == "hider" else publisher.release(data)

    def makes_of(self, takes: str) -> Data:
        """Return the kind of release that is made of a kind of data."""
        return dict(zip(self.takes, self.makes, strict=True))[takes]  # type: ignore[index]

    def keeps(self, guarantees: Iterable[str]) -> bool:
        """Return whether the method can keep guarantees, named by their classes, all at once."""
        names = list(guarantees)
        return (len(names) == 1 or self.joins) and all(name in self.guarantees for name in names)


def methods(*, role: Role | tuple[Role, ...] | None = None, takes: str | None = None) -> Iterator[Method]:
    """Iterate over methods, all or those of one or several roles that take a kind of data.

    >>> [method.name for method in methods(role="publisher", takes="baskets")]
    ['cahd', 'perm-mondrian', 'anatomy', 'apriori']
    """
    roles = (role,) if isinstance(role, str) else role
    for method in METHODS.values():
        if (roles is None or method.role in roles) and (takes is None or takes in method.takes):
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


_THRESHOLDS = ("min_support", "min_confidence", "margin")


def _hider(
    name: str,
    home: str,
    summary: str,
    *idle: str,
    takes: tuple[Data, ...] = ("baskets", "table"),
    **fixed: Any,
) -> Method:
    """Return the entry of a way to hide rules; ``idle`` names parameters of the class that it has no use for."""
    supplied = (*_THRESHOLDS, *idle, *(() if "table" in takes else ("levels", "cells")))
    return Method(
        name,
        f"output.hiding.{home}",
        "hider",
        takes,
        takes,
        summary,
        ("RulesHidden",),
        supplied=supplied,
        fixed=fixed,
    )


def _program(
    name: str, formulation: str, summary: str, *idle: str, takes: tuple[Data, ...] = ("baskets", "table")
) -> Method:
    return _hider(name, "exact:ExactHiding", summary, *idle, takes=takes, formulation=formulation)


def _border(name: str, summary: str) -> Method:
    return _hider(name, "border:BorderHiding", summary, method=name)


def _heuristic(name: str, summary: str, *idle: str, takes: tuple[Data, ...] = ("baskets", "table")) -> Method:
    return _hider(name, "heuristic:HeuristicHiding", summary, *idle, takes=takes, strategy=name)


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
            "publishes each row at the finest level of its trees that its surroundings allow; cautions where sensitive "
            "values are judged",
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
        _program(
            "exact", "aggregated", "loses as few other itemsets as can be, by an integer program over classes"
        ),
        _program("inline", "inline", "the program with a variable for each entry, to compare", "objective"),
        _program("menon", "menon", "changes as few baskets as can be, by an integer program", "objective"),
        _program(
            "hybrid",
            "hybrid",
            "changes no basket and appends synthetic ones",
            "objective",
            takes=("baskets",),
        ),
        _border("maxmin2", "weighs baskets and items together by the rarest border itemset that is hit"),
        _border("maxmin1", "deletes the item whose rarest border itemset is the most frequent"),
        _border("bba", "deletes the entry whose border itemsets are farthest from being lost"),
        _hider("blocking", "blocking:Blocking", "publishes entries as unknown instead of deleting them"),
        _heuristic("remove_transactions", "leaves out whole baskets that support a rule", "psi", "window"),
        _heuristic(
            "1.a",
            "lowers confidence: adds left-hand items to baskets that hold part of the left-hand side",
            "psi",
            "window",
            takes=("baskets",),
        ),
        _heuristic(
            "1.b", "lowers confidence: deletes a right-hand item from the shortest baskets", "psi", "window"
        ),
        _heuristic(
            "2.a",
            "deletes the item that fewest frequent itemsets need, from the shortest baskets",
            "psi",
            "window",
        ),
        _heuristic(
            "2.b", "deletes the most frequent item of the rule from the shortest baskets", "psi", "window"
        ),
        _heuristic(
            "2.c", "deletes the items of the rule in turn, from baskets as they come", "psi", "window"
        ),
        _heuristic("minfia", "deletes the least frequent item from the baskets in most conflicts", "window"),
        _heuristic("maxfia", "deletes the most frequent item from the baskets in most conflicts", "window"),
        _heuristic("iga", "groups itemsets that share an item, and deletes that item", "window"),
        _heuristic("swa", "one pass over windows of baskets, with a disclosure threshold for each rule"),
        _heuristic(
            "wsda",
            "lowers confidence: deletes a right-hand item from baskets that support few other itemsets",
            "psi",
            "window",
        ),
    )
}
"""Every method by its name."""
