"""Parts of the pages that all kinds of releases share."""
