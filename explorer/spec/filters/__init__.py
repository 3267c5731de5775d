"""Filters: their text, their terms, and their projections onto partitions."""
