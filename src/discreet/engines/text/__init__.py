"""Delimited text and JSON lines: plain UTF-8, dialects, and the types of columns."""
