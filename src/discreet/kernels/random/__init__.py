"""Cryptographic random numbers."""
