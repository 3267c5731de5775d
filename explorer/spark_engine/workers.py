"""Spark's workers on other machines: they get this package as a zip, and what they lack is said in a sentence."""

from __future__ import annotations

import functools
import hashlib
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

from explorer import native_module
from explorer.errors import EngineError, ExplorerError, NotSupported, StatementFailed
from explorer.spark_engine.spark_master import is_local
from explorer.spec.secrets.redaction import redact
from explorer.storage.scratch import make_scratch

NEEDED = "pyarrow, fastavro and pyiceberg"
_PARTS = (
    "spec/**/*.py",
    "storage/**/*.py",
    "model/*.py",
    "spark_engine/__init__.py",
    "errors.py",
    "extras.py",
    "queries/__init__.py",
    "queries/filters.py",
    "queries/parquet_groups.py",
    "progress.py",
)
_ENGINES = (
    "engine_choice.py",
    "file_rows.py",
    "java_names.py",
    "jobs.py",
    "pipeline.py",
    "spark_master.py",
    "versions.py",
    "workers.py",
)
_WHERE = re.compile(r"Lost task [\d.]+ in stage [\d.]+ \(TID \d+\) \(([^)]+)\)")
_LACKS = re.compile(r"No module named '([\w.]+)'|(PyArrow|pyarrow) >= [\d.]+ must be installed")
_PYTHONS = re.compile(r"Python in worker has different version: (\S+) than that in driver: ([\d.]+)")
_NO_PYTHON = re.compile(r'Cannot run program "([^"]+)"')
_LOST = re.compile(r"ExecutorLostFailure \((executor \S{1,100}) .{0,1000}?Reason: (.*)")
_ENDED = re.compile(r"Python worker exited unexpectedly|Connection reset|java\.io\.EOFException")
_PYTHON = "spark.pyspark.python in spark.json names another Python there"


@functools.cache
def package() -> Path:
    """A zip of the modules that decode manifests, which needs no more than NEEDED and what they bring: without the
    package's root, which imports everything. In a folder of this process, that nobody else may write to."""
    root = Path(__file__).parent.parent
    files = [f for part in _PARTS for f in sorted(root.glob(part))] + [
        root / "spark_engine" / name for name in _ENGINES
    ]
    digest = hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()[:12]
    path = make_scratch("workers") / f"icedive_{digest}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("explorer/__init__.py", "")
        for file in files:
            archive.write(file, Path("explorer") / file.relative_to(root))
    return path


_equipped: set[str] = set()
"""Applications of Spark that have it."""


def equip(spark: Any) -> Any:
    """The SparkContext of a session, whose workers have this package. Raises NotSupported for a session without
    one."""
    try:
        context = spark.sparkContext
    except AttributeError as error:
        raise NotSupported(
            "this session has no SparkContext (Spark Connect has none): manifests are decoded through py4j, so give a "
            "session on local[*], spark://, yarn or k8s://"
        ) from error
    if not is_local(context.master) and context.applicationId not in _equipped:
        context.addPyFile(str(package()))
        if (module := native_module.file()) is not None:
            context.addFile(module)  # it lies where workers import from; one that cannot goes without
        sys.path[:] = [p for p in sys.path if not p.endswith(package().name)]  # it is for the workers alone
        _equipped.add(context.applicationId)
    return context


def failure(error: Exception, what: str) -> ExplorerError:
    """The error to raise for what Spark raised while its workers did `what`: which of them, and what is wrong there."""
    from explorer.spark_engine import gateway
    from explorer.spark_engine.failures import LOST, explain

    text = f"{error.__context__}\n{error}"  # pyspark leaves out where, when it makes Java's error its own
    reason = redact(explain(error, gateway.has_ended()))
    if reason == LOST:
        return EngineError(f"{what}: {reason}")
    match = _WHERE.search(text)
    where = f"{what}: Spark's worker at {match[1] if match else '(unknown)'}"
    if lacks := _LACKS.search(text):
        name = (lacks[1] or lacks[2]).lower()
        return EngineError(f"{where} has no {name}: its Python needs {NEEDED}. Install them there, or {_PYTHON}")
    if python := _NO_PYTHON.search(text):
        return EngineError(f"{where} cannot run {python[1]}: {_PYTHON}")
    if versions := _PYTHONS.search(text):
        return EngineError(f"{where} has Python {versions[1]}, and this process {versions[2]}: {_PYTHON}")
    if lost := _LOST.search(text):
        return EngineError(f"{what}: Spark lost {lost[1]} several times while it worked on this: {lost[2].strip()}")
    if _ENDED.search(text):
        return EngineError(f"{where}: its Python ended in the middle, as when it is killed or has no memory left")
    return StatementFailed(f"{where}: {reason}" if match else f"{what}: {reason}")
