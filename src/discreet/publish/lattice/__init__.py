"""The lattice of full-domain generalizations, and how it is searched."""
