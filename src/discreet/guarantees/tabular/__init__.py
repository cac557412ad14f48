"""Guarantees about tables of counts or sums, and what an attacker can work out of them."""
