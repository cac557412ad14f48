"""A whole run described as data, from a file to a written release."""

from __future__ import annotations

from discreet.job.kinds import BasketSection, MissingRoleError, SketchSection
from discreet.job.model import Job
from discreet.job.running import run

__all__ = ["BasketSection", "Job", "MissingRoleError", "SketchSection", "run"]
