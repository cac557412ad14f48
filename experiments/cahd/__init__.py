"""Ghinita, Tao & Kalnis, ICDE 2008."""
