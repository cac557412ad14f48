"""Guarantees that compare a release with the table of a population."""
