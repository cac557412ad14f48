"""Fidelity and closeness of pseudo-data."""
