"""Generated tables and baskets to try things on (nobody in them exists), and texts as sparse rows."""

from __future__ import annotations

from discreet.datasets.agrawal import agrawal
from discreet.datasets.hospital import hospital, hospital_columns, voter_roll
from discreet.datasets.quest import quest
from discreet.datasets.texts import TextRows, text_rows

__all__ = ["TextRows", "agrawal", "hospital", "hospital_columns", "quest", "text_rows", "voter_roll"]
