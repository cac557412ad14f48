"""Baskets: transactions as sets of items."""
