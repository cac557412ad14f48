"""Mining: itemsets and rules, of true baskets and distorted ones; classifiers and statistics from noisy values."""

from typing import TYPE_CHECKING

from discreet.core.lazily import lazily
from discreet.mine.corrected_statistics import Moments, Regression, corrected_moments, corrected_regression
from discreet.mine.found_itemsets import FoundItemsets
from discreet.mine.grouped_itemsets import FoundGroupedItemsets
from discreet.mine.itemsets import Itemsets
from discreet.mine.masked_itemsets import FoundMaskedItemsets, MaskedItemsets
from discreet.mine.rules import rules

if TYPE_CHECKING:
    from discreet.mine.decision_tree import ReconstructedTree
    from discreet.mine.naive_bayes import ReconstructedNaiveBayes
    from discreet.mine.saved_models import model_from_dict, model_to_dict
    from discreet.mine.sketch_kmeans import SketchKMeans
    from discreet.mine.sketch_neighbors import SketchNeighbors
    from discreet.mine.sketch_reconstruction import SketchReconstruction

_HOMES = {
    "ReconstructedNaiveBayes": "naive_bayes",
    "ReconstructedTree": "decision_tree",
    "SketchKMeans": "sketch_kmeans",
    "SketchNeighbors": "sketch_neighbors",
    "SketchReconstruction": "sketch_reconstruction",
    "model_from_dict": "saved_models",
    "model_to_dict": "saved_models",
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
