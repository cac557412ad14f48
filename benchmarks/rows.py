"""Rows of the benchmark table: what was measured, beside the floor or limit it has to keep."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["pass", "FAIL", "skipped", "told"]


@dataclass(frozen=True)
class Row:
    """One measurement.

    ``value`` is what is compared with ``bound``: a ratio, seconds or bytes, as ``unit`` says. ``ours`` and ``peer``
    are the two measurements behind a ratio. A row without a bound only tells.
    """

    what: str
    value: float | None = None
    unit: str = ""
    bound: float | None = None
    at_least: bool = False
    ours: str = ""
    peer: str = ""
    note: str = ""
    state: State = "told"

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data for JSON."""
        return asdict(self)

    @property
    def shown(self) -> str:
        """The value as text."""
        return "" if self.value is None else amount(self.value, self.unit)

    @property
    def asked(self) -> str:
        """The floor or limit as text."""
        if self.bound is None:
            return ""
        return f"{'≥' if self.at_least else '≤'} {amount(self.bound, self.unit)}"


def faster(what: str, ours: float, peer: float, floor: float | None = None, *, note: str = "") -> Row:
    """Compare CPU seconds with a peer's: the ratio must reach the floor; without one it is only told."""
    ratio = peer / ours
    shown = {"ours": amount(ours, "s"), "peer": amount(peer, "s"), "note": note}
    if floor is None:
        return Row(what, ratio, "×", **shown)
    return Row(what, ratio, "×", floor, at_least=True, **shown, state="pass" if ratio >= floor else "FAIL")


def within(
    what: str, value: float, limit: float, unit: str, *, ours: str = "", peer: str = "", note: str = ""
) -> Row:
    """Compare a measurement with the most it may be."""
    state: State = "pass" if value <= limit else "FAIL"
    return Row(what, value, unit, limit, ours=ours or amount(value, unit), peer=peer, note=note, state=state)


def skipped(what: str, why: str) -> Row:
    """Describe that a measurement was not made, and why; it is counted, and does not fail."""
    return Row(what, note=f"skipped: {why}", state="skipped")


def failed(what: str, why: str) -> Row:
    """Describe that a measurement could not be made, and why; that is a failure."""
    return Row(what, note=why, state="FAIL")


def amount(value: float, unit: str) -> str:
    """Write an amount with as many digits as matter.

    >>> amount(1875.2, "×"), amount(0.00961, "s"), amount(315572224, "B"), amount(0.075, "GCP")
    ('1,875×', '9.6 ms', '316 MB', '0.0750 GCP')
    """
    if unit == "×":
        return f"{value:,.0f}×" if value >= 20 else f"{value:.2f}×"
    if unit == "B":
        return f"{value / 1e6:,.0f} MB"
    if unit == "s":
        return f"{value * 1e3:.1f} ms" if value < 0.1 else f"{value:.2f} s"
    return f"{value:.4f} {unit}".rstrip()
