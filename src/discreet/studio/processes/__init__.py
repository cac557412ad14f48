"""Processes: what holds and reads data, and does runs, so that the server holds none and outlives a crash."""
