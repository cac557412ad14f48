"""Experiments: one file per paper that makes its tables and figures again and lays them beside the paper's own.

An experiment is a module with a function ``run(page, *, data, quick, seeds)``: it computes, and hands tables and
pictures to the page. ``data`` is the folder of public data sets, or None where it is absent.
"""

from __future__ import annotations

from discreet.experiments.running import EXPERIMENTS, data_folder, perform

__all__ = ["EXPERIMENTS", "data_folder", "perform"]
