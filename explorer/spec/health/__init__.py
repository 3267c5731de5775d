"""The measures of a table's health, and their thresholds."""
