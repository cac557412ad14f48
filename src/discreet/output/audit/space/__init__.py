"""What released sums leave possible: atoms, and regions over them."""
