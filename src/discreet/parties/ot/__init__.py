"""Oblivious transfer as a building block: base transfers, their extension, and the forms protocols use."""
