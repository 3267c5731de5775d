"""Questions over the metadata tree: rows, filters, differences, graphs, scans."""
