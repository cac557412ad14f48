"""The report of a release: one self-contained HTML file, and the folder it is written into."""

from discreet.report.page import render

__all__ = ["render"]
