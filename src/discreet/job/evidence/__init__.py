"""Evidence about written releases: attacks on their files, and the statement that a board reads."""
