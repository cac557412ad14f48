"""Cautions: what a careful data officer would say about a release although its guarantee holds."""

from __future__ import annotations

from discreet.core.boundary import public
from discreet.core.figures import Caution
from discreet.core.release import Release


@public
def cautions(release: Release) -> tuple[Caution, ...]:
    """Return what a careful data officer would say about a release before it is handed on.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import Table, quasi, sensitive
    >>> from discreet.guarantees import KAnonymity
    >>> from discreet.publish import Mondrian
    >>> table = Table(pa.table({"age": [20, 20, 30, 30], "disease": ["flu", "flu", "cold", "cold"]}),
    ...     {"age": quasi(), "disease": sensitive()})
    >>> [caution.code for caution in cautions(Mondrian(KAnonymity(2)).release(table))]
    ['dominated-class']
    """
    return release.cautions
