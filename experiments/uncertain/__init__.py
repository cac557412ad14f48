"""Aggarwal, ICDE 2008, as the survey of 2008 (20.3.1) summarizes it."""
