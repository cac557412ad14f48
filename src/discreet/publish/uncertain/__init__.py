"""Publishers of uncertain records: every record as a probability distribution of its own."""
