"""Unions of sets whose owners do not show."""
