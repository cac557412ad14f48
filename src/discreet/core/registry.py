"""The registry: everything with a name and parameters, each named once, with its class.

Options, job keys, session files, the tables in the documentation, what `discreet check` measures by and the checks that
all methods share are made from it. Classes are named by their modules and loaded when they are first needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from discreet.core.spec import RELEASING as RELEASING
from discreet.core.spec import Data as Data
from discreet.core.spec import GuaranteeSpec as GuaranteeSpec
from discreet.core.spec import Method as Method
from discreet.core.spec import Parameter as Parameter
from discreet.core.spec import Role as Role
from discreet.core.spec import Spec as Spec

_LEVELS = {"levels": "--level"}


def methods(*, role: Role | tuple[Role, ...] | None = None, takes: str | None = None) -> Iterator[Method]:
    """Iterate over methods, all or those of one or several roles that take a kind of data.

    Examples
    --------
    >>> [method.name for method in methods(role="publisher", takes="baskets")]
    ['cahd', 'perm-mondrian', 'anatomy', 'apriori']
    """
    roles = (role,) if isinstance(role, str) else role
    for method in METHODS.values():
        if (roles is None or method.role in roles) and (takes is None or takes in method.takes):
            yield method


def specs(role: Role) -> dict[str, Spec]:
    """Return everything of one role by its name.

    >>> list(specs("auditor"))
    ['sum', 'extrema', 'boolean', 'interval', 'private']
    """
    others: dict[Role, Any] = {
        "guarantee": GUARANTEES,
        "auditor": AUDITORS,
        "protocol": PROTOCOLS,
        "verb": VERBS,
    }
    return dict(others[role]) if role in others else {method.name: method for method in methods(role=role)}


def releasable_guarantees() -> dict[str, GuaranteeSpec]:
    """Return the guarantees that a release can keep, by their names in job files.

    >>> "k-anonymity" in releasable_guarantees(), "local-dp" in releasable_guarantees()
    (True, False)
    """
    names = {name for method in methods(role=RELEASING) for name in method.guarantees}
    return {name: spec for name, spec in GUARANTEES.items() if spec.class_name in names}


def _guarantee(
    name: str, home: str, *about: str, variant: tuple[str, str] | None = None, **flags: str
) -> GuaranteeSpec:
    """Return the entry of a guarantee; flags are the options of parameters that are not called as they are."""
    module = f"guarantees.{home}"
    return GuaranteeSpec(
        name, module, "guarantee", supplied=("of", "by", "release"), about=about, variant=variant, flags=flags
    )


GUARANTEES: dict[str, GuaranteeSpec] = {
    spec.name: spec
    for spec in (
        _guarantee("k-anonymity", "k_anonymity:KAnonymity", "classes", k="-k"),
        _guarantee(
            "distinct-l-diversity",
            "l_diversity:DistinctDiversity",
            "classes",
            variant=("diversity", "distinct"),
            l="-l",
        ),
        _guarantee(
            "entropy-l-diversity",
            "l_diversity:EntropyDiversity",
            "classes",
            variant=("diversity", "entropy"),
            l="-l",
        ),
        _guarantee(
            "recursive-cl-diversity",
            "l_diversity:RecursiveDiversity",
            "classes",
            variant=("diversity", "recursive"),
            l="-l",
            c="--c",
        ),
        _guarantee("t-closeness", "t_closeness:TCloseness", "classes", t="-t"),
        _guarantee("alpha-k-anonymity", "k_anonymity:AlphaKAnonymity", "classes", alpha="--alpha", k="-k"),
        _guarantee(
            "enhanced-beta-likeness",
            "beta_likeness:EnhancedBetaLikeness",
            "classes",
            variant=("likeness", "enhanced"),
            beta="--beta",
        ),
        _guarantee(
            "basic-beta-likeness",
            "beta_likeness:BasicBetaLikeness",
            "classes",
            variant=("likeness", "basic"),
            beta="--beta",
        ),
        _guarantee("delta-disclosure", "delta_disclosure:DeltaDisclosure", "classes", delta="--delta"),
        _guarantee(
            "max-risk",
            "max_risk:MaxRisk",
            "classes",
            highest="--max-risk",
            mean="--mean-risk",
            unique="--unique-share",
        ),
        _guarantee(
            "population-uniqueness",
            "max_risk:PopulationUniqueness",
            "classes",
            highest="--population-uniqueness",
            sampling="--sampling-share",
            model="--population-model",
        ),
        _guarantee(
            "sampled-privacy",
            "k_anonymity:SampledPrivacy",
            "samples",
            epsilon="--epsilon",
            delta="--epsilon-delta",
            search="--search-share",
        ),
        _guarantee("k-map", "population:KMap", "classes"),
        _guarantee("delta-presence", "population:DeltaPresence", "classes", delta_max="--delta-max"),
        _guarantee("privacy-degree", "privacy_degree:PrivacyDegree", "groups", "classes", p="-p"),
        _guarantee("m-invariance", "l_diversity:MInvariance", "releases", m="--m-invariance"),
        _guarantee("km-anonymity", "km_anonymity:KmAnonymity", "baskets", k="--km"),
        _guarantee(
            "indistinguishability", "indistinguishability:Indistinguishability", "pseudo-data", k="-k"
        ),
        _guarantee("expected-anonymity", "expected_anonymity:ExpectedAnonymity", "uncertain-records", k="-k"),
        _guarantee("k-variance", "sketches:KVariance", "sketches"),
        _guarantee("delta-anonymity", "sketches:DeltaAnonymity", "sketches", delta="--delta"),
        _guarantee("cell-protection", "cell_protection:CellProtection", "cells", threshold="--threshold"),
        _guarantee("rules-hidden", "rules_hidden:RulesHidden", "rules", rules="--rule"),
        _guarantee("basic-privacy", "basic_privacy:BasicPrivacy", "channels"),
        _guarantee("local-dp", "indistinguishability:LocalDP", "channels", epsilon="--epsilon"),
        _guarantee("no-value-disclosed", "answers:NoValueDisclosed", "answers"),
        _guarantee("differential-privacy", "answers:DifferentialPrivacy", "answers"),
    )
}
"""Every single guarantee by its name in job files."""


def _publisher(
    name: str, home: str, takes: Data, makes: Data, summary: str, *keeping: str, **details: Any
) -> Method:
    return Method(
        name,
        f"publish.{home}",
        "publisher",
        summary,
        takes=(takes,),
        makes=(makes,),
        keeping=keeping,
        **details,
    )


def _table(name: str, home: str, summary: str, **details: Any) -> Method:
    return _publisher(name, f"tables.{home}", "table", "table", summary, "classes", joins=True, **details)


def _tabular(name: str, home: str, summary: str) -> Method:
    return Method(
        name,
        f"output.tabular.{home}",
        "publisher",
        summary,
        takes=("cells",),
        makes=("cells",),
        keeping=("CellProtection",),
    )


def _collector(name: str, home: str, takes: Data, summary: str, *keeping: str) -> Method:
    return Method(
        name, f"collect.{home}", "collector", summary, takes=(takes,), makes=(takes,), keeping=keeping
    )


def _miner(name: str, home: str, takes: Data, summary: str) -> Method:
    return Method(name, f"mine.{home}", "miner", summary, takes=(takes,), makes=("model",))


def _hider(
    name: str,
    home: str,
    summary: str,
    *idle: str,
    takes: tuple[Data, ...] = ("baskets", "table"),
    **fixed: Any,
) -> Method:
    """Return the entry of a way to hide rules; ``idle`` names parameters of the class that it has no use for."""
    only_tables = () if "table" in takes else ("levels", "cells")
    return Method(
        name,
        f"output.hiding.{home}",
        "hider",
        summary,
        takes=takes,
        makes=takes,
        keeping=("RulesHidden",),
        supplied=("min_support", "min_confidence", "margin", *idle, *only_tables),
        fixed=fixed,
        flags=_LEVELS,
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
            "mondrian:Mondrian",
            "cuts the table into boxes, each column as fine as its neighborhood allows",
            flags={"strict": "--strict-cuts/--relaxed"},
            aliases={"means": ("summary", "mean")},
        ),
        _table(
            "generalization",
            "generalization:Generalization",
            "takes the levels you name",
            flags=_LEVELS,
            whole_columns=True,
        ),
        _table(
            "optimal",
            "optimal_lattice:OptimalLattice",
            "finds the levels, one for each whole column, that cost least of all",
            aliases={"visit_all": ("visit", "all")},
            whole_columns=True,
        ),
        _table(
            "samarati",
            "samarati:Samarati",
            "finds the least height of the lattice at which a node keeps the guarantee",
            whole_columns=True,
        ),
        _table(
            "incognito",
            "incognito:Incognito",
            "finds every minimal node of the lattice",
            whole_columns=True,
        ),
        _table(
            "global",
            "global_recoding:GlobalRecoding",
            "publishes each value at one level of its tree in the whole table, as fine as the guarantee allows",
        ),
        _table(
            "local",
            "local_recoding:LocalRecoding",
            "publishes each row at the finest level of its trees that its surroundings allow; cautions where sensitive "
            "values are judged",
        ),
        _table(
            "local-suppression",
            "local_suppression:LocalSuppression",
            "publishes each cell exactly or as a star, with as few stars as the guarantee allows; cautions where "
            "sensitive values are judged",
        ),
        _table(
            "microaggregation",
            "microaggregation:Microaggregation",
            "publishes the means of small groups of near rows in place of numbers and dates",
        ),
        _publisher(
            "linked",
            "linked.linked_generalization:LinkedGeneralization",
            "linked-tables",
            "linked-tables",
            "generalizes several tables about the same people, judged by what all of them show together",
            "classes",
            joins=True,
            supplied=("shift",),
        ),
        _publisher(
            "cahd",
            "baskets.cahd:Cahd",
            "baskets",
            "baskets",
            "groups like baskets, with sensitive items as counts per group",
            "PrivacyDegree",
            supplied=("sensitive",),
        ),
        _publisher(
            "safe-pub",
            "tables.safe_pub:SafePub",
            "table",
            "sampled-table",
            "publishes a random sample at levels that no row decides, with differential privacy",
            "SampledPrivacy",
            flags=_LEVELS,
        ),
        _publisher(
            "perm-mondrian",
            "baskets.perm_mondrian:PermMondrian",
            "baskets",
            "baskets",
            "divides baskets by their items, with sensitive items as counts per group",
            "PrivacyDegree",
            supplied=("sensitive",),
        ),
        _publisher(
            "counterfeits",
            "linked.counterfeits:CounterfeitedGeneralization",
            "table",
            "grouped-table",
            "publishes a growing table again so that a person's groups have the same values in every release",
            "MInvariance",
        ),
        Method(
            "anatomy",
            "publish.tables.anatomy:Anatomy",
            "publisher",
            "publishes everything exactly but sensitive values, which are counted per group",
            takes=("table", "baskets"),
            makes=("grouped-table", "baskets"),
            keeping=("PrivacyDegree", "DistinctDiversity"),
            supplied=("sensitive",),
        ),
        _publisher(
            "apriori",
            "baskets.apriori_anonymization:AprioriAnonymization",
            "baskets",
            "baskets",
            "generalizes items until every small combination of them is frequent",
            "KmAnonymity",
            supplied=("m", "hierarchy"),
        ),
        _publisher(
            "condensation",
            "pseudo.condensation:Condensation",
            "table",
            "pseudo-data",
            "draws pseudo-rows from the statistics of groups of near rows",
            "Indistinguishability",
            supplied=("target",),
            flags={"avoid_copies": "--avoid-copies/--allow-copies"},
        ),
        _publisher(
            "stream-condensation",
            "pseudo.stream_condensation:StreamCondensation",
            "stream",
            "pseudo-data",
            "condenses records as they come, and keeps no record",
            "Indistinguishability",
        ),
        *(
            _publisher(
                name,
                f"synthetic.{home}",
                "table",
                "synthetic-data",
                summary,
                "DifferentialPrivacy",
                flags={"domains": "--domain"},
            )
            for name, home, summary in (
                (
                    "mst",
                    "mst:Mst",
                    "draws rows from a model of noisy counts of columns and of a tree of pairs",
                ),
                (
                    "aim",
                    "aim:Aim",
                    "draws rows from a model that counts, with noise, what it still gets wrong",
                ),
            )
        ),
        _publisher(
            "uncertain",
            "uncertain.uncertain_records:UncertainRecords",
            "table",
            "uncertain-records",
            "publishes each row of numbers as a distribution wide enough that k rows explain it",
            "ExpectedAnonymity",
            supplied=("attacker",),
        ),
        _publisher(
            "delta-sketch",
            "sketches.delta_sketch:DeltaSketch",
            "records",
            "sketches",
            "publishes sketches, each as long as its own record allows",
            "DeltaAnonymity",
            supplied=("family",),
        ),
        _publisher(
            "k-variance-sketch",
            "sketches.k_variance_sketch:KVarianceSketch",
            "records",
            "sketches",
            "publishes sketches too short to tell a record from its nearest neighbors",
            "KVariance",
            "DeltaAnonymity",
            joins=True,
            supplied=("family", "gap"),
        ),
        _tabular(
            "cell-suppression",
            "suppression:CellSuppression",
            "leaves small cells of a table of counts or sums out, and others so that they cannot be worked out",
        ),
        _tabular(
            "controlled-rounding",
            "rounding:ControlledRounding",
            "rounds every cell of a table of counts to a multiple of a base; margins still add up",
        ),
        _collector(
            "mask", "mask:Mask", "baskets", "flips each item with one probability", "LocalDP", "BasicPrivacy"
        ),
        _collector(
            "emask",
            "mask:EMask",
            "baskets",
            "flips ones and zeros with probabilities of their own",
            "LocalDP",
            "BasicPrivacy",
        ),
        _collector(
            "additive-noise",
            "additive_noise:AdditiveNoise",
            "values",
            "adds noise of a known distribution to numbers",
            "LocalDP",
        ),
        _collector(
            "multiplicative-noise",
            "multiplicative_noise:MultiplicativeNoise",
            "values",
            "multiplies positive numbers by noise of a known distribution",
            "LocalDP",
        ),
        _collector(
            "correlated-noise",
            "correlated_noise:CorrelatedNoise",
            "values",
            "adds noise shaped like the data to rows of numbers",
        ),
        _collector(
            "randomized-response",
            "randomized_response:RandomizedResponse",
            "values",
            "reports a category, true or not, with known probabilities",
            "LocalDP",
        ),
        _collector(
            "unary-response",
            "unary_response:UnaryResponse",
            "values",
            "reports a bit for each category, each flipped with known probabilities",
            "LocalDP",
        ),
        _collector(
            "pram",
            "pram:Pram",
            "values",
            "redraws categories so that their shares are expected to stay",
            "LocalDP",
        ),
        _collector(
            "rank-swapping",
            "rank_swapping:RankSwapping",
            "table",
            "swaps values between rows of near rank; columns stay as they are, and nothing is guaranteed",
        ),
        _collector(
            "channels", "channels:Channels", "table", "distorts each column by a collector of its own"
        ),
        _miner(
            "itemsets", "itemsets.itemsets:Itemsets", "baskets", "finds frequent, closed or maximal itemsets"
        ),
        _miner(
            "masked-itemsets",
            "itemsets.masked:MaskedItemsets",
            "baskets",
            "estimates frequent itemsets from distorted baskets",
        ),
        _miner(
            "naive-bayes",
            "noisy.naive_bayes:ReconstructedNaiveBayes",
            "values",
            "learns naive Bayes from noisy values",
        ),
        _miner(
            "tree",
            "noisy.decision_tree:ReconstructedTree",
            "values",
            "learns a decision tree from noisy values",
        ),
        _miner(
            "group-neighbors",
            "groups.neighbors:GroupNeighborsClassifier",
            "table",
            "classifies records by the nearest condensed groups",
        ),
        _miner(
            "group-regression",
            "groups.neighbors:GroupNeighborsRegressor",
            "table",
            "predicts numbers by the nearest condensed groups",
        ),
        _miner(
            "mixture",
            "noisy.mixture:NoisyMixture",
            "values",
            "finds clusters of true records in noisy ones",
        ),
        _miner(
            "ratings",
            "noisy.ratings:NoisyRatings",
            "values",
            "predicts ratings from noisy scores of every item",
        ),
        _miner(
            "sketch-neighbors",
            "sketches.neighbors:SketchNeighbors",
            "sketches",
            "classifies sketches by their nearest neighbors",
        ),
        _miner("sketch-kmeans", "sketches.kmeans:SketchKMeans", "sketches", "clusters sketches by k-means"),
        _miner(
            "sketch-reconstruction",
            "sketches.values:SketchReconstruction",
            "sketches",
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


AUDITORS: dict[str, Spec] = {
    name: Spec(name, f"output.audit.{home}", "auditor")
    for name, home in {
        "sum": "sums:SumAuditor",
        "extrema": "extrema:ExtremaAuditor",
        "boolean": "boolean:BooleanAuditor",
        "interval": "interval:IntervalAuditor",
        "private": "private:PrivateAnswers",
    }.items()
}
"""Every auditor by its name."""

PROTOCOLS: dict[str, Spec] = {
    name: Spec(name, f"parties.{home}", "protocol")
    for name, home in {
        "secure-sum": "sums.secure_sum:SecureSum",
        "set-union": "sets.set_union:SetUnion",
        "candidate-union": "sets.candidate_union:CandidateUnion",
        "set-intersection": "sets.set_intersection:SetIntersection",
        "intersection-size": "sets.intersection_size:IntersectionSize",
        "scalar-product": "shares.scalar_product:ScalarProduct",
        "comparison": "shares.comparison:Comparison",
        "oblivious-transfer": "ot.oblivious_transfer:ObliviousTransfer",
        "k-of-n-transfer": "ot.k_of_n_transfer:KOfNTransfer",
        "matching": "mining.people_matching:PeopleMatching",
        "rules": "mining.rules.association_rules:AssociationRules",
        "vertical-rules": "mining.rules.vertical_rules:VerticalRules",
        "k-means": "mining.models.k_means:HorizontalKMeans",
        "naive-bayes": "mining.models.naive_bayes:HorizontalNaiveBayes",
        "decision-tree": "mining.models.decision_tree:HorizontalTree",
        "ridge": "mining.models.ridge:HorizontalRidge",
        "logistic-regression": "mining.models.logistic:HorizontalLogistic",
        "statistics": "mining.models.statistics:HorizontalStatistics",
        "quantiles": "mining.models.quantiles:HorizontalQuantiles",
        "vertical-k-means": "mining.models.k_means:VerticalKMeans",
        "vertical-naive-bayes": "mining.models.naive_bayes:VerticalNaiveBayes",
        "vertical-decision-tree": "mining.models.decision_tree:VerticalTree",
        "vertical-ridge": "mining.models.ridge:VerticalRidge",
        "vertical-statistics": "mining.models.statistics:VerticalStatistics",
        "anonymize": "mining.anonymize_together:AnonymizeTogether",
    }.items()
}
"""Every protocol by its name in a session file."""

VERBS: dict[str, Spec] = {
    name: Spec(name, f"job.{home}", "verb", supplied=("data", "reading", "out", "options"))
    for name, home in {
        "perturb": "collecting:PerturbJob",
        "distort": "collecting:DistortJob",
        "reconstruct": "reconstructing:ReconstructJob",
        "mine": "mining:MineJob",
        "fit": "learning:FitJob",
        "predict": "learning:PredictJob",
        "audit": "auditing:VaultJob",
        "party": "party_runs:PartyJob",
    }.items()
}
"""Every verb that makes no release, by the table that describes it in a job file."""
