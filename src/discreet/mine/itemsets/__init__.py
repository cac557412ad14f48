"""Itemsets and rules of true, distorted and published baskets."""
