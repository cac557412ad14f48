"""The nouns: tables, roles, hierarchies, groups, releases and verdicts."""
