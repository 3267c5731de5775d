"""A table without its secrets: what takes the place of its names, paths and values."""
