"""One sandbox a test run: every scenario, built by real Spark commits into a temporary folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

HOME = Path(os.environ.get("ICEBERG_EXPLORER_TEST_HOME") or tempfile.mkdtemp(prefix="iceberg-explorer-test-"))
os.environ["ICEBERG_EXPLORER_HOME"] = str(HOME)
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")
"""Each Java lives for minutes: what its second compiler costs (a quarter of the processor) never comes back."""

ARTIFACTS = Path(__file__).parent.parent / "test-artifacts"


def pytest_configure() -> None:
    ARTIFACTS.mkdir(exist_ok=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Quick tests first: a broken parser should not wait for Spark to say so. Then the longest files, of which each is
    one process's: the last ones to be given out should be short."""
    order = ("unit/", "properties/", "spark/test_lab", "browser/test_dashboard", "security/", "spark/", "notebooks/")
    items.sort(key=lambda item: next((i for i, name in enumerate(order) if f"/tests/{name}" in str(item.path)), 9))


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
