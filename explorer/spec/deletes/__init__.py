"""Which deletes apply to which data files."""
