"""Publishers of baskets."""
