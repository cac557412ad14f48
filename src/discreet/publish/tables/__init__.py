"""Publishers of tables."""
