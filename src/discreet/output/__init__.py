"""Privacy of results: what a query or a mined pattern may reveal."""
