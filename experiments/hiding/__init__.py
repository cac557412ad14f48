"""Hiding rules: heuristic, border-based and exact methods beside each other."""
