"""Kernels for sketches and sparse rows."""
