"""Condense a table: publish pseudo-records drawn from the statistics of groups, and measure how close they come."""

from __future__ import annotations

from discreet import Table, identifier, quasi, sensitive
from discreet.datasets import hospital
from discreet.measure import closeness, fidelity
from discreet.publish import Condensation


def main() -> None:
    """Condense three columns of the generated hospital table in groups of ten."""
    columns = {"name": identifier(), "age": quasi(), "days": quasi(), "diagnosis": sensitive()}
    patients = Table(hospital(3000, random_state=1).select(list(columns)), columns)
    release = Condensation(10).release(patients)
    print(release.verdict)
    print("fidelity: ", fidelity(release))
    print("closeness:", closeness(release))


if __name__ == "__main__":
    main()
