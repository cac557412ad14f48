"""Matching people whose data lies with several parties."""
