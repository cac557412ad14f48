"""Measures: what a release costs, how much risk is left, and what an attacker with another table would learn."""

from discreet.measure.attack import AttributeRisk, Linkage, linkage
from discreet.measure.basic_privacy import average_basic_privacy, basic_privacy
from discreet.measure.basket_risk import (
    BasketRisk,
    Reidentification,
    SensitiveTie,
    basket_risk,
    reidentification,
    sensitive_tie,
)
from discreet.measure.closeness import (
    Closeness,
    Membership,
    closeness,
    closeness_between,
    closest_records,
    membership,
    membership_of_points,
)
from discreet.measure.fidelity import (
    Fidelity,
    NeighbourAccuracy,
    covariance_compatibility,
    fidelity,
    fidelity_between,
    neighbour_accuracy,
)
from discreet.measure.itemset_error import (
    ItemsetError,
    expected_error,
    itemset_error,
    itemset_error_by_length,
)
from discreet.measure.kl_cells import CellError, kl, kl_cells, mean_kl_cells
from discreet.measure.loss import Entropy, Loss, aggregate, loss, loss_between
from discreet.measure.noise_stripping import NoiseStripped
from discreet.measure.pca_attack import pca_attack
from discreet.measure.query_attack import (
    averaging,
    differencing,
    general_tracker,
    individual_tracker,
    linear_reconstruction,
    random_queries,
)
from discreet.measure.query_target import QueryAttack, QueryTarget
from discreet.measure.reinterrogated_privacy import reinterrogated_privacy
from discreet.measure.risk import AttackerRisk, ClassSizes, Risk, class_size_histogram, risk
from discreet.measure.sketch_attack import (
    GuessedAttributes,
    LinkedSketches,
    guess_attributes,
    link_sketches,
)
from discreet.measure.sketch_quality import (
    ReconstructionError,
    accuracy_by_prior,
    cluster_cohesion,
    neighbour_overlap,
    reconstruction_error,
)
from discreet.measure.spectral_attack import spectral_attack

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
    "NeighbourAccuracy",
    "NoiseStripped",
    "QueryAttack",
    "QueryTarget",
    "ReconstructionError",
    "Reidentification",
    "Risk",
    "SensitiveTie",
    "accuracy_by_prior",
    "aggregate",
    "average_basic_privacy",
    "averaging",
    "basic_privacy",
    "basket_risk",
    "class_size_histogram",
    "closeness",
    "closeness_between",
    "closest_records",
    "cluster_cohesion",
    "covariance_compatibility",
    "differencing",
    "expected_error",
    "fidelity",
    "fidelity_between",
    "general_tracker",
    "guess_attributes",
    "individual_tracker",
    "itemset_error",
    "itemset_error_by_length",
    "kl",
    "kl_cells",
    "linear_reconstruction",
    "link_sketches",
    "linkage",
    "loss",
    "loss_between",
    "mean_kl_cells",
    "membership",
    "membership_of_points",
    "neighbour_accuracy",
    "neighbour_overlap",
    "pca_attack",
    "random_queries",
    "reconstruction_error",
    "reidentification",
    "reinterrogated_privacy",
    "risk",
    "sensitive_tie",
    "spectral_attack",
]
