"""Projects of ARX, read into jobs: the archive and what it says."""
