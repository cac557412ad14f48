"""Aggarwal & Yu, SDM 2007."""
