"""A decision tree learned from noisy values: Global, ByClass and Local (Agrawal & Srikant, SIGMOD 2000)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.arrays import FloatArray
from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import BOOL, NONE, Constraints, FloatIn, IntIn, OneOf, check_parameters, require
from discreet.mine.noisy.columns import noisy_columns
from discreet.mine.noisy.grown_tree import GrownTree
from discreet.mine.noisy.input import classes_of, feature_columns
from discreet.mine.noisy.tree_growing import Grower, Strategy, prune

_MOST_INTERVALS = 1_000
_MOST_CLASSES = 256
_FINEST = 256
"""Into how many intervals numbers are cut that were not hidden; finding a threshold among them costs little."""


@public
@dataclass(repr=False, eq=False)
class ReconstructedTree(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Learn a decision tree from noisy values, through the reconstructed distributions of the true ones.

    Noisy rows are assigned to intervals so that each gets as many as reconstruction says, the lowest reports in the
    lowest intervals; the tree then splits between intervals.

    Parameters
    ----------
    channels
        The channel of each column: a mapping from column names (or numbers), a sequence, or ``Channels``;
        ``AdditiveNoise`` for numbers, ``RandomizedResponse`` for categories. A column that was not hidden has none.
    strategy
        ``global`` reconstructs each column once; ``by_class`` once within each class; ``local`` also again within each
        class at every node that has enough rows, but for the columns that the way there has split on.
    intervals
        Into how many intervals a hidden column of numbers is cut.
    max_depth
        How deep the tree may grow; by default there is no limit.
    min_leaf
        How many rows a leaf must have: a number, or a share of all rows.
    pruned
        Whether splits that do not pay for themselves (by description length) are taken back.

    Attributes
    ----------
    classes_
        The classes, in order.
    tree_, n_leaves_, depth_
        The tree, and its size.
    columns_
        A `NoisyColumn` for each column.

    Examples
    --------
    >>> from discreet.collect import AdditiveNoise, Uniform
    >>> from discreet.datasets import agrawal
    >>> people = agrawal("F1", n=5000, random_state=1)
    >>> channel = AdditiveNoise(Uniform.for_privacy(1.0, low=20, high=80), low=20, high=80)
    >>> age, label = people["age"].to_numpy()[:, None], people["class"].to_numpy()
    >>> noisy = channel.perturb(age, random_state=2)
    >>> learned = ReconstructedTree([channel]).fit(noisy, label).score(age, label)
    >>> naively = ReconstructedTree().fit(noisy, label).score(age, label)
    >>> bool(learned > naively)
    True
    """

    channels: Any = None
    _: KW_ONLY
    strategy: Strategy = "by_class"
    intervals: int = 50
    max_depth: int | None = None
    min_leaf: int | float = 0.001
    pruned: bool = True

    constraints: ClassVar[Constraints] = {
        "strategy": OneOf(("global", "by_class", "local")),
        "intervals": IntIn(2, _MOST_INTERVALS),
        "max_depth": (IntIn(0), NONE),
        "min_leaf": (IntIn(1), FloatIn(0, 1, closed="neither")),
        "pruned": BOOL,
    }

    def fit(self, X: Any, y: Any) -> ReconstructedTree:
        """Learn from noisy rows and their classes."""
        check_parameters(self)
        values, names = feature_columns(self, X, reset=True)
        self.classes_, labels = classes_of(y, values)
        if self.classes_.size > _MOST_CLASSES:
            raise InputError(
                f"The rows have {self.classes_.size:,} classes, and a tree takes at most {_MOST_CLASSES}; is "
                "the target a name or a number?"
            )
        self.columns_ = noisy_columns(self, values, names, intervals=self.intervals, finest=_FINEST)
        bins = np.column_stack([
            column.bins(reported) for column, reported in zip(self.columns_, values, strict=True)
        ])  # fmt: skip
        # 1 is one row and 1.0 would be all of them, so the type decides and not the value.
        shared = not isinstance(self.min_leaf, Integral)
        grower = Grower(
            self.columns_,
            bins,
            labels,
            self.classes_.size,
            strategy=self.strategy,
            max_depth=self.max_depth,
            min_leaf=max(math.ceil(self.min_leaf * labels.size) if shared else int(self.min_leaf), 1),
        )
        nodes = grower.grow()
        if self.pruned:
            prune(nodes, self.columns_)
        return self.keep(GrownTree.of(nodes, self.columns_))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the shares of the classes in the leaf that each row of true values falls into."""
        check_is_fitted(self)
        values, _ = feature_columns(self, X, reset=False)
        counts = self.tree_.counts[self.tree_.leaves(values)]
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Return the most frequent class of each row's leaf."""
        chosen = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def describe(self, *, max_depth: int | None = None) -> str:
        """Write the tree as indented lines."""
        check_is_fitted(self)
        require(self, "max_depth", max_depth, IntIn(0), NONE)
        return self.tree_.describe(self.classes_.tolist(), max_depth=max_depth)

    def keep(self, tree: GrownTree) -> ReconstructedTree:
        """Take a tree that was grown, here or elsewhere, as the one to predict with."""
        self.tree_ = tree
        self.n_leaves_, self.depth_ = tree.n_leaves, tree.depth
        return self
