"""Catalogs, and how they are configured."""
