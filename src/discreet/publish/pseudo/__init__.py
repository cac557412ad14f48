"""Publishers of pseudo-data: condensation of tables and streams."""
