"""Kernels that hide rules."""
