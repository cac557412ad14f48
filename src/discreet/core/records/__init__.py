"""Records as numbers: vectors, sparse rows, sketches, and the statistics of groups."""
