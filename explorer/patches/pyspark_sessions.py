"""pyspark 3.5 to 4.1: a session that is made beside the user's is taken for theirs.

`SparkSession(context, java_session)` puts itself into `_instantiatedSession` and `_activeSession` where the user has
none, though Spark has neither, and `getOrCreate` returns it then: with our catalogs and settings. Nothing but
`SparkSession.stop()`, which ends the user's Spark too, takes it out again. No issue of Spark's is known; the nearest is
SPARK-17261, for which `stop` clears both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from explorer.errors import EngineError


@contextmanager
def keep_active() -> Iterator[None]:
    """Keep the session that pyspark takes for the active one, whatever happens in the block. Raises EngineError."""
    from pyspark.sql import SparkSession

    _require()
    active = SparkSession._activeSession
    try:
        yield
    finally:
        SparkSession._activeSession = active


@contextmanager
def keep_default() -> Iterator[None]:
    """Keep the session that pyspark's `getOrCreate` returns, too. Raises EngineError."""
    from pyspark.sql import SparkSession

    with keep_active():
        default = SparkSession._instantiatedSession
        try:
            yield
        finally:
            SparkSession._instantiatedSession = default


def _require() -> None:
    """Raise EngineError where pyspark keeps its sessions elsewhere."""
    import pyspark
    from pyspark.sql import SparkSession

    if not hasattr(SparkSession, "_instantiatedSession") or not hasattr(SparkSession, "_activeSession"):
        raise EngineError(f"pyspark {pyspark.__version__} keeps its sessions in another way: use 3.5 to 4.1")
