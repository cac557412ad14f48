"""A whole run described as data, from a file to a written release."""

from __future__ import annotations

from discreet.job.model import Job, MissingRoleError
from discreet.job.running import run

__all__ = ["Job", "MissingRoleError", "run"]
