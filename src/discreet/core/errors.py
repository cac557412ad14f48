"""The exceptions: mistakes a user can mend, and bugs of our own. No message ever holds a data value."""

from __future__ import annotations

from collections.abc import Mapping


class DiscreetError(Exception):
    """Something the user can mend; the message says what, and never shows a data value.

    ``fix`` holds parameters that would mend it, by name, with values to try. The command line shows them as options.
    """

    remedy: str | None = None
    """What to type instead, where a command knows it."""

    def __init__(self, *args: object, fix: Mapping[str, object] | None = None) -> None:
        super().__init__(*args)
        self.fix = dict(fix or {})


class ParameterError(DiscreetError, ValueError):
    """A parameter outside its constraint."""


class SchemaError(DiscreetError, ValueError):
    """Roles and columns that do not fit the data."""


class HierarchyError(DiscreetError, ValueError):
    """A generalization tree that does not cover its column, or is no tree."""


class InputError(DiscreetError, ValueError):
    """A file or frame that cannot be read as a table."""


class OutputError(DiscreetError):
    """A target that cannot be written; nothing is left half-written."""


class ExistsError(OutputError):
    """A target that is there already, and may not be replaced."""


class NetworkError(InputError):
    """A machine or a database that cannot be reached, or that closed the connection."""


class InfeasibleError(DiscreetError):
    """No release keeps the guarantee; the message says what would make it feasible."""


class PromiseBrokenError(DiscreetError):
    """A release whose verdict is not ok was about to be written."""


class StrictError(DiscreetError):
    """A release about which there is a caution, where none is allowed."""


class InternalError(Exception):
    """A bug of ours: please report it. The message never shows a data value."""
