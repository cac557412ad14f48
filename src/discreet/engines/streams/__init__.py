"""Sources of streams, their records, and the files of their states."""
