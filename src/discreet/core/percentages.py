"""Percentages: shares are written one way, in the terminal and in reports."""

from __future__ import annotations

import math


def percent(share: float) -> str:
    """Write a share so that little is never shown as nothing, nor almost all as all.

    >>> percent(0.2), percent(0.00002), percent(0), percent(0.99999)
    ('20%', 'under 0.1%', '0%', 'over 99.9%')
    """
    if not math.isfinite(share):
        return "–"
    if 0 < share < 0.0005:
        return "under 0.1%"
    if 0.9995 < share < 1:
        return "over 99.9%"
    return f"{100 * share:.1f}".removesuffix(".0") + "%"
