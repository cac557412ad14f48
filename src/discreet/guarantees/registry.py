"""Guarantees from plain data, as recipes and job files keep them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.core.boundary import public, reads
from discreet.core.errors import ParameterError
from discreet.core.guarantee import Guarantee
from discreet.core.params import InstanceOf, check_fields, require, unknown
from discreet.guarantees.alpha_k_anonymity import AlphaKAnonymity
from discreet.guarantees.basic_privacy import BasicPrivacy
from discreet.guarantees.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from discreet.guarantees.constructed import together
from discreet.guarantees.delta_anonymity import DeltaAnonymity
from discreet.guarantees.delta_disclosure import DeltaDisclosure
from discreet.guarantees.indistinguishability import Indistinguishability
from discreet.guarantees.k_anonymity import KAnonymity
from discreet.guarantees.k_map import KMap
from discreet.guarantees.k_variance import KVariance
from discreet.guarantees.km_anonymity import KmAnonymity
from discreet.guarantees.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from discreet.guarantees.local_dp import LocalDP
from discreet.guarantees.no_value_disclosed import NoValueDisclosed
from discreet.guarantees.per_unit import PerUnit
from discreet.guarantees.privacy_degree import PrivacyDegree
from discreet.guarantees.rules_hidden import RulesHidden
from discreet.guarantees.t_closeness import TCloseness

GUARANTEES: dict[str, type[Guarantee]] = {
    kind.__name__: kind
    for kind in (
        KAnonymity,
        DistinctDiversity,
        EntropyDiversity,
        RecursiveDiversity,
        TCloseness,
        AlphaKAnonymity,
        BasicBetaLikeness,
        EnhancedBetaLikeness,
        DeltaDisclosure,
        KMap,
        KVariance,
        Indistinguishability,
        PrivacyDegree,
        KmAnonymity,
        BasicPrivacy,
        LocalDP,
        DeltaAnonymity,
        NoValueDisclosed,
        RulesHidden,
    )
}
"""Every single promise by its name."""


@public
@reads("The guarantee")
def guarantee_from_dict(plain: Mapping[str, object], *, population: object = None) -> Guarantee:
    """Read what ``to_dict`` gave; the population of a k-map is not in it and must be given.

    Neither are the rules of a `RulesHidden`, which are the owner's: its ``to_private_dict`` has them.

    >>> guarantee_from_dict({"guarantee": "EntropyDiversity", "l": 2, "of": "disease"})
    EntropyDiversity(l=2, of='disease')
    """
    reader = "guarantee_from_dict"
    require(reader, "plain", plain, InstanceOf((Mapping,), "a mapping"))
    given: dict[str, Any] = {name: value for name, value in plain.items() if name != "guarantee"}
    named = plain.get("guarantee")
    if named == "AllOf":
        require(reader, "parts", given.get("parts"), InstanceOf((list, tuple), "a list"))
        return together(tuple(guarantee_from_dict(part, population=population) for part in given["parts"]))
    if named == "PerUnit":
        require(reader, "of", given.get("of"), InstanceOf((Mapping,), "a mapping"))
        return PerUnit(guarantee_from_dict(given["of"], population=population), given.get("unit"))  # type: ignore[arg-type]
    if not isinstance(named, str) or named not in GUARANTEES:
        raise unknown(reader, "guarantee", named, ["AllOf", "PerUnit", *GUARANTEES])
    kind = GUARANTEES[named]
    if kind is KMap:
        given["population"] = population
    if kind is RulesHidden and not given:
        raise ParameterError(
            "Which rules are hidden, and at which thresholds, is not said here: public files do not say it. The "
            "owner's private folder does."
        )
    check_fields(named, kind, given)
    return kind(**given)
