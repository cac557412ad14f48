"""Kernels over rows of numbers."""
