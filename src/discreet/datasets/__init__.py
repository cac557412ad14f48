"""Generated tables to try things on: nobody in them exists."""

from __future__ import annotations

from discreet.datasets.hospital import hospital, hospital_columns, voter_roll

__all__ = ["hospital", "hospital_columns", "voter_roll"]
