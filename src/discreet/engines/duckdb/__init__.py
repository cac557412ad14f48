"""The embedded engine: connections, and relations that fit in memory or do not."""
