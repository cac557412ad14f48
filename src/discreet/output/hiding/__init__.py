"""Hiding sensitive rules in baskets and tables before they are handed over."""

from __future__ import annotations

from discreet.core.sensitive_rules import SensitiveRule
from discreet.output.hiding.attack import HidingAttack, hiding_attack
from discreet.output.hiding.blocking import Blocking, confidence_interval, support_interval
from discreet.output.hiding.border import BorderHiding
from discreet.output.hiding.exact import ExactHiding
from discreet.output.hiding.heuristic import HeuristicHiding
from discreet.output.hiding.quality import HidingQuality, hiding_quality

__all__ = [
    "Blocking",
    "BorderHiding",
    "ExactHiding",
    "HeuristicHiding",
    "HidingAttack",
    "HidingQuality",
    "SensitiveRule",
    "confidence_interval",
    "hiding_attack",
    "hiding_quality",
    "support_interval",
]
