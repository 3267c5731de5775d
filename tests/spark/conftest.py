"""Spark for tests of reports: each module has a namespace of its own, SPACE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from explorer.spark_engine.spark import SparkEngine
from tests.support.report_tables import spark_namespace


@pytest.fixture
def session(request: pytest.FixtureRequest, engine: SparkEngine) -> Iterator[Any]:
    """A session with the empty namespace of the module."""
    with spark_namespace(engine, request.module.SPACE) as session:
        yield session


@pytest.fixture(scope="module")
def spark(request: pytest.FixtureRequest, engine: SparkEngine) -> Iterator[Any]:
    """A session with the namespace of the module, which all its tests share."""
    with spark_namespace(engine, request.module.SPACE) as session:
        yield session
    session.sql(f"DROP NAMESPACE {request.module.SPACE}")
