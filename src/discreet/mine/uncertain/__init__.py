"""Mining uncertain records: range counts and classification by the published distributions."""
