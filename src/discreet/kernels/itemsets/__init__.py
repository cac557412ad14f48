"""Kernels that count and mine itemsets."""
