"""Rows: how many are visible, how they differ, what happened to them."""
