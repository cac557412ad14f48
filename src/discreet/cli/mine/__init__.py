"""Commands that mine."""
