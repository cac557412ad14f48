"""The registry of protocols: the name in a session file, and the class."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from discreet.core.params import check_fields, unknown
from discreet.parties.protocol import Protocol

_HOMES = {
    "secure-sum": ("sums.secure_sum", "SecureSum"),
    "set-union": ("sets.set_union", "SetUnion"),
    "candidate-union": ("sets.candidate_union", "CandidateUnion"),
    "set-intersection": ("sets.set_intersection", "SetIntersection"),
    "intersection-size": ("sets.intersection_size", "IntersectionSize"),
    "scalar-product": ("shares.scalar_product", "ScalarProduct"),
    "comparison": ("shares.comparison", "Comparison"),
    "oblivious-transfer": ("ot.oblivious_transfer", "ObliviousTransfer"),
    "k-of-n-transfer": ("ot.k_of_n_transfer", "KOfNTransfer"),
    "matching": ("mining.people_matching", "PeopleMatching"),
    "rules": ("mining.rules.association_rules", "AssociationRules"),
    "vertical-rules": ("mining.rules.vertical_rules", "VerticalRules"),
    "k-means": ("mining.models.k_means", "HorizontalKMeans"),
    "naive-bayes": ("mining.models.naive_bayes", "HorizontalNaiveBayes"),
    "decision-tree": ("mining.models.decision_tree", "HorizontalTree"),
    "ridge": ("mining.models.ridge", "HorizontalRidge"),
    "logistic-regression": ("mining.models.logistic", "HorizontalLogistic"),
    "statistics": ("mining.models.statistics", "HorizontalStatistics"),
    "quantiles": ("mining.models.quantiles", "HorizontalQuantiles"),
    "vertical-k-means": ("mining.models.k_means", "VerticalKMeans"),
    "vertical-naive-bayes": ("mining.models.naive_bayes", "VerticalNaiveBayes"),
    "vertical-decision-tree": ("mining.models.decision_tree", "VerticalTree"),
    "vertical-ridge": ("mining.models.ridge", "VerticalRidge"),
    "vertical-statistics": ("mining.models.statistics", "VerticalStatistics"),
    "anonymize": ("mining.anonymize_together", "AnonymizeTogether"),
}
"""Each protocol's module and class; loaded when it is first used."""


def protocol_names() -> tuple[str, ...]:
    """Return the names of all protocols."""
    return tuple(_HOMES)


def protocol_class(name: str) -> type[Protocol]:
    """Return the class of a protocol.

    >>> protocol_class("secure-sum").__name__
    'SecureSum'
    """
    if name not in _HOMES:
        raise unknown("a session", "protocol.name", name, _HOMES)
    module, attribute = _HOMES[name]
    found: type[Protocol] = getattr(import_module(f"discreet.parties.{module}"), attribute)
    return found


def make_protocol(name: str, parameters: Mapping[str, Any]) -> Protocol:
    """Return a protocol with its public parameters; lists become tuples.

    >>> make_protocol("secure-sum", {"length": 3}).parameters()["method"]
    'masks'
    """
    found = protocol_class(name)
    check_fields(found.__name__, found, parameters)
    return found(
        **{key: tuple(value) if isinstance(value, list) else value for key, value in parameters.items()}
    )
