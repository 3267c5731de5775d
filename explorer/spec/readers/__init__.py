"""Who can read a table: the features that it uses, and the readers that know them."""
