"""The engine for Spark: classic sessions and Spark Connect."""
