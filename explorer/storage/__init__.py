"""Catalogs, storage, decoding and cache: the only layer that touches files."""
