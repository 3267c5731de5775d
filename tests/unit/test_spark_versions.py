"""The versions of Spark that the engine runs on are those that the extra takes; any other is refused in a sentence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from explorer.errors import EngineError
from explorer.spark_engine.versions import ICEBERG, packages, require_version

ROOT = Path(__file__).parents[2]


def test_the_extra_takes_the_versions_that_have_a_jar() -> None:
    declared = re.search(r'"pyspark([^"]+)"', (ROOT / "pyproject.toml").read_text())
    assert declared
    taken = SpecifierSet(declared[1])
    released = [(3, 3), (3, 4), (3, 5), (4, 0), (4, 1), (4, 2), (5, 0)]
    assert {numbers for numbers in released if taken.contains("{}.{}.3".format(*numbers))} == set(ICEBERG)
    for (major, minor), package in ICEBERG.items():
        scala = "2.12" if major == 3 else "2.13"
        assert package.split(":")[1] == f"iceberg-spark-runtime-{major}.{minor}_{scala}"


@pytest.mark.parametrize("version", ["3.4.4", "4.2.0", "5.0.0", "4", "4.1x"])
def test_another_version_is_refused_in_a_sentence(version: str) -> None:
    with pytest.raises(EngineError, match=rf"^pyspark {re.escape(version)} is installed.*3\.5, 4\.0, 4\.1"):
        require_version(version)


def test_the_jar_follows_the_installed_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    for version, spark in (("3.5.7", "3.5_2.12"), ("4.0.1", "4.0_2.13"), ("4.1.4", "4.1_2.13")):
        monkeypatch.setattr("explorer.spark_engine.versions.metadata.version", lambda name, v=version: v)
        assert f"iceberg-spark-runtime-{spark}:" in packages()[0]
