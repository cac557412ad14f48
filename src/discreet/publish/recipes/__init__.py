"""Recipes: how a release was made, applied to new rows or written as SQL."""
