"""Reconstruction of distributions from noisy values."""
