"""Tests."""

import os


def examples(count: int) -> int:
    """How many of `count` generated examples, or tries at a race, there are: a quarter in `make quick`."""
    return -(-count // 4) if os.environ.get("ICEDIVE_QUICK") else count
