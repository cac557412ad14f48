"""Query auditing: how many queries each auditor denies, by the number of queries before."""
