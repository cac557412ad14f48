"""Agrawal, Krishnan & Haritsa, DASFAA 2004."""
