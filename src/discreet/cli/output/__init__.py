"""Commands for the privacy of results."""
