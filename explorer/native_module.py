"""The native module (native/), where it was built. Importing this imports nothing else: `--version` names it."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from typing import Any

module: Any
try:
    from explorer.storage import icedive_native as module
except ImportError:
    try:
        import icedive_native as module  # type: ignore[import-not-found, no-redef]  # where Spark's workers have it
    except ImportError:
        module = None


def version() -> str | None:
    """The version of the native module; None where there is none."""
    return None if module is None else str(module.__version__)


def file() -> str | None:
    """The file of the native module, to be sent to Spark's workers; None where there is none."""
    return None if module is None else module.__file__


def decoder() -> str:
    """What decodes manifests here; where that is slow, the sentence says how to make it fast."""
    if module is not None:
        return f"native {version()}"
    with suppress(ImportError):
        if find_spec("polars") is not None:
            return "polars"
    from explorer.extras import remedy

    return f"fastavro, ten times slower than polars. {remedy('polars')}"
