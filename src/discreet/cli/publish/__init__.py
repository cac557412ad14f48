"""Commands that publish data."""
