"""Rows of the benchmark table: what was measured, beside the floor or limit it has to keep."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from statistics import median_low
from typing import Any, Literal

from reference import SECONDS, reference

State = Literal["pass", "FAIL", "skipped", "info"]


@dataclass(frozen=True)
class Row:
    """One measurement.

    ``value`` is what is compared with ``bound``: a ratio, reference jobs or bytes, as ``unit`` says. ``ours``
    and ``peer`` are the two measurements behind a ratio. A row without a bound is printed and not judged.
    """

    what: str
    value: float | None = None
    unit: str = ""
    bound: float | None = None
    at_least: bool = False
    ours: str = ""
    peer: str = ""
    note: str = ""
    state: State = "info"

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
    """Compare CPU seconds with a peer's: the ratio must reach the floor; without one it is only printed."""
    ratio = peer / ours
    shown = {"ours": amount(ours, "s"), "peer": amount(peer, "s"), "note": note}
    if floor is None:
        return Row(what, ratio, "×", **shown)
    return Row(what, ratio, "×", floor, at_least=True, **shown, state="pass" if ratio >= floor else "FAIL")


def within(
    what: str,
    value: float,
    limit: float,
    unit: str,
    *,
    ours: str = "",
    peer: str = "",
    note: str = "",
    clock: bool = False,
) -> Row:
    """Compare a measurement with the most it may be.

    Seconds are never judged as they are. They are divided by those of the reference job in this run (by the clock with
    ``clock``, else CPU), and ``limit``, stated for the machine where the job takes ``SECONDS``, by ``SECONDS``.
    """
    if unit == "s":
        ours = ours or amount(value, "s")
        job = reference()
        value, limit, unit = value / (job.wall if clock else job.cpu), limit / SECONDS, "jobs"
    state: State = "pass" if value <= limit else "FAIL"
    return Row(what, value, unit, limit, ours=ours or amount(value, unit), peer=peer, note=note, state=state)


def rate(what: str, per_second: float, floor: float, *, note: str = "") -> Row:
    """Compare how much is done in the CPU seconds of the reference job with the least it may be, as ``within`` does."""
    value, bound = per_second * reference().cpu, floor * SECONDS
    state: State = "pass" if value >= bound else "FAIL"
    return Row(
        what, value, "a job", bound, at_least=True, ours=f"{per_second:,.0f}/s", note=note, state=state
    )


def near(row: Row, share: float = 0.3) -> bool:
    """Whether a judged row lies so near its bound that one measurement does not decide."""
    if row.state not in ("pass", "FAIL") or not row.bound or row.value is None:
        return False
    return abs(row.value / row.bound - 1) <= share


def settled(repeated: list[Row]) -> Row:
    """Return the row with the median value of several measurements of the same thing."""
    values = [row.value for row in repeated if row.value is not None]
    if len(values) < len(repeated):
        return repeated[-1]
    chosen = next(row for row in repeated if row.value == median_low(values))
    note = "; ".join(part for part in (chosen.note, f"median of {len(repeated)} runs") if part)
    return replace(chosen, note=note)


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
    if unit in ("jobs", "a job"):
        return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
    if unit == "s":
        return f"{value * 1e3:.1f} ms" if value < 0.1 else f"{value:.2f} s"
    return f"{value:.4f} {unit}".rstrip()
