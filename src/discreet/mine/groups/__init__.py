"""Mining on statistics of condensed groups."""
