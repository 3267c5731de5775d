"""Snapshots: names, lineage, differences, branches and tags, retention."""
