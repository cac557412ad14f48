"""Kernels that read, order, group and distort baskets."""
