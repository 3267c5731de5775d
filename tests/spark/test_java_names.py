"""Java is not asked what packages and classes are called."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from py4j.java_gateway import JavaClass
from py4j.protocol import REFL_GET_UNKNOWN_SUB_COMMAND_NAME, REFLECTION_COMMAND_NAME, Py4JError

from explorer.spark_engine.java_names import JavaNames, java_names
from explorer.spark_engine.spark import SparkEngine
from explorer.spark_engine.versions import spark_version, sql_package


def test_java_is_not_asked_for_names(engine: SparkEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    client: Any = engine.session().sparkContext._gateway._gateway_client
    asked: list[str] = []
    send = client.send_command

    def asking(command: str, *more: Any) -> Any:
        if command.startswith(REFLECTION_COMMAND_NAME):  # others are of what is let go of, whenever that is
            asked.append(command)
        return send(command, *more)

    monkeypatch.setattr(client, "send_command", asking)
    jvm = java_names(engine.session()._jvm)
    table = jvm.org.apache.iceberg.Table
    assert isinstance(table, JavaClass)
    assert isinstance(jvm.org.apache.iceberg, JavaNames)
    assert java_names(jvm) is jvm
    assert asked == []
    assert str(jvm.java.lang.String.valueOf(7)) == "7"
    assert jvm.java.util.HashSet().size() == 0
    assert spark_version(jvm) >= (3, 5)
    assert sql_package(jvm).SparkSession.getActiveSession() is not None
    assert len(engine.session().sparkContext._gateway.new_array(jvm.int, 2)) == 2
    assert not [command for command in asked if command.startswith(f"r\n{REFL_GET_UNKNOWN_SUB_COMMAND_NAME}")]


def test_a_class_that_is_not_there_is_an_error_where_it_is_used(engine: SparkEngine) -> None:
    missing = java_names(engine.session()._jvm).org.apache.iceberg.NoSuchClass
    with pytest.raises(Py4JError, match="does not exist in the JVM"):
        missing.method()
    with pytest.raises(Py4JError):
        missing()


def test_names_are_copied() -> None:
    """What begins with an underscore is Python's."""
    assert isinstance(copy.copy(JavaNames(None, "org")), JavaNames)
