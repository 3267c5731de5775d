"""Run Iceberg's own commit steps one at a time, and in every order, on small tables in a separate catalog."""
