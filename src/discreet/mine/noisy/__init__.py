"""Classifiers and statistics from noisy values."""
