"""Measures: what a release costs, how much risk is left, and what an attacker with another table would learn."""

from discreet.measure.baskets.basic_privacy import average_basic_privacy, basic_privacy
from discreet.measure.baskets.itemset_error import (
    ItemsetError,
    expected_error,
    itemset_error,
    itemset_error_by_length,
)
from discreet.measure.baskets.kl_cells import CellError, kl, kl_cells, mean_kl_cells
from discreet.measure.baskets.reinterrogated_privacy import reinterrogated_privacy
from discreet.measure.baskets.risk import (
    BasketRisk,
    Reidentification,
    SensitiveTie,
    basket_risk,
    reidentification,
    sensitive_tie,
)
from discreet.measure.noise.noise_stripping import NoiseStripped
from discreet.measure.noise.pca_attack import pca_attack
from discreet.measure.noise.spectral_attack import spectral_attack
from discreet.measure.pseudo.closeness import (
    Closeness,
    Membership,
    closeness,
    closeness_between,
    closest_records,
    membership,
    membership_of_points,
)
from discreet.measure.pseudo.fidelity import (
    Fidelity,
    NeighborAccuracy,
    covariance_compatibility,
    fidelity,
    fidelity_between,
    neighbor_accuracy,
)
from discreet.measure.sketches.attacks import (
    GuessedAttributes,
    LinkedSketches,
    guess_attributes,
    link_sketches,
)
from discreet.measure.sketches.quality import (
    ReconstructionError,
    accuracy_by_prior,
    cluster_cohesion,
    neighbor_overlap,
    reconstruction_error,
)
from discreet.measure.tables.linkage import AttributeRisk, Linkage, linkage
from discreet.measure.tables.loss import Entropy, Loss, aggregate, loss, loss_between
from discreet.measure.tables.risk import AttackerRisk, ClassSizes, Risk, class_size_histogram, risk

__all__ = [
    "AttackerRisk",
    "AttributeRisk",
    "BasketRisk",
    "CellError",
    "ClassSizes",
    "Closeness",
    "Entropy",
    "Fidelity",
    "GuessedAttributes",
    "ItemsetError",
    "Linkage",
    "LinkedSketches",
    "Loss",
    "Membership",
    "NeighborAccuracy",
    "NoiseStripped",
    "ReconstructionError",
    "Reidentification",
    "Risk",
    "SensitiveTie",
    "accuracy_by_prior",
    "aggregate",
    "average_basic_privacy",
    "basic_privacy",
    "basket_risk",
    "class_size_histogram",
    "closeness",
    "closeness_between",
    "closest_records",
    "cluster_cohesion",
    "covariance_compatibility",
    "expected_error",
    "fidelity",
    "fidelity_between",
    "guess_attributes",
    "itemset_error",
    "itemset_error_by_length",
    "kl",
    "kl_cells",
    "link_sketches",
    "linkage",
    "loss",
    "loss_between",
    "mean_kl_cells",
    "membership",
    "membership_of_points",
    "neighbor_accuracy",
    "neighbor_overlap",
    "pca_attack",
    "reconstruction_error",
    "reidentification",
    "reinterrogated_privacy",
    "risk",
    "sensitive_tie",
    "spectral_attack",
]
