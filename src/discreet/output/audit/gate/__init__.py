"""The gate: which statements a vault answers at all."""
