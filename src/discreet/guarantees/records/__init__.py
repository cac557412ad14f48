"""Guarantees about records as probability distributions."""
