"""Sections of reports, by what a reader looks for: the guarantee, the risk, the cost, the distributions, the recipe."""
