"""A standalone cluster of Spark whose workers have no such package: what it makes of manifests, and what it says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.conftest import EVERY, Store
from tests.servers.running import spark_cluster
from tests.support.small_tables import make_table


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if not EVERY:
        pytest.skip("part of `make test-servers` ($ICEDIVE_EVERY_SERVER)")
    with spark_cluster(tmp_path_factory.mktemp("cluster")) as master:
        yield master


def python_without(folder: Path, *packages: str) -> str:
    """A Python that has what this one has, but for this package and those."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    others = folder / "others"
    others.mkdir()
    for item in Path(sysconfig.get_path("purelib")).iterdir():
        if item.suffix != ".pth" and not item.name.startswith(packages):
            (others / item.name).symlink_to(item)
    [site] = folder.glob("lib/python*/site-packages")
    (site / "others.pth").write_text(str(others))
    return str(folder / "bin" / "python")


def ask(master: str, python: str, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """A program of its own, whose Spark is that cluster's."""
    conf = {"spark.pyspark.python": python, "spark.executor.memory": "512m", **settings}
    own = {"ICEDIVE_SPARK_MASTER": master, "ICEDIVE_SPARK_CONF": json.dumps(conf)}
    return subprocess.run(
        [sys.executable, "-m", *arguments], env={**os.environ, **own}, capture_output=True, text=True, timeout=600
    )


def test_a_cluster_answers_as_this_process_does(cluster: str, sandbox: Path, store: Store, tmp_path: Path) -> None:
    python = python_without(tmp_path / "python", "explorer", "polars")
    broken = make_table(tmp_path / "broken", commits=3)
    (tmp_path / "store.json").write_text(json.dumps(store.properties()))
    more = {"spark.ui.enabled": "true", "spark.ui.port": "0", "spark.task.maxFailures": "2"}
    asked = (str(broken), store.metadata, str(tmp_path / "store.json"))
    told = ask(cluster, python, "tests.servers.on_cluster", *asked, **more)
    assert told.returncode == 0, told.stderr[-4000:]
    assert told.stdout.split() == ["same", "problems", "rows", "named", "store", "killed", "lost"]


@pytest.mark.parametrize("lacking", ["pyarrow", "fastavro"])
def test_a_worker_that_lacks_something_says_so(cluster: str, lacking: str, tmp_path: Path) -> None:
    python = python_without(tmp_path / "python", lacking)
    table = str(make_table(tmp_path / "t", commits=1))
    told = ask(cluster, python, "explorer.cli", "inspect", "entries", table, "--engine", "spark")
    assert told.returncode == 4, told.stderr[-4000:]
    assert "entries of t: Spark's worker at 127.0.0.1 executor" in told.stderr
    assert f"has no {lacking}: its Python needs pyarrow, fastavro and pyiceberg" in told.stderr


def test_a_python_that_is_not_there(cluster: str, tmp_path: Path) -> None:
    table = str(make_table(tmp_path / "t", commits=1))
    told = ask(cluster, "/nowhere/python3", "explorer.cli", "inspect", "files", table, "--engine", "spark")
    assert told.returncode == 4, told.stderr[-4000:]
    assert "cannot run /nowhere/python3: spark.pyspark.python in spark.json names another" in told.stderr


def test_another_python(cluster: str, tmp_path: Path) -> None:
    ours = sys.version_info[1]
    names = (f"python3.{minor}" for minor in range(10, 15) if minor != ours)
    others = [path for name in names if (path := shutil.which(name)) and not subprocess.run([path, "-V"]).returncode]
    if not others:
        pytest.skip("there is no other Python on the PATH")
    table = str(make_table(tmp_path / "t"))
    told = ask(cluster, others[0], "explorer.cli", "inspect", "files", table, "--engine", "spark")
    assert told.returncode == 4, told.stderr[-4000:]
    assert f", and this process 3.{ours}: spark.pyspark.python in spark.json names another" in told.stderr
