"""What Java's packages and classes are called is asked of Java once."""

from __future__ import annotations

from typing import Any

import pytest
from py4j.java_gateway import JavaClass, JavaPackage, JVMView
from py4j.protocol import REFLECTION_COMMAND_NAME

from explorer.spark_engine import py4j_cache
from explorer.spark_engine.spark import SparkEngine


def test_a_name_is_asked_of_java_once(engine: SparkEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    client: Any = engine.session().sparkContext._gateway._gateway_client
    asked: list[str] = []
    send = client.send_command

    def asking(command: str, *more: Any) -> Any:
        if command.startswith(REFLECTION_COMMAND_NAME):  # others are of what is let go of, whenever that is
            asked.append(command)
        return send(command, *more)

    monkeypatch.setattr(client, "send_command", asking)
    jvm: Any = JVMView(client, "another", id=engine.session()._jvm._id)  # which nobody has asked yet
    table = jvm.org.apache.iceberg.Table
    assert isinstance(table, JavaClass)
    assert len(asked) == 4
    assert jvm.org.apache.iceberg.Table is table
    assert jvm.org.apache.iceberg.Schema is not table
    assert len(asked) == 5
    for _ in range(2):  # to py4j a class that is not there is a package; a jar may bring it
        assert isinstance(jvm.org.apache.iceberg.NoSuchClass, JavaPackage)
    assert len(asked) == 7
    assert str(jvm.java.lang.String.valueOf(7)) == "7"
    with pytest.raises(TypeError, match="not callable"):
        jvm.org.apache.iceberg.NoSuchClass()


def test_it_is_said_once(engine: SparkEngine) -> None:
    assert engine.session()
    before = JVMView.__getattr__
    assert before.__name__ == "look_up"
    py4j_cache.keep()
    assert JVMView.__getattr__ is before
