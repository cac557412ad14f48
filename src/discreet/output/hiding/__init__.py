"""Hiding sensitive rules in baskets and tables before they are handed over."""

from __future__ import annotations

from discreet.core.baskets.sensitive_rules import SensitiveRule
from discreet.output.hiding.attack import HidingAttack, hiding_attack
from discreet.output.hiding.blocking import Blocking, confidence_interval, support_interval
from discreet.output.hiding.border import BorderHiding
from discreet.output.hiding.exact import ExactHiding
from discreet.output.hiding.heuristic import HeuristicHiding
from discreet.output.hiding.methods import METHODS, Compared, compare_methods, hider_of
from discreet.output.hiding.quality import HidingQuality, hiding_quality
from discreet.output.hiding.solver import Stop

__all__ = [
    "METHODS",
    "Blocking",
    "BorderHiding",
    "Compared",
    "ExactHiding",
    "HeuristicHiding",
    "HidingAttack",
    "HidingQuality",
    "SensitiveRule",
    "Stop",
    "compare_methods",
    "confidence_interval",
    "hider_of",
    "hiding_attack",
    "hiding_quality",
    "support_interval",
]
