"""A whole run described as data, from a file to a written release."""

from __future__ import annotations

from discreet.job.basket_plain import read_any_job
from discreet.job.baskets import BasketJob, run_baskets
from discreet.job.hiding import HidingJob, run_hiding
from discreet.job.model import Job, MissingRoleError
from discreet.job.running import run

__all__ = [
    "BasketJob",
    "HidingJob",
    "Job",
    "MissingRoleError",
    "read_any_job",
    "run",
    "run_baskets",
    "run_hiding",
]
