"""Guarantees about the answers of a vault, judged from its query log."""
