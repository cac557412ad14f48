"""The exceptions of a vault."""

from __future__ import annotations

from discreet.core.errors import DiscreetError, InputError


class QueryError(DiscreetError, ValueError):
    """A statement that the vault does not take; which ones depends on the declared columns alone, not on the data."""


class LogError(InputError):
    """A log that is damaged, incomplete or does not belong to its vault; nothing is answered."""


class VaultInUseError(DiscreetError):
    """A vault that another process has open."""


class DataChangedError(InputError):
    """A data file that is not the one the vault was made for."""
