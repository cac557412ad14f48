"""Tables: frames with roles, coded columns and equivalence classes."""
