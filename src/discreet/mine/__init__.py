"""Mining: itemsets and rules, of true baskets and distorted ones; classifiers and statistics from noisy values."""

from typing import TYPE_CHECKING

from discreet.core.lazy import lazily
from discreet.mine.itemsets.found import FoundItemsets
from discreet.mine.itemsets.grouped import FoundGroupedItemsets
from discreet.mine.itemsets.itemsets import Itemsets
from discreet.mine.itemsets.masked import FoundMaskedItemsets, MaskedItemsets
from discreet.mine.itemsets.rules import rules
from discreet.mine.noisy.statistics import Moments, Regression, corrected_moments, corrected_regression

if TYPE_CHECKING:
    from discreet.mine.noisy.decision_tree import ReconstructedTree
    from discreet.mine.noisy.naive_bayes import ReconstructedNaiveBayes
    from discreet.mine.noisy.saved_models import model_from_dict, model_to_dict
    from discreet.mine.sketches.kmeans import SketchKMeans
    from discreet.mine.sketches.neighbors import SketchNeighbors
    from discreet.mine.sketches.values import SketchReconstruction

_HOMES = {
    "ReconstructedNaiveBayes": "noisy.naive_bayes",
    "ReconstructedTree": "noisy.decision_tree",
    "SketchKMeans": "sketches.kmeans",
    "SketchNeighbors": "sketches.neighbors",
    "SketchReconstruction": "sketches.values",
    "model_from_dict": "noisy.saved_models",
    "model_to_dict": "noisy.saved_models",
}
"""What needs scikit-learn, which takes long to load, and is loaded when it is first used."""

__all__ = [
    "FoundGroupedItemsets",
    "FoundItemsets",
    "FoundMaskedItemsets",
    "Itemsets",
    "MaskedItemsets",
    "Moments",
    "ReconstructedNaiveBayes",
    "ReconstructedTree",
    "Regression",
    "SketchKMeans",
    "SketchNeighbors",
    "SketchReconstruction",
    "corrected_moments",
    "corrected_regression",
    "model_from_dict",
    "model_to_dict",
    "rules",
]

__getattr__ = lazily(__name__, _HOMES)
