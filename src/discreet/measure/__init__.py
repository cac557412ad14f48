"""Measures: what a release costs, how much risk is left, and what an attacker with another table would learn."""

from discreet.measure.attack import AttributeRisk, Linkage, linkage
from discreet.measure.loss import Entropy, Loss, aggregate, loss, loss_between
from discreet.measure.risk import AttackerRisk, ClassSizes, Risk, class_size_histogram, risk

__all__ = [
    "AttackerRisk",
    "AttributeRisk",
    "ClassSizes",
    "Entropy",
    "Linkage",
    "Loss",
    "Risk",
    "aggregate",
    "class_size_histogram",
    "linkage",
    "loss",
    "loss_between",
    "risk",
]
