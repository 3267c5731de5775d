"""What a scan reads and skips, and the comparison that decides."""
