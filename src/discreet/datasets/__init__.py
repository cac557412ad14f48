"""Generated tables and baskets to try things on (nobody in them exists)."""

from __future__ import annotations

from discreet.datasets.agrawal import agrawal
from discreet.datasets.hospital import hospital, hospital_columns, voter_roll
from discreet.datasets.quest import quest
from discreet.datasets.samples import write_sample
from discreet.datasets.shops import shops

__all__ = ["agrawal", "hospital", "hospital_columns", "quest", "shops", "voter_roll", "write_sample"]
