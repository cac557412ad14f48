"""The attacks that regulators name, each beside a control group and the baseline of guessing."""
