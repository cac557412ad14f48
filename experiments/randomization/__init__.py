"""Agrawal & Srikant, SIGMOD 2000; Agrawal & Aggarwal, PODS 2001."""
