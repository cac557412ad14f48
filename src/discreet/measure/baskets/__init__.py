"""Risk and errors of baskets and itemsets."""
