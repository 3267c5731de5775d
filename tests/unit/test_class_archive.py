"""Which kept classes Java is told to use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from explorer.spark_engine import jvm_cds
from explorer.spark_engine.java import Java


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ICEDIVE_CACHE", str(tmp_path))
    (tmp_path / "one.jar").write_text("a jar")
    place = jvm_cds.place(Java("/usr/bin/java", 17, "PATH"), [tmp_path / "one.jar"])
    place.parent.mkdir(mode=0o700)
    place.write_text("classes")
    place.chmod(0o444)
    return place


def test_they_are_used_where_they_are(archive: Path) -> None:
    assert jvm_cds.options(archive) == [f"-XX:SharedArchiveFile={archive}", "-Xshare:auto"]
    archive.unlink()
    assert jvm_cds.options(archive) == []


@pytest.mark.parametrize("which", ["file", "folder"])
def test_what_others_may_have_written_is_not_used(archive: Path, which: str) -> None:
    (archive if which == "file" else archive.parent).chmod(0o777)
    assert jvm_cds.options(archive) == []


def test_another_java_and_another_jar_have_others(archive: Path, tmp_path: Path) -> None:
    jar, other = tmp_path / "one.jar", tmp_path / "two.jar"
    other.write_text("a jar")
    asked = [
        jvm_cds.place(Java("/usr/bin/java", 17, "PATH"), [jar]),
        jvm_cds.place(Java("/opt/java", 17, "PATH"), [jar]),
        jvm_cds.place(Java("/usr/bin/java", 17, "PATH"), [jar, other]),
    ]
    os.utime(jar, (0, 0))
    asked.append(jvm_cds.place(Java("/usr/bin/java", 17, "PATH"), [jar]))
    assert asked[0] == archive
    assert len(set(asked)) == 4


def test_what_fails_leaves_nothing_and_is_no_end(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dump(_: object, file: Path) -> None:
        file.write_text("half of the classes")
        Path("java_pid7_stdout").write_text("of the other Java")
        raise OSError("the disk is full")

    monkeypatch.setattr(jvm_cds, "_dump", dump)
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    jvm_cds.write(object(), archive.with_name("17-other.jsa"))
    assert sorted(tmp_path.rglob("*")) == before


def test_what_is_written_takes_the_place_of_what_is_long_unused(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jvm_cds, "_dump", lambda _, file: file.write_text("classes"))
    other, old = archive.with_name("21-other.jsa"), archive.with_name("17-old.jsa")
    old.write_text("classes")
    os.utime(old, (0, 0))
    jvm_cds.write(object(), other)
    assert sorted(archive.parent.iterdir()) == [archive, other]
    os.utime(archive, (0, 0))
    jvm_cds.options(archive)  # it is used
    jvm_cds.write(object(), archive.with_name("17-third.jsa"))
    assert archive.exists()
