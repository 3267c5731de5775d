"""Manifest entries: what they inherit, and their status as of a snapshot."""
