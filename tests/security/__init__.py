import os

EVERY = bool(os.environ.get("ICEDIVE_EVERY_STATEMENT"))
"""Whether `make attacks` runs: everything, not what fits into `make test`."""
