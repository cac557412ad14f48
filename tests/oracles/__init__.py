"""Slow, obvious definitions that judge the fast ones."""
