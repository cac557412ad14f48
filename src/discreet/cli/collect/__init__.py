"""Commands for collection."""
