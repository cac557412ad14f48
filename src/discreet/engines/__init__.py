"""Where big tables live: files read into DuckDB relations, and frames written back, all or nothing."""
