"""Synthetic tables: rows drawn from a model that was fitted to noisy counts, differentially private by construction."""
