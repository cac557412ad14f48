"""Publishers of tables as a transformer of scikit-learn, for pipelines, grid searches and comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.boundary import public
from discreet.core.errors import InputError
from discreet.core.params import InstanceOf, require
from discreet.core.tables.judged_frame import as_table
from discreet.core.tables.source import source_of
from discreet.publish.recipes.recipe import Recipe
from discreet.publish.tables.publisher import TablePublisher


@public
@dataclass(repr=False, eq=False)
class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A publisher of tables that learns its cells from one frame, and generalizes others by them.

    ``fit`` releases the frame: ``release_`` is what may be handed on, judged and in random order. ``transform`` is for
    models: it returns every row in its place, at the cells that were learned, and ``*`` where no cell holds it. Nothing
    is guaranteed of what it returns.

    Parameters
    ----------
    publisher
        A publisher of tables, such as ``Mondrian(KAnonymity(5))``.
    quasi
        The columns that others may know.
    sensitive, identifier
        The columns that must not be learned about a person, and those that name one and are dropped.
    person
        The column that says whose row it is, so that people are counted; dropped.

    Attributes
    ----------
    release_ : Release
        The frame that was fitted, released.
    recipe_ : Recipe
        The cells that were learned.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet.guarantees import KAnonymity
    >>> from discreet.publish import Mondrian
    >>> frame = pa.table({"age": [24, 37, 26, 38, 36, 25], "disease": ["flu", "flu", "cold", "cold", "flu", "flu"]})
    >>> anonymizer = Anonymizer(Mondrian(KAnonymity(3)), quasi=["age"], sensitive=["disease"])
    >>> anonymizer.fit_transform(frame)["age"].to_pylist()[:2], anonymizer.release_.verdict.ok
    (['[24, 26]', '[36, 38]'], True)
    >>> anonymizer.transform(frame.slice(0, 1).set_column(0, "age", pa.array([90])))["age"].to_pylist()
    ['*']
    """

    publisher: TablePublisher
    _: KW_ONLY
    quasi: Sequence[str]
    sensitive: Sequence[str] = ()
    identifier: Sequence[str] = ()
    person: str | None = None

    def fit(self, X: Any, y: Any = None) -> Anonymizer:
        """Release a frame, and learn its cells; ``y`` is not looked at."""
        del y
        require(
            self,
            "publisher",
            self.publisher,
            InstanceOf((TablePublisher,), "a publisher of tables, such as Mondrian"),
        )
        table = as_table(self, X, self.quasi, self.sensitive, self.person, self.identifier)
        self.feature_names_in_ = np.array(table.source.names, dtype=object)
        self.n_features_in_ = len(table.source.names)
        self.release_ = self.publisher.release(table)
        self.recipe_ = Recipe(self.release_.recipe, self.release_.private)
        return self

    def transform(self, X: Any) -> Any:
        """Return the rows of a frame in their order, at the cells that were learned."""
        check_is_fitted(self)
        names = source_of(X).names
        if list(names) != self.feature_names_in_.tolist():
            raise InputError("The frame must have the columns that were fitted, in their order.")
        rows = self.recipe_.generalize(X)
        # Every row stays in its place, and so keeps its label of pandas.
        if hasattr(rows, "set_axis") and hasattr(X, "index"):
            return rows.set_axis(X.index, axis=0)
        return rows

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns that `transform` returns."""
        del input_features
        check_is_fitted(self)
        return np.array(tuple(self.release_.schema), dtype=object)
