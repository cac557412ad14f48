"""Input frames: columns are validated, and results are returned without metadata about what was hidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw

from discreet.core.boundary import refuse_lazy
from discreet.core.errors import InputError, SchemaError


def frame_of(data: Any) -> nw.DataFrame[Any]:
    """Wrap a pandas, Polars or Arrow frame."""
    refuse_lazy(data)
    try:
        return nw.from_native(data, eager_only=True)
    except TypeError:
        raise InputError(f"A {type(data).__name__} has no columns; pass an array or a frame.") from None
    except nw.exceptions.DuplicateError:
        raise SchemaError("The frame has several columns of the same name.") from None


def require_columns(frame: nw.DataFrame[Any], names: Sequence[str]) -> None:
    """Refuse names that the frame does not have, and names that are no texts."""
    if not all(isinstance(name, str) for name in names):
        raise SchemaError("Columns are named by texts; rename those that are not.")
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise SchemaError(f"The frame has no column {', '.join(repr(name) for name in missing)}.")


def require_hidden(frame: nw.DataFrame[Any], names: Sequence[str]) -> None:
    """Refuse columns that are not there, and a pandas index that would reveal what is to be hidden."""
    require_columns(frame, names)
    if frame.implementation.is_pandas_like():
        indexed = [name for name in frame.to_native().index.names if name in names]
        if indexed:
            raise SchemaError(
                f"The frame's index would reveal the true values of '{indexed[0]}'; reset it first."
            )


def released_frame(frame: nw.DataFrame[Any]) -> Any:
    """Return the native frame, without metadata about the original data."""
    native = frame.to_native()
    if frame.implementation.is_pyarrow():
        return native.replace_schema_metadata(None)
    if frame.implementation.is_pandas_like():
        # Attributes of a pandas frame survive assignments, and may hold anything about the original.
        native.attrs = {}
    return native
