"""What hides the columns of a file, and what recovers the shares of its categories."""
