"""Privacy of results: what can be mined from data that is handed over."""
