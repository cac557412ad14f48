"""Quality of sketches, and attacks on them."""
