"""Itemsets and rules of baskets, or of people, whose parts lie with several parties."""
