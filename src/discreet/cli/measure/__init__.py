"""Commands that judge data."""
