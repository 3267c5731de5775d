"""One sandbox a test run: every scenario, built by real Spark commits into a temporary folder."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

HOME = Path(os.environ.get("ICEBERG_EXPLORER_TEST_HOME") or tempfile.mkdtemp(prefix="iceberg-explorer-test-"))
os.environ["ICEBERG_EXPLORER_HOME"] = str(HOME)

ARTIFACTS = Path(__file__).parent.parent / "test-artifacts"


def pytest_configure() -> None:
    ARTIFACTS.mkdir(exist_ok=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Quick tests first: a broken parser should not wait for Spark to say so. Last what must be alone."""
    order = ("unit", "properties", "golden", "security", "servers", "spark", "notebooks", "browser")
    place = {name: i for i, name in enumerate(order)}
    items.sort(key=lambda i: (i.get_closest_marker("alone") is not None, place.get(i.path.parent.name, 0)))


@pytest.fixture(autouse=True)
def _alone(request: pytest.FixtureRequest) -> None:
    """A test that measures time waits for the other half (tests.halves)."""
    if request.node.get_closest_marker("alone") and (done := os.environ.get("ICEBERG_EXPLORER_OTHER_HALF")):
        while not Path(done).exists():
            time.sleep(0.5)


@pytest.fixture(scope="session")
def engine() -> Iterator[object]:
    from explorer.engines.spark import SparkEngine

    spark = SparkEngine()
    spark.start()
    yield spark
    spark.stop()


@pytest.fixture(scope="session")
def sandbox(request: pytest.FixtureRequest) -> Path:
    """Builds all scenarios, once; returns the sandbox folder. Where they are kept, no Spark is started for it."""
    from explorer.scenarios import build_all, missing

    if todo := missing():
        build_all(request.getfixturevalue("engine"), todo)
    return HOME / "sandbox"


@pytest.fixture
def artifacts() -> Path:
    """Where tests leave screenshots."""
    return ARTIFACTS
