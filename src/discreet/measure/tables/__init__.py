"""Loss, risk and linkage of tables."""
