"""Attacks on additive noise."""
