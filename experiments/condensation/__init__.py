"""Aggarwal & Yu, SDM 2005."""
