"""A δ to start from: sketches long enough to compare, if values can be hidden at the same time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.boundary import public
from discreet.core.errors import InfeasibleError
from discreet.core.params import IntIn, require
from discreet.core.records.sparse_rows import SparseRows

LEAST_SHARE = 0.2
"""The least δ as a share of the square of a typical largest value: the least that the paper takes for values of 1."""


@public
@dataclass(frozen=True)
class DeltaProposal:
    """A δ that fits the lengths of records, and what it would come to.

    Attributes
    ----------
    delta
        The proposal, in two digits.
    median_length
        The median length of the sketches that would be published.
    suppressed
        How many records would be suppressed.
    hopeless
        How many of these are suppressed at any δ: they hold nothing beside their largest value.
    relative_error
        The standard error of an estimated value beside the largest value of a typical record.
    """

    delta: float
    median_length: float
    suppressed: int
    hopeless: int
    relative_error: float


@public
def propose_delta(rows: Any, *, components: int = 128, names: Iterable[Any] | None = None) -> DeltaProposal:
    """Propose a δ from the lengths of records: half of them get at least half of the components.

    The longest sketch of a record X has (‖X‖² − max x²)/δ components, so δ depends on the unit of the values: 0.2 suits
    baskets of 20 ones and leaves texts brought to length 1 hardly a component. The proposal is the median of ‖X‖² − max
    x² over half of ``components``, but never below a fifth of a typical max x², so that the error of an estimated value
    stays at 45 % of that value or more. Where records are short, the second decides and sketches stay short: nothing
    hides a value among one or two others.

    It is where to start, not a safe value: measure with :func:`discreet.measure.guess_attributes`. It follows from
    medians of the records, in two digits, and is published as a parameter.

    Parameters
    ----------
    rows, names
        The records, as :meth:`SketchFamily.sketch` takes them.
    components
        The longest sketch there is.

    Examples
    --------
    >>> baskets = [dict.fromkeys(range(first, first + 20), 1) for first in range(50)]
    >>> propose_delta(baskets)
    DeltaProposal(delta=0.3, median_length=63.0, suppressed=0, hopeless=0, relative_error=0.55)
    >>> texts = [{word: 20**-0.5 for word in basket} for basket in baskets]
    >>> propose_delta(texts).delta, propose_delta(texts).median_length
    (0.015, 63.0)
    """
    require("propose_delta", "components", components, IntIn(1, 1 << 20))
    records = SparseRows.of(rows, names=names)
    spare = records.spare
    possible = spare > 0
    if not possible.any():
        raise InfeasibleError("No record holds more than one item, so delta-anonymity suppresses them all.")
    typical = float(np.median(records.largest[possible]))
    proposed = max(2 * float(np.median(spare[possible])) / components, LEAST_SHARE * typical**2)
    delta = float(f"{proposed:.2g}")
    lengths = np.minimum(np.floor(spare / delta), components)
    return DeltaProposal(
        delta=delta,
        median_length=float(np.median(lengths[lengths > 0])) if (lengths > 0).any() else 0.0,
        suppressed=int((lengths < 1).sum()),
        hopeless=int((~possible).sum()),
        relative_error=round(delta**0.5 / typical, 2),
    )
