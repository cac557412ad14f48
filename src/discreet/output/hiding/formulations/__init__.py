"""Integer programs that hide rules."""
