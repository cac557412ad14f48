"""Kinds of records as probability distributions."""
