"""Java's classes by their names, without a question to Java.

py4j asks Java at each step of `jvm.org.apache.iceberg.X` whether there is such a class, and Java looks for it in some
three hundred jars, for `org` alone a dozen times: in each package that pyspark has imported. Two thirds of what Java
did in the lab was this. What we name is there, and Java's own convention says what is a package and what a class."""

from __future__ import annotations

from typing import Any

PRIMITIVES = frozenset({"boolean", "byte", "char", "short", "int", "long", "float", "double"})
"""Types that are in no package."""
PACKAGE_OBJECT = "package"
"""Scala's class of what belongs to a package as a whole. It is a word of Java's, so no package is called so."""


class JavaNames:
    """A package of Java, whose attributes are the packages and classes in it: a name that begins with a small letter is
    a package's. A class that is not there is an error where it is used.

    Args:
        client: py4j's client.
        package: The package's name; nothing for where all packages are.
    """

    def __init__(self, client: Any, package: str = "") -> None:
        self._client, self._package = client, package

    def __getattr__(self, name: str) -> Any:
        from py4j.java_gateway import JavaClass

        if name.startswith("_"):
            raise AttributeError(name)
        full = f"{self._package}.{name}" if self._package else name
        if name[0].islower() and name != PACKAGE_OBJECT and full not in PRIMITIVES:
            return JavaNames(self._client, full)
        return JavaClass(full, self._client)


def java_names(jvm: Any) -> Any:
    """Return the packages and classes of a JVM.

    Args:
        jvm: py4j's view of it, or what this function returned.

    Returns:
        The packages, as attributes.
    """
    return jvm if isinstance(jvm, JavaNames) else JavaNames(jvm._gateway_client)
