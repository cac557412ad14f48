"""Mining on sketches."""
