"""Commits: operations, their cost, and whether Iceberg accepts them."""
