"""Schemas: fields, former columns, name mappings, stored types."""
