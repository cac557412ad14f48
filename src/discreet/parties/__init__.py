"""Privacy between parties: protocols whose parties learn the common result, and not each other's records."""
