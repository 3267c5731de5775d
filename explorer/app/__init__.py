"""The app: what a page, a notebook and a file show of tables, and the hosts that carry it to a browser."""
