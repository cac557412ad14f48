"""What protocols that learn a model or statistics have in common: their output, and how a party's rows are read."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.boundary import public
from discreet.parties.mining.models.columns import read_columns, require_names
from discreet.parties.mining.models.saved import model_to_dict
from discreet.parties.protocol import Protocol


@public
@dataclass(frozen=True)
class Fitted:
    """The output of a party: the model or the statistics, and the parties whose rows are in it."""

    model: Any
    parties: tuple[str, ...]


class ModelProtocol(Protocol):
    """A protocol whose output is :class:`Fitted`."""

    def result_files(self, output: Fitted) -> dict[str, Any]:
        """Return the model as plain data, and the labels of the party's own rows where the model has them."""
        labels = getattr(output.model, "labels_", None)
        files: dict[str, Any] = {"model.json": model_to_dict(output.model)}
        return files if labels is None else {**files, "labels.csv": {"cluster": labels}}

    def covers(self, output: Fitted, names: Sequence[str]) -> tuple[str, ...]:
        """Return the parties whose data is in the model."""
        del names
        return output.parties


@dataclass(frozen=True, kw_only=True)
class RowsProtocol(ModelProtocol):
    """A protocol over rows that are split between parties.

    Parameters
    ----------
    columns : tuple of str
        The columns that every party has.
    """

    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        require_names(self, "columns", self.columns)
        if self.names_read != self.columns:
            require_names(self, "target", self.names_read)

    @property
    def names_read(self) -> tuple[str, ...]:
        """The columns that are read: those named, and the target where there is one."""
        target = getattr(self, "target", None)
        return self.columns if target is None else (*self.columns, target)

    @abstractmethod
    def read(self, data: Any) -> Any:
        """Return a party's rows as the protocol uses them; refuse what the session does not admit."""

    def check_input(self, data: Any, names: Sequence[str], name: str) -> None:
        """Raise an InputError unless the party could run with this input."""
        del names, name
        self.read(data)

    def read_input(self, path: str | os.PathLike[str]) -> Any:
        """Read the columns from a file."""
        return read_columns(path, self.names_read)
