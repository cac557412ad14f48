"""Membership inference against pseudo-data, beside the distance to the closest record, which proves nothing."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from discreet.core.boundary import public
from discreet.core.params import InstanceOf, require
from discreet.core.tables.table import Table
from discreet.measure.pseudo.closeness import Closeness, Membership, closeness_between, membership
from discreet.measure.tables.risk import SinglingOut, singling_out

_Z = 1.959963984540054
"""The quantile of the normal distribution for intervals of 95 %."""
CLOSENESS_PROVES_NOTHING = (
    "A closest record that is far away proves nothing: an attack by distance that fails says nothing of another that "
    "looks at more than distance."
)
"""What stands beside every distance to the closest record."""


@public
@dataclass(frozen=True)
class MembershipAttack:
    """How well an attacker recognizes who is in pseudo-data, with an interval.

    Attributes
    ----------
    membership
        The probability that a member is nearer to the pseudo-data than somebody who is not one; None without a control
        group.
    low, high
        The interval that holds it with 95 %, by Hanley and McNeil.
    risk
        What being in the data adds: 2 auc - 1, never below 0; 0 is a coin.
    closeness
        How near pseudo-records come to records, beside how near records come to one another. A closest record that is
        far away proves nothing.
    singled_out
        The rows that columns published as they are single out.
    """

    membership: Membership | None
    low: float
    high: float
    risk: float
    closeness: Closeness
    singled_out: SinglingOut

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain data for JSON."""
        listed = asdict(self) | {"singled_out": self.singled_out.to_dict()}
        return listed | {"closeness_proves": CLOSENESS_PROVES_NOTHING}


@public
def membership_attack(released: Table, original: Table, *, control: Table | None = None) -> MembershipAttack:
    """Attack pseudo-data: recognize the people it was drawn from by their distance to the nearest pseudo-record.

    Parameters
    ----------
    released
        The rows of pseudo-data.
    original
        The people whose records they were drawn from.
    control
        People of the same kind whose records they were not drawn from, set aside before.

    References
    ----------
    J. Hanley, B. McNeil: The meaning and use of the area under a receiver operating characteristic curve. Radiology
    143, 1982.

    Examples
    --------
    The original, published as it is, gives everybody away:

    >>> import pyarrow as pa
    >>> from discreet import quasi
    >>> first, second = (Table(pa.table({"a": [n + 0.1 * at for n in range(40)]}), {"a": quasi()}) for at in range(2))
    >>> attack = membership_attack(first, first, control=second)
    >>> attack.membership.auc, attack.risk, attack.closeness.copies
    (1.0, 1.0, 1.0)
    """
    for name, table in (("released", released), ("original", original)):
        require("membership_attack", name, table, InstanceOf((Table,), "a Table"))
    require("membership_attack", "control", control, InstanceOf((Table, type(None)), "a Table or None"))
    near, unique = closeness_between(original, released), singling_out(released)
    if control is None:
        return MembershipAttack(None, 0.0, 1.0, 0.0, near, unique)
    recognized = membership(original, control, released)
    half = _Z * _error(recognized)
    auc = recognized.auc
    return MembershipAttack(
        recognized, max(auc - half, 0.0), min(auc + half, 1.0), max(2 * auc - 1, 0.0), near, unique
    )


def _error(recognized: Membership) -> float:
    """Return the standard error of an area under the curve, by Hanley and McNeil's exponential approximation."""
    auc, n, m = recognized.auc, recognized.n_members, recognized.n_others
    one, other = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    variance = auc * (1 - auc) + (n - 1) * (one - auc**2) + (m - 1) * (other - auc**2)
    return math.sqrt(max(variance, 0.0) / (n * m))
