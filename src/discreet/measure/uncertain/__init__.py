"""Attacks on uncertain records."""
