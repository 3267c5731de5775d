"""A table in a few facts."""
