"""The studio: a page on one's own machine to look at data and protect it, made from the registry and the reports."""
