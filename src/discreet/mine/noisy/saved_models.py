"""Saved models: classifiers as plain data, which anyone can read and no record is in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.collect.saved_channels import channel_from_dict
from discreet.core.boundary import public, reads
from discreet.core.errors import DiscreetError, InputError, SchemaError
from discreet.mine.noisy.columns import NoisyColumn
from discreet.mine.noisy.decision_tree import ReconstructedTree
from discreet.mine.noisy.grown_tree import GrownTree
from discreet.mine.noisy.naive_bayes import ReconstructedNaiveBayes

Model = ReconstructedTree | ReconstructedNaiveBayes

FORMAT = "discreet model 1"
_KINDS: dict[str, type[Model]] = {"tree": ReconstructedTree, "naive-bayes": ReconstructedNaiveBayes}
_PLAIN = (str, int, float, bool)


@public
def model_to_dict(model: Model) -> dict[str, Any]:
    """Return a fitted classifier as plain data for JSON.

    It holds the channels, which are public, and what was learned: thresholds and counts of leaves, or shares of
    intervals. Names of categories are in it, records are not.

    Examples
    --------
    >>> learned = ReconstructedTree(min_leaf=1).fit([[1.0], [2.0], [3.0], [4.0]] * 9, ["a", "a", "b", "b"] * 9)
    >>> plain = model_to_dict(learned)
    >>> plain["tree"]["nodes"][0]
    {'column': 0, 'below': 2.5, 'left': 1, 'right': 2, 'counts': [18, 18]}
    >>> model_from_dict(plain).predict([[0.0], [9.0]]).tolist()
    ['a', 'b']
    """
    kind = next((name for name, one in _KINDS.items() if isinstance(model, one)), None)
    if kind is None or not hasattr(model, "columns_"):
        raise InputError("Only a fitted ReconstructedTree or ReconstructedNaiveBayes can be saved.")
    for column in model.columns_:
        if not all(isinstance(category, _PLAIN) for category in column.categories):
            raise SchemaError(f"Column '{column.name}' holds categories that are neither texts nor numbers.")
    parameters = {name: value for name, value in model.get_params().items() if name != "channels"}
    plain = {
        "format": FORMAT,
        "model": kind,
        "parameters": {
            name: getattr(value, "item", lambda one=value: one)() for name, value in parameters.items()
        },
        "classes": model.classes_.tolist(),
        "named": hasattr(model, "feature_names_in_"),
        "channels": [
            None if column.channel is None else column.channel.to_dict() for column in model.columns_
        ],
    }
    if isinstance(model, ReconstructedTree):
        return plain | {"tree": model.tree_.to_dict()}
    return plain | {
        "priors": model.class_prior_.tolist(),
        "columns": [
            column.to_dict() | {"shares": shares.tolist()}
            for column, shares in zip(model.columns_, model.shares_, strict=True)
        ],
    }


@public
@reads("The saved model")
def model_from_dict(plain: Mapping[str, Any]) -> Model:
    """Read what ``model_to_dict`` returns; the classifier predicts as the one that was saved."""
    if (
        not isinstance(plain, Mapping)
        or plain.get("format") != FORMAT
        or plain.get("model") not in list(_KINDS)
    ):
        raise InputError("This is not a model that was saved by Discreet.")
    try:
        return _read(plain)
    except DiscreetError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
        raise InputError("The saved model is damaged.") from None


def _read(plain: Mapping[str, Any]) -> Model:
    channels = [None if one is None else channel_from_dict(one) for one in plain["channels"]]
    model = _KINDS[plain["model"]](channels, **plain["parameters"])
    model.classes_ = np.array(plain["classes"])
    if isinstance(model, ReconstructedTree):
        tree = GrownTree.from_dict(plain["tree"])
        names = list(tree.names)
        _require_whole(
            tree.counts.shape[1] == model.classes_.size,
            len(names) == len(channels),
            bool((np.isfinite(tree.counts) & (tree.counts >= 0)).all()),
        )
        kinds = list(tree.kinds)
        model.keep(tree)
    else:
        model.class_prior_ = np.array(plain["priors"], np.float64)
        model.columns_ = [NoisyColumn.from_dict(column) for column in plain["columns"]]
        model.shares_ = [np.array(column["shares"], np.float64) for column in plain["columns"]]
        names = [column.name for column in model.columns_]
        kinds = [column.categories for column in model.columns_]
        expected = [(column.n_places, model.classes_.size) for column in model.columns_]
        _require_whole(
            model.class_prior_.shape == model.classes_.shape,
            [shares.shape for shares in model.shares_] == expected,
            len(names) == len(channels),
            *(bool(((part >= 0) & (part <= 1)).all()) for part in (model.class_prior_, *model.shares_)),
        )
    _require_whole(
        all(isinstance(name, str) for name in names),
        all(isinstance(kind, _PLAIN) for several in kinds for kind in several),
    )
    model.n_features_in_ = len(names)
    if plain["named"]:
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def _require_whole(*right: bool) -> None:
    if not all(right):
        raise InputError("The saved model is damaged: its parts do not fit together.")
