"""A Spark that this process has already, which the user started: ours is a session beside theirs, which stays as it
is. What belongs to the whole JVM (log level, SQL extensions, local file system) is left alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from explorer.errors import EngineError
from explorer.patches.pyspark_sessions import keep_active, keep_default
from explorer.spark_engine.java_names import java_names
from explorer.spark_engine.versions import packages, sql_package

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

OWN = "spark.icebergExplorer.own"
"""The setting by which we know a SparkContext of ours."""
NEEDED = "org.apache.iceberg.spark.SparkCatalog"


def user_context() -> SparkContext | None:
    """The running SparkContext that the user started; None where there is none, or it is ours."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    return context if context is not None and context.getConf().get(OWN) != "true" else None


def require_iceberg(jvm: Any) -> None:
    """Raise EngineError when Iceberg is not on the class path of a JVM that the user started."""
    from py4j.protocol import Py4JJavaError

    try:
        jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(NEEDED)
    except Py4JJavaError as error:
        raise EngineError(
            "this process has a Spark of yours whose Java has no Iceberg: start it with "
            f"spark.jars.packages={packages()[0]}, or use the explorer in a process of its own. What reads metadata "
            "needs no Spark"
        ) from error


def session_beside(context: SparkContext, settings: Mapping[str, str]) -> SparkSession:
    """A session of ours in the user's Spark, with these settings as far as they are a session's.

    Raises EngineError."""
    from pyspark.sql import SparkSession

    require_iceberg(java_names(context._jvm))
    theirs = SparkSession._instantiatedSession
    classic: Any = sql_package(java_names(context._jvm)).SparkSession
    with keep_active_session(context), keep_default():
        base = classic(context._jsc.sc(), {}) if theirs is None else theirs._jsparkSession  # type: ignore[attr-defined]
        session = SparkSession(context, base.cloneSession())
        if theirs is None:  # it was taken for the one that getOrCreate returns
            classic.clearDefaultSession()
    for key, value in session_settings(session, settings).items():
        session.conf.set(key, value)
    return session


def session_settings(session: SparkSession, settings: Mapping[str, str]) -> dict[str, str]:
    """Those of the settings that a running session can be given."""
    own = ("spark.sql.catalog.", "spark.hadoop.")
    kept = {k: v for k, v in settings.items() if k.startswith(own) or session.conf.isModifiable(k)}
    return {key.removeprefix("spark.hadoop."): value for key, value in kept.items()}


@contextmanager
def keep_active_session(context: SparkContext) -> Iterator[None]:
    """Whatever sessions are made and used meanwhile: the active session of this thread is the same afterwards."""
    classic: Any = sql_package(java_names(context._jvm)).SparkSession
    active = classic.getActiveSession()
    try:
        with keep_active():
            yield
    finally:
        if active.isDefined():
            classic.setActiveSession(active.get())
        else:
            classic.clearActiveSession()


@contextmanager
def active_session(session: SparkSession) -> Iterator[None]:
    """Meanwhile a session is the active one of this thread: Spark looks there for settings, catalogs among them."""
    classic: Any = sql_package(java_names(session._jvm)).SparkSession
    with keep_active_session(session.sparkContext):
        classic.setActiveSession(session._jsparkSession)  # type: ignore[attr-defined]
        yield
