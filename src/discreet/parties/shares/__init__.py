"""Protocols of two parties on shared values: scalar products and comparisons."""
