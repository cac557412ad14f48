"""Promises about a release, and how to judge any table by them."""

from __future__ import annotations

from discreet.guarantees.alpha_k_anonymity import AlphaKAnonymity
from discreet.guarantees.base import TOLERANCE, AllOf, Guarantee
from discreet.guarantees.basic_privacy import BasicPrivacy
from discreet.guarantees.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from discreet.guarantees.delta_anonymity import DeltaAnonymity
from discreet.guarantees.delta_disclosure import DeltaDisclosure
from discreet.guarantees.indistinguishability import Indistinguishability
from discreet.guarantees.k_anonymity import KAnonymity
from discreet.guarantees.k_map import KMap
from discreet.guarantees.k_variance import KVariance
from discreet.guarantees.km_anonymity import KmAnonymity
from discreet.guarantees.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from discreet.guarantees.local_dp import LocalDP
from discreet.guarantees.plain import guarantee_from_dict
from discreet.guarantees.privacy_degree import PrivacyDegree
from discreet.guarantees.rules_hidden import RulesHidden
from discreet.guarantees.t_closeness import TCloseness

__all__ = [
    "TOLERANCE",
    "AllOf",
    "AlphaKAnonymity",
    "BasicBetaLikeness",
    "BasicPrivacy",
    "DeltaAnonymity",
    "DeltaDisclosure",
    "DistinctDiversity",
    "EnhancedBetaLikeness",
    "EntropyDiversity",
    "Guarantee",
    "Indistinguishability",
    "KAnonymity",
    "KMap",
    "KVariance",
    "KmAnonymity",
    "LocalDP",
    "PrivacyDegree",
    "RecursiveDiversity",
    "RulesHidden",
    "TCloseness",
    "guarantee_from_dict",
]
