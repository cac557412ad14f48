"""Compile what most runs need, once on a machine: ``python -m discreet.job.first_use``."""

from __future__ import annotations

from discreet.datasets import hospital, hospital_columns
from discreet.guarantees import EntropyDiversity, KAnonymity
from discreet.job.model import Job
from discreet.job.running import run

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
        for method in ("mondrian", "optimal"):
            run(Job(frame, columns, guarantee, method=method))


if __name__ == "__main__":
    compile_kernels()
