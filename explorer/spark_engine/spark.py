"""One embedded SparkSession with Iceberg and the sandbox catalog, started in the background.

Spark takes 10 to 30 seconds to start, so nothing that shows metadata waits for it: `SparkEngine.start()` returns at
once, `state` says how far it is, and only `session()` blocks."""

from __future__ import annotations

import functools
import json
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from explorer.errors import EngineError
from explorer.extras import needs_extra
from explorer.patches.pyspark_gateway import forget_java
from explorer.progress import tell
from explorer.spark_engine import gateway
from explorer.spark_engine.failures import explain
from explorer.spark_engine.java import SHA256, Bundle, Java, find_java, resolve_jars
from explorer.spark_engine.java_names import java_names
from explorer.spark_engine.local_files import write_plainly
from explorer.spark_engine.spark_master import VARIABLE, driver_address, is_local
from explorer.spark_engine.sql_guard.sql_allowlist import FUNCTIONS, TABLE_FUNCTIONS
from explorer.spark_engine.user_spark import (
    OWN,
    require_iceberg,
    session_beside,
    session_settings,
    user_context,
)
from explorer.spark_engine.versions import packages, require_version, session_conf
from explorer.storage.catalogs.sandbox_entries import SANDBOX, explain_move, stray_entries
from explorer.storage.data_dirs import data_home, private, sandbox_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CLOSED_SCHEMES = ("http", "https", "webhdfs", "swebhdfs", "ftp", "sftp", "har", "viewfs")
"""Hadoop's file systems that no table needs; a setting of one's own opens one again."""
PERSON = {"spark.sql.runSQLOnFiles": "false", "spark.sql.variable.substitute": "false"}
"""Settings of a session that a person's statements run in: no files by their paths, no ${env:…} in a statement."""

TELL_S = 0.2
"""Who waits for Spark is told of its state each so many seconds."""
PATIENCE_S = 12
"""After so long it is said that a master does not take us."""
KEEP_CLASSES_AFTER_S = 60
"""After so long its classes are kept, in the background: see spark_engine.jvm_cds."""
SparkPhase = Literal["stopped", "resolving jars", "starting", "ready", "failed"]


@dataclass(frozen=True)
class SparkState:
    """How far Spark is: `phase` is stopped, resolving jars, starting, ready or failed; `detail` says more in words."""

    phase: SparkPhase
    detail: str = ""

    def __str__(self) -> str:
        return f"Spark: {self.phase}" + (f" ({self.detail})" if self.detail else "")

    @property
    def waiting_words(self) -> str:
        """What somebody waits for who needs Spark; nothing where it is ready."""
        words = {"stopped": "Starting Spark…", "resolving jars": "Finding Spark's jars…", "starting": "Starting Spark…"}
        waits_for = words.get(self.phase, "")
        return f"{waits_for} ({self.detail})" if waits_for and self.detail else waits_for


def sandbox_conf(sandbox: Path | None = None) -> dict[str, str]:
    """Spark settings of the embedded catalog: an Iceberg JdbcCatalog on SQLite below `sandbox`."""
    home = sandbox or sandbox_home()
    prefix = f"spark.sql.catalog.{SANDBOX}"
    return {
        prefix: "org.apache.iceberg.spark.SparkCatalog",
        f"{prefix}.type": "jdbc",
        f"{prefix}.uri": f"jdbc:sqlite:{home / 'catalog.db'}",
        f"{prefix}.jdbc.schema-version": "V1",
        f"{prefix}.warehouse": str(home / "warehouse"),
        f"{prefix}.cache-enabled": "false",
        f"{prefix}.metrics-reporter-impl": "org.apache.iceberg.metrics.InMemoryMetricsReporter",
    }


def settings(
    conf: Mapping[str, str] | None = None, master: str | None = None, sandbox: Path | None = None
) -> dict[str, str]:
    """All Spark settings, later ones winning: defaults, $ICEDIVE_HOME/spark.json,
    $ICEDIVE_SPARK_CONF (a JSON object) and $ICEDIVE_SPARK_MASTER, then the arguments.

    Raises EngineError when the file or the variable is not a JSON object of strings."""
    merged = {
        "spark.master": "local[*]",
        "spark.app.name": "iceberg-metadata-explorer",
        "spark.driver.memory": "2g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.scheduler.mode": "FAIR",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.variable.substitute": "false",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.warehouse.dir": str((sandbox or sandbox_home()) / "spark-warehouse"),
        # Whatever names a path may name one of these: no page of this machine or its network is ever one.
        **{f"spark.hadoop.fs.{scheme}.impl": "none" for scheme in CLOSED_SCHEMES},
        **sandbox_conf(sandbox),
    }
    file = data_home() / "spark.json"
    sources = [(str(file), file.read_text() if file.is_file() else None)]
    sources.append(("ICEDIVE_SPARK_CONF", os.environ.get("ICEDIVE_SPARK_CONF")))
    for origin, text in sources:
        if text:
            merged.update(_json_settings(origin, text))
    if chosen := os.environ.get(VARIABLE):
        merged["spark.master"] = chosen
    merged.update(conf or {})
    if master:
        merged["spark.master"] = master
    return {**_usual(merged["spark.master"]), **merged}


def _usual(master: str) -> dict[str, str]:
    """Settings that depend on where the workers are: those of this process are met on loopback, by a secret of its own;
    others share one with their master, and must reach us (see spark_engine.spark_master)."""
    if is_local(master):
        loopback = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        return {"spark.authenticate": "true", **loopback}
    return {"spark.yarn.isPython": "true"} if master == "yarn" else {}


def _json_settings(origin: str, text: str) -> dict[str, str]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise EngineError(f"{origin} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise EngineError(f"{origin} must be a JSON object of Spark settings")
    return {str(key): str(item) for key, item in value.items()}


class SparkEngine:
    """A SparkSession that starts on a thread of its own. All public methods are safe to call from any thread."""

    def __init__(
        self, conf: Mapping[str, str] | None = None, master: str | None = None, sandbox: Path | None = None
    ) -> None:
        self.sandbox = sandbox or sandbox_home()
        self._settings, self._asked = settings(conf, master, sandbox), master
        self._session: SparkSession | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._jars, self._reviving = threading.Lock(), threading.Lock()
        self._watched = 0
        self.in_users_spark = False
        """Whether the session is one beside the user's own."""
        self._listeners: list[Callable[[SparkState], object]] = []
        self.state = SparkState("stopped")

    def on_change(self, listener: Callable[[SparkState], object]) -> Callable[[], None]:
        """Call `listener(state)` on every change of state and when Spark is lost, on the thread that noticed it, until
        what is returned is called."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _enter(self, phase: SparkPhase, detail: str = "") -> None:
        self.state = SparkState(phase, detail)
        self._tell()

    def _tell(self) -> None:
        for listener in list(self._listeners):
            try:
                listener(self.state)
            except Exception:  # a page that has just closed must not be Spark's end
                logging.getLogger(__name__).info("Spark's state could not be told", exc_info=True)

    def _watch(self) -> None:
        if gateway.has_ended(None) and self.is_lost:
            self._tell()

    def _keep_classes(self, session: SparkSession) -> None:
        """Keep Java's classes for later starts, once this Spark has been up for a while; a short run does not wait."""
        if not gateway.has_ended(KEEP_CLASSES_AFTER_S) and session.sparkContext._jsc is not None:
            with suppress(EngineError):
                gateway.keep_classes(session.sparkContext._gateway)

    def start(self) -> None:
        """Begin starting Spark in the background, unless it is started or starting; a failed start is tried again."""
        with self._lock:
            if self._thread is None or (not self._thread.is_alive() and self.state.phase == "failed"):
                self._thread = threading.Thread(target=self._start, name="start-spark", daemon=True)
                self._thread.start()

    def _start(self) -> None:
        began = time.time()
        try:
            with needs_extra():
                import pyspark
            require_version(pyspark.__version__)
            if self._asked not in (None, self.master):
                raise EngineError(
                    f"this process has Spark on {self.master}: stop it before it has another {self._asked}"
                )
            if others := sorted(set(stray_entries(self.sandbox).values())):
                raise EngineError(explain_move(others[0]))
            context = user_context()
            self.in_users_spark = context is not None
            if context is not None:
                self._enter("starting", "a session beside the one that runs here")
                _make_folders(self.sandbox)
                self._session = session_beside(context, self._settings)
                self._enter("ready", f"version {self._session.version}, in the Spark that ran here already")
                return
            if (address := driver_address(self._settings)) is not None:
                self._settings.setdefault("spark.driver.host", address)
            java = find_java()
            self._enter("resolving jars", f"Java {java.version} from {java.origin}")
            extra = tuple(p for p in self._settings.get("spark.jars.packages", "").split(",") if p)
            jars = resolve_jars(java, packages() + extra, self._settings.get("spark.jars.ivySettings"))
            self._enter("starting", f"Java {java.version} from {java.origin}")
            with self._waiting_for_master():
                self._session = _create_session(java, jars, self._settings, self.sandbox)
            self._enter("ready", f"version {self._session.version}, started in {time.time() - began:.0f} s")
            if self._watched != gateway.pid():
                self._watched = gateway.pid()
                threading.Thread(target=self._watch, name="watch-spark", daemon=True).start()
                threading.Thread(
                    target=self._keep_classes, args=(self._session,), name="keep-classes", daemon=True
                ).start()
        except Exception as error:  # the thread has no caller: whatever went wrong is the state people see
            where = "" if is_local(self.master) else f"{self.master}: "
            self._enter("failed", str(error) if isinstance(error, EngineError) else where + explain(error, lost=False))

    @contextmanager
    def _waiting_for_master(self) -> Iterator[None]:
        """Meanwhile say of a master elsewhere that it takes long: Spark itself says nothing for a minute, and then not
        which one."""
        silent = f"{self.master} has not taken us for {PATIENCE_S} s: is that a master, and has it room for us?"
        timer = threading.Timer(PATIENCE_S, self._enter, ("starting", silent))
        timer.daemon = True
        if not is_local(self.master):
            timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def session(self) -> SparkSession:
        """The session; starts Spark if need be, also where it was stopped meanwhile, and waits for it. Raises
        EngineError with the reason when it failed."""
        with self._lock:
            if self._session is not None and self._session.sparkContext._jsc is None:  # somebody stopped it
                self._session = self._thread = None
        self.start()
        thread = self._thread
        if thread is not None and thread.is_alive():
            while thread.is_alive():
                tell(0, 0, self.state.waiting_words)
                thread.join(TELL_S)
            tell(0, 0, "")
        if self._session is None:
            raise EngineError(self.state.detail or "Spark did not start")
        return self._session

    def keep_classes(self) -> Path:
        """Have later starts find the classes that Spark has loaded by now, and say where: see spark_engine.jvm_cds.
        Raises EngineError, also where Java is not ours."""
        return gateway.keep_classes(self.session().sparkContext._gateway)

    def new_session(self) -> SparkSession:
        """A new session with the catalogs and keys of `session`, and otherwise our settings. Raises EngineError."""
        base = self.session()
        session = base.newSession()
        catalog_settings = {k: v for k, v in session_conf(base).items() if k.startswith(("spark.sql.catalog.", "fs."))}
        ours = session_settings(session, self._settings) if self.in_users_spark else {}
        for key, value in {**ours, **catalog_settings}.items():
            session.conf.set(key, value)
        return session

    def person_session(self) -> SparkSession:
        """A new session for statements that a person writes: temporary views of its own, the settings PERSON, and no
        functions but those that only compute. Raises EngineError."""
        session = self.new_session()
        for key, value in PERSON.items():
            session.conf.set(key, value)
        state = session._jsparkSession.sessionState()  # type: ignore[attr-defined]
        identifier = java_names(session._jvm).org.apache.spark.sql.catalyst.FunctionIdentifier
        registries = ((state.functionRegistry(), FUNCTIONS), (state.tableFunctionRegistry(), TABLE_FUNCTIONS))
        for registry, kept in registries:
            for name in set(str(registry.listFunction().mkString("\n")).splitlines()) - kept:
                registry.dropFunction(identifier(name))
        return session

    def require(self, bundle: Bundle) -> None:
        """Have a bundle's classes in the JVM, which goes on running: its jar is fetched once, and put on the class path
        as Java agents do it (ADR 13). Raises EngineError with the fix when the jar cannot be had."""
        session = self.session()
        with self._jars:
            loader = java_names(session._jvm).java.lang.ClassLoader.getSystemClassLoader()
            if _has_class(loader, bundle.needed):
                return
            if bundle.package not in SHA256:
                raise EngineError(
                    f"Spark needs {bundle.package} for this store, and it is not among the jars fetched unasked:"
                    f' put {{"spark.jars.packages": "{bundle.package}"}} into {data_home() / "spark.json"}'
                )
            state = self.state
            self._enter("ready", f"fetching {bundle.package}, once")
            try:
                [jar] = resolve_jars(find_java(), (bundle.package,), self._settings.get("spark.jars.ivySettings"))
            finally:
                if self.state.phase == "ready":  # and not restarted meanwhile
                    self._enter(state.phase, state.detail)
            _append(session, loader, str(jar))
            if not is_local(self._settings["spark.master"]):
                session.sparkContext._jsc.addJar(str(jar))  # to the executors

    @property
    def master(self) -> str:
        """That of the Spark that this process has; of the one it would start, while it has none."""
        contexts = getattr(sys.modules.get("pyspark"), "SparkContext", None)  # none while a thread imports it
        context = contexts and contexts._active_spark_context
        return str(context.master if context else self._settings["spark.master"])

    def stop(self) -> None:
        """Stop the session; the JVM itself ends with this process. The user's own Spark runs on."""
        with self._lock:
            if self._session is not None:
                if not self.in_users_spark:
                    self._session.stop()
                self._session = None
            self._thread = None
        self._enter("stopped")

    @property
    def is_lost(self) -> bool:
        """Whether Spark was ready, and its Java process has ended since."""
        return self._session is not None and not self.in_users_spark and gateway.has_ended()

    def revive(self) -> None:
        """Start Spark anew if it is lost."""
        with self._reviving:
            if self.is_lost:
                self.restart()

    def restart(self) -> None:
        """Stop Spark, also where its process has ended, and begin to start it anew. Sessions made before are of no use
        any more. In the user's own Spark only our session is made anew."""
        if self.in_users_spark:
            self.stop()
            self.start()
            return
        with self._lock:
            lost, self._session, self._thread = self._session, None, None
            if lost is not None and not gateway.has_ended():
                with suppress(Exception):  # of py4j, where it ends just now
                    lost.stop()
            gateway.end()
            forget_java()
        self._enter("stopped")
        self.start()


@functools.cache
def shared_engine() -> SparkEngine:
    """The engine of this process with the default settings: one JVM, which all sessions of a server share."""
    return SparkEngine()


def _has_class(loader: Any, name: str) -> bool:
    from py4j.protocol import Py4JJavaError

    try:
        loader.loadClass(name)
    except Py4JJavaError:
        return False
    return True


def _append(session: SparkSession, loader: Any, jar: str) -> None:
    """Append a jar to the class path. Iceberg's classes came from there, so they see no class of a loader below it,
    where `ADD JAR` puts jars. java.lang.instrument names this method, which a system class loader has for it."""
    (method,) = (
        m for m in loader.getClass().getDeclaredMethods() if m.getName() == "appendToClassPathForInstrumentation"
    )
    method.setAccessible(True)
    jvm, gateway = java_names(session._jvm), session.sparkContext._gateway
    arguments = gateway.new_array(jvm.java.lang.Object, 1)  # type: ignore[union-attr]
    arguments[0] = jar
    method.invoke(loader, arguments)


def _create_session(java: Java, jars: list[Path], options: Mapping[str, str], sandbox: Path) -> SparkSession:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    from explorer.spark_engine import known_gateway  # py4j comes with pyspark

    _make_folders(sandbox)
    if SparkContext._gateway is not None and not gateway.is_running():  # that of a Spark of the user's, stopped now
        require_iceberg(java_names(SparkContext._jvm))
    else:
        gateway.launch(java, jars, options)
    skipped = ("spark.jars.packages", "spark.jars.ivySettings")
    kept = {OWN: "true", **{key: value for key, value in options.items() if key not in skipped}}
    if is_local(options["spark.master"]):
        kept = {**gateway.sockets(), **kept}
    else:  # its workers have no class path of ours
        own = options.get("spark.jars", "")
        kept["spark.jars"] = ",".join([*filter(None, [own]), *map(str, jars)])
    conf = SparkConf().setAll([*kept.items()])
    if SparkContext._gateway is None:
        SparkContext(conf=conf, gateway=known_gateway.connect())
    session = SparkSession.builder.config(conf=conf).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    write_plainly(java_names(session._jvm), session.sparkContext._jsc.hadoopConfiguration())
    return session


def _make_folders(sandbox: Path) -> None:
    private(sandbox)
    (sandbox / "warehouse").mkdir(parents=True, exist_ok=True)


def java_without_spark() -> Any:
    """The gateway of a JVM with Iceberg on its class path and no Spark session: one a process. It is up in about a
    second. Raises EngineError."""
    with needs_extra():
        from explorer.spark_engine import known_gateway
    java = find_java()
    gateway.launch(java, resolve_jars(java), settings())
    java_gateway: Any = known_gateway.connect()
    names = java_names(java_gateway.jvm)
    write_plainly(names, names.org.apache.hadoop.conf.Configuration())
    return java_gateway
