"""Kernels over coded tuples and equivalence classes."""
