"""Which statements run, and which are refused."""
