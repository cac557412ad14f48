"""Kernels of query auditing."""
