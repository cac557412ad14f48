"""Mining: frequent itemsets and association rules, of true baskets and of baskets distorted by their owners."""

from discreet.mine.corrected_statistics import Moments, Regression, corrected_moments, corrected_regression
from discreet.mine.found_itemsets import FoundItemsets
from discreet.mine.itemsets import Itemsets
from discreet.mine.masked_itemsets import FoundMaskedItemsets, MaskedItemsets
from discreet.mine.rules import rules

__all__ = [
    "FoundItemsets",
    "FoundMaskedItemsets",
    "Itemsets",
    "MaskedItemsets",
    "Moments",
    "Regression",
    "corrected_moments",
    "corrected_regression",
    "rules",
]
