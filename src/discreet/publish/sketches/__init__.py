"""Publishers of sketches, and the family of projections they share."""
