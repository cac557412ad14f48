"""Sums of vectors that no party sees."""
