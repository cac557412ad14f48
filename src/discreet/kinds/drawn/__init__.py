"""Data whose rows were drawn and belong to nobody: pseudo-data and synthetic data."""
