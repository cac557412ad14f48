"""Compile what most runs need, once on a machine: ``python -m discreet.publish.first_use``."""

from __future__ import annotations

from discreet.core.tables.table import Table
from discreet.datasets import hospital, hospital_columns
from discreet.guarantees import EntropyDiversity, KAnonymity
from discreet.publish.tables.mondrian import Mondrian
from discreet.publish.tables.optimal_lattice import OptimalLattice

_PATIENTS, _MOST_VALUES = 2_000, 255


def compile_kernels() -> None:
    """Protect a few generated patients by the methods that most people begin with; nothing is written.

    Kernels are compiled for the types they are called with, which are those of any table whose columns have fewer than
    256 values each.
    """
    frame = hospital(_PATIENTS, random_state=0)
    few = [
        name
        for name, column in zip(frame.column_names, frame.columns, strict=True)
        if len(column.unique()) <= _MOST_VALUES
    ]
    frame, columns = frame.select(few), {name: hospital_columns()[name] for name in few}
    for guarantee in (KAnonymity(5), KAnonymity(5) & EntropyDiversity(2, of="diagnosis")):
        for method in (Mondrian, OptimalLattice):
            method(guarantee).release(Table(frame, columns)).verdict.enforce()


if __name__ == "__main__":
    compile_kernels()
