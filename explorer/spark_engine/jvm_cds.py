"""The classes that Spark loads as one file that Java maps into memory (class data sharing, JEP 310 and 350) where it
would read hundreds of jars: it is up, and answers its first statements, in three fifths of the time."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from explorer.spark_engine.java import Java
from explorer.spark_engine.java_names import java_names
from explorer.storage.data_dirs import cache_home, not_private, private

WRITING_S = 600
"""What a process has begun to write so long ago, it does not finish any more."""
UNUSED_S = 30 * 86_400
"""Archives that no Java was told to use for so long go when another one is made."""


def place(java: Java, jars: Iterable[Path]) -> Path:
    """Where the classes of these jars are kept for a Java: they are of no use to another one, or when a jar changes."""
    digest = hashlib.sha256(os.path.realpath(java.command).encode())
    for jar in jars:
        state = jar.stat()
        digest.update(f"\n{jar} {state.st_size} {state.st_mtime_ns}".encode())
    return cache_home() / "classes" / f"{java.version}-{digest.hexdigest()[:24]}.jsa"


def options(archive: Path) -> list[str]:
    """What Java is told to use it: nothing where it is not there, or others than this user may have written it. An
    archive that does not fit Java passes over."""
    if not archive.is_file() or not_private(archive) or not_private(archive.parent):
        return []
    with contextlib.suppress(OSError):
        os.utime(archive)
    return [f"-XX:SharedArchiveFile={archive}", "-Xshare:auto"]


def write(java_gateway: Any, archive: Path) -> None:
    """Have a Java keep the classes that it has loaded by now, which takes another Java some seconds; nothing is done
    where they are kept already, and where it fails Java starts as before."""
    if archive.exists():
        return
    own, there = archive.with_suffix(f".{os.getpid()}"), _logs()
    try:
        private(archive.parent)
        if _is_being_written(archive, own):
            return
        _dump(java_gateway, own)
        os.replace(own, archive)
        for other in archive.parent.glob("*.jsa"):
            if other.stat().st_mtime < time.time() - UNUSED_S:
                other.unlink()
    except Exception as error:  # of py4j or the file system: it is a matter of seconds, no more
        logging.getLogger(__name__).info("Java's classes were not kept: %s", error)
    finally:
        with contextlib.suppress(OSError):
            own.unlink(missing_ok=True)
            for log in _logs() - there:
                log.unlink()


def _is_being_written(archive: Path, own: Path) -> bool:
    """Whether another process writes the same archive now; if not, `own` says that this one does."""
    since = time.time() - WRITING_S
    if any(file.stat().st_mtime > since for file in archive.parent.glob(f"{archive.stem}.*") if file != archive):
        return True
    own.touch()
    return False


def _logs() -> set[Path]:
    """What the other Java says, which it leaves in the working folder."""
    return set(Path.cwd().glob("java_pid*_std*"))


def _dump(java_gateway: Any, file: Path) -> None:
    """Ask the diagnostic command VM.cds of a Java for it; its bean's own class is closed to reflection."""
    lang, jvm = java_names(java_gateway.jvm).java.lang, java_names(java_gateway.jvm)

    def array(kind: Any, *items: Any) -> Any:
        java_array = java_gateway.new_array(kind, len(items))
        for at, item in enumerate(items):
            java_array[at] = item
        return java_array

    texts = "[Ljava.lang.String;"
    kinds = map(lang.Class.forName, ("javax.management.ObjectName", "java.lang.String", "[Ljava.lang.Object;", texts))
    invoke = lang.Class.forName("javax.management.MBeanServer").getMethod("invoke", array(lang.Class, *kinds))
    command = array(lang.Object, array(lang.String, "static_dump", str(file)))
    bean = jvm.javax.management.ObjectName("com.sun.management:type=DiagnosticCommand")
    server = lang.management.ManagementFactory.getPlatformMBeanServer()
    invoke.invoke(server, array(lang.Object, bean, "vmCds", command, array(lang.String, texts)))
