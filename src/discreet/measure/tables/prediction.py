"""Prediction: how well a linear model trained on some rows of a table predicts a column of the others."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from discreet.core.arrays import FloatArray, IntArray
from discreet.core.boundary import public
from discreet.core.errors import SchemaError
from discreet.core.params import IntIn, require
from discreet.core.release import Release
from discreet.core.tables.encoding import Codebook, ColumnType, as_line
from discreet.core.tables.labels import Any_, Interval, SetOf, parse_label, texts
from discreet.core.tables.table import Table

MOST_CLASSES = 30
"""A column of more values than this is predicted only where it holds numbers."""
_MOST_FEATURES = 60
_TEST = 0.3
_MOST_STEPS, _FLAT = 100, 1e-5
"""The most steps of a fit, and the slope of the likelihood, for each row, at which it ends sooner."""
_CONSTANT = 1e-8
"""The penalty of the constant: as good as none, and no matrix is singular."""
_LABELS = ("class", "target", "label", "outcome", "y")


@public
@dataclass(frozen=True)
class Prediction:
    """How well a column is predicted from the quasi-identifiers.

    Attributes
    ----------
    column
        The predicted column.
    kind
        ``"class"``: logistic regression, scored by the share of right answers. ``"number"``: linear regression,
        scored by the share of the variance that it explains.
    score
        The score on rows that were not trained on.
    baseline
        The score of always answering the commonest value, or the mean.
    n_rows
        How many rows were drawn, for training and for the score.
    """

    column: str
    kind: Literal["class", "number"]
    score: float
    baseline: float
    n_rows: int

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data for JSON."""
        return asdict(self)


@public
def prediction(data: Table | Release, column: str, *, max_rows: int = 5_000) -> Prediction:
    """Train a linear model on 70 % of the rows, and score it on the rest.

    Which rows are drawn follows from the rows alone, so that the same table has the same score. Intervals count as
    their middle, sets as equal parts of their members, ``*`` as nothing known.

    Parameters
    ----------
    data
        A table, or a release, whose released rows are taken.
    column
        The column to predict, a sensitive one.
    max_rows
        The most rows to draw.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, quasi, sensitive
    >>> frame = pa.table({"age": [20, 30, 60, 70] * 50, "ill": ["no", "no", "yes", "yes"] * 50})
    >>> found = prediction(Table(frame, {"age": quasi(), "ill": sensitive()}), "ill")
    >>> found.kind, found.score, found.baseline < 0.7
    ('class', 1.0, True)
    """
    require("prediction", "max_rows", max_rows, IntIn(10))
    table = data.table if isinstance(data, Release) else data
    if column not in table.schema.sensitive:
        raise SchemaError(f"'{column}' is not a sensitive column of the table.")
    book = table.encoded[column]
    chosen = _drawn(table, max_rows)
    answers = table.codes(column)[chosen].astype(np.int64)
    chosen, answers = chosen[answers > 0], answers[answers > 0]
    inputs = np.hstack([_features(table, name, chosen) for name in table.schema.quasi])
    n_test = int(_TEST * chosen.size)
    if n_test == 0 or chosen.size - n_test < 2:
        return Prediction(column, "class", float("nan"), float("nan"), int(chosen.size))
    number = book.kind is ColumnType.NUMBER and len(book.values) > MOST_CLASSES
    if number:
        line = as_line(book.values)
        target = (line - line.mean())[answers - 1]
        score, baseline = _regression(inputs, target, n_test)
    else:
        score, baseline = _classification(inputs, answers, n_test)
    return Prediction(column, "number" if number else "class", score, baseline, int(chosen.size))


def predictable(table: Table) -> list[str]:
    """Return the sensitive columns that can be predicted, numbers and those of few values; the label first."""
    names = [
        name
        for name in table.schema.sensitive
        if 2 <= len(table.encoded[name].values) <= MOST_CLASSES
        or (table.encoded[name].kind is ColumnType.NUMBER and len(table.encoded[name].values) > 1)
    ]
    # The column that a table is about, such as its class, is by habit its last one, or is called so.
    label = next((name for name in names if name.casefold() in _LABELS), None)
    last = label or (names[-1] if names and names[-1] == tuple(table.schema)[-1] else None)
    return sorted(names, key=lambda name: name != last)


def _drawn(table: Table, max_rows: int) -> IntArray:
    """Draw rows in an order that follows from the distinct tuples alone; gives the tuple of each."""
    rng = np.random.default_rng(0)
    places = rng.choice(table.n_rows, min(max_rows, table.n_rows), replace=False)
    ends = np.cumsum(table.tuples.counts)
    return np.searchsorted(ends, places, side="right")


def _features(table: Table, name: str, chosen: IntArray) -> FloatArray:
    """Return what a column says of the chosen tuples, as numbers."""
    book, counts = table.encoded[name], table.overall(name)
    middles = _middles(book)
    numeric = np.isfinite(middles)
    if counts[numeric].sum() >= 0.5 * counts.sum():
        weights = counts[numeric]
        mean = np.average(middles[numeric], weights=weights)
        spread = np.sqrt(np.average((middles[numeric] - mean) ** 2, weights=weights)) or 1.0
        scaled = np.where(numeric, (np.nan_to_num(middles) - mean) / spread, 0.0)
        described = np.stack([scaled, (~numeric).astype(np.float64)], axis=1)
    else:
        described = _members(book, counts)
    return np.asarray(described[table.codes(name)[chosen]], np.float64)


def _middles(book: Codebook) -> FloatArray:
    """Return the number or the middle of the interval that each code stands for; NaN for anything else."""
    middles = np.full(book.n_codes, np.nan)
    if book.kind in (ColumnType.NUMBER, ColumnType.DATE):
        middles[1:] = as_line(book.values)
        return middles
    if not pa.types.is_string(book.values.type):
        return middles
    for code, label in enumerate(book.values.to_pylist(), start=1):
        meaning = parse_label(label)
        ends = (meaning.low, meaning.high) if isinstance(meaning, Interval) else (label, label)
        try:
            low, high = ends[0] or ends[1] or "", ends[1] or ends[0] or ""
            middles[code] = (float(low) + float(high)) / 2
        except (TypeError, ValueError):
            continue
    return np.where(np.isfinite(middles), middles, np.nan)


def _members(book: Codebook, counts: IntArray) -> FloatArray:
    """Return a column for each of the commonest values; a set has equal parts of its members."""
    items_of = [_items(label) for label in texts(book.values).to_pylist()]
    shares: dict[str, float] = {}
    for items, count in zip(items_of, counts[1:].tolist(), strict=True):
        for item in items:
            shares[item] = shares.get(item, 0.0) + count / len(items)
    common = sorted(shares, key=lambda item: (-shares[item], item))[:_MOST_FEATURES]
    column = {item: at for at, item in enumerate(common)}
    features = np.zeros((book.n_codes, len(common) + 1))
    features[0, -1] = 1.0
    for code, items in enumerate(items_of, start=1):
        for item in items:
            features[code, column.get(item, len(common))] += 1 / len(items)
    return features


def _items(label: str) -> tuple[str, ...]:
    meaning = parse_label(label)
    if isinstance(meaning, SetOf):
        return meaning.items
    return () if isinstance(meaning, Any_) else (label,)


def _classification(inputs: FloatArray, answers: IntArray, n_test: int) -> tuple[float, float]:
    train, test = slice(n_test, None), slice(0, n_test)
    values, counts = np.unique(answers[train], return_counts=True)
    baseline = float((answers[test] == values[counts.argmax()]).mean())
    if values.size < 2:
        return baseline, baseline
    weights = _logistic_weights(_with_constant(inputs[train]), np.searchsorted(values, answers[train]))
    predicted = values[(_with_constant(inputs[test]) @ weights).argmax(axis=1)]
    return float((predicted == answers[test]).mean()), baseline


def _regression(inputs: FloatArray, target: FloatArray, n_test: int) -> tuple[float, float]:
    train, test = slice(n_test, None), slice(0, n_test)
    rows = _with_constant(inputs[train])
    weights = np.linalg.solve(_ridge(rows.T @ rows, rows.shape[1]), rows.T @ target[train])
    around = float(((target[test] - target[train].mean()) ** 2).sum())
    left = float(((target[test] - _with_constant(inputs[test]) @ weights) ** 2).sum())
    return (1 - left / around if around else 0.0), 0.0


def _logistic_weights(rows: FloatArray, classes: IntArray) -> FloatArray:
    """Return the weights of a multinomial logistic regression with a ridge penalty of 1, a column for each class."""
    # Böhning's bound: whatever the weights, the curvature of the likelihood is at most half of rows'rows per class.
    # So one inverse serves every step, no step can overshoot, and Nesterov's momentum makes few steps do. It starts
    # anew where it points uphill. A step costs two products of the rows with a matrix of weights.
    n_features, n_classes = rows.shape[1], int(classes.max()) + 1
    inverse = np.linalg.inv(_ridge(rows.T @ rows / 2, n_features))
    penalty = np.append(np.ones(n_features - 1), _CONSTANT)[:, None]
    truth = np.equal.outer(classes, np.arange(n_classes)).astype(np.float64)
    weights = ahead = np.zeros((n_features, n_classes))
    momentum = 1.0
    for _ in range(_MOST_STEPS):
        scores = rows @ ahead
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
        slope = rows.T @ (likely - truth) + penalty * ahead
        if np.abs(slope).max() <= _FLAT * len(rows):
            break
        following = ahead - inverse @ slope
        if (slope * (following - weights)).sum() > 0:
            momentum = 1.0
        later = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = following + (momentum - 1) / later * (following - weights)
        weights, momentum = following, later
    return weights


def _ridge(squares: FloatArray, n_features: int) -> FloatArray:
    """Return the products of features with the penalty on the diagonal; the constant, which comes last, has none."""
    squares[np.diag_indices(n_features)] += np.append(np.ones(n_features - 1), _CONSTANT)
    return squares


def _with_constant(inputs: FloatArray) -> FloatArray:
    return np.hstack([inputs, np.ones((len(inputs), 1))])
