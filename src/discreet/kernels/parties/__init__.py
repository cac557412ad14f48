"""Kernels of protocols between parties."""
