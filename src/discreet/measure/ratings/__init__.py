"""Measures of ratings: how surely a few known ones find a person again."""
