"""What catalogs store: entries of tables, statements that mend them, views."""
