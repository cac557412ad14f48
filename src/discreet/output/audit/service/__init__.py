"""The HTTP service of a vault."""
