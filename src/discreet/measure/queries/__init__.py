"""Attacks by sequences of queries."""
