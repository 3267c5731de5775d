import os

EVERY = bool(os.environ.get("ICEBERG_EXPLORER_EVERY_STATEMENT"))
"""Whether `make attacks` runs: everything, not what fits into `make test`."""
