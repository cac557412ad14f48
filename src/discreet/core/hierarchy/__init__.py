"""Generalization hierarchies."""
