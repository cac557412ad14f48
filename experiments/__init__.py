"""Experiments: one folder per paper that makes its tables and figures again and lays them beside the paper's own.

They lie beside the package, not in it. An experiment is a module with a function
``run(page, *, data, quick, seeds)``: it computes, and hands tables and pictures to the page. ``data`` is the folder of
public data sets, or None where it is absent.
"""

from __future__ import annotations

from experiments.running import EXPERIMENTS, data_folder, perform

__all__ = ["EXPERIMENTS", "data_folder", "perform"]
