"""How files are laid out: partitions, clustering, sizes, metrics."""
