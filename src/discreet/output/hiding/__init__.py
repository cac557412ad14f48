"""Hiding sensitive rules in baskets and tables before they are handed over."""

from __future__ import annotations

from discreet.core.sensitive_rules import SensitiveRule
from discreet.output.hiding.border import BorderHiding
from discreet.output.hiding.exact import ExactHiding
from discreet.output.hiding.heuristic import HeuristicHiding
from discreet.output.hiding.quality import HidingQuality, hiding_quality

__all__ = [
    "BorderHiding",
    "ExactHiding",
    "HeuristicHiding",
    "HidingQuality",
    "SensitiveRule",
    "hiding_quality",
]
