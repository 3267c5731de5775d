"""Where this program keeps things: a data folder (the sandbox catalog) and a cache folder (jars, decoded manifests)."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path, user_data_path

HOME_VARIABLE = "ICEBERG_EXPLORER_HOME"


def data_home() -> Path:
    """$ICEBERG_EXPLORER_HOME, or the platform's user data folder."""
    return Path(os.environ[HOME_VARIABLE]) if os.environ.get(HOME_VARIABLE) else user_data_path("iceberg-explorer")


def cache_home() -> Path:
    """$ICEBERG_EXPLORER_CACHE, or the platform's user cache folder: everything in it can be made again."""
    chosen = os.environ.get("ICEBERG_EXPLORER_CACHE")
    return Path(chosen) if chosen else user_cache_path("iceberg-explorer")


def sandbox_home() -> Path:
    """The folder of the embedded catalog: `catalog.db` and `warehouse/`."""
    return data_home() / "sandbox"
