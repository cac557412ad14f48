"""The steps that run on a person's own device, in plain Python."""
