"""A gateway to Java for pyspark, which asks Java once what a class is called. pyspark examines each exception of Java
by a dozen such names, which py4j asks again each time, in three parts."""

from __future__ import annotations

from typing import Any

from py4j.clientserver import ClientServer
from py4j.java_gateway import JavaClass, JVMView
from py4j.protocol import DEFAULT_JVM_ID, DEFAULT_JVM_NAME

from explorer.spark_engine.java_names import JavaNames

ALWAYS_THERE = "py4j"
"""A package whose classes are in each JVM that answers."""


class KnownView(JVMView):  # type: ignore[misc]  # py4j has no types
    """A view of a JVM that keeps the classes that it was told of. What is no class may become one, with a jar.

    Args:
        client: py4j's client.
    """

    def __init__(self, client: Any) -> None:
        super().__init__(client, jvm_name=DEFAULT_JVM_NAME, id=DEFAULT_JVM_ID)
        self._known: dict[str, Any] = {ALWAYS_THERE: JavaNames(client, ALWAYS_THERE)}

    def __getattr__(self, name: str) -> Any:
        if name in self._known:
            return self._known[name]
        value = super().__getattr__(name)
        if isinstance(value, JavaClass):
            self._known[name] = value
        return value


class KnownGateway(ClientServer):  # type: ignore[misc]
    """A gateway as pyspark's own, with such a view.

    Args:
        parameters: As py4j's ClientServer has them.
    """

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.jvm = KnownView(self._gateway_client)


def connect() -> Any:
    """Connect to the Java that the environment names, as pyspark does.

    Returns:
        The gateway, to be given to a SparkContext: pyspark's own where threads share connections
        ($PYSPARK_PIN_THREAD is false).
    """
    from pyspark.java_gateway import launch_gateway

    theirs = launch_gateway()  # has Java import what pyspark names, which counts for all gateways to that Java
    if type(theirs) is not ClientServer:
        return theirs
    ours = KnownGateway(java_parameters=theirs.java_parameters, python_parameters=theirs.python_parameters)
    theirs.close()
    return ours
