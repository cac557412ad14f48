"""The network: keys, sessions, and frames over TLS between machines."""
