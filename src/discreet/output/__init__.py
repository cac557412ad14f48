"""Privacy of results: what queries and mined patterns may reveal."""
