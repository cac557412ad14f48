"""Kinds of data: one file for each, with everything that differs between tables, baskets, pseudo-data and sketches."""
