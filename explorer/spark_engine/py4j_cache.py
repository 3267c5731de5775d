"""py4j asks Java at each step of `jvm.org.apache.iceberg.X` whether there is such a class, and Java looks for it in
some three hundred jars, for `org` alone a dozen times: in each package that pyspark has imported. Two thirds of what
Java did in the lab was this. What a package is, and what a class, stays so: it is asked once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from py4j.java_gateway import JavaClass, JavaPackage, JVMView


def _once(ask: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    def look_up(self: Any, name: str) -> Any:
        """Called only where the object has no such attribute yet."""
        value = ask(self, name)
        if isinstance(value, JavaClass) or (isinstance(value, JavaPackage) and name[:1].islower()):
            setattr(self, name, value)  # a class that is not there is a package to py4j, and may come with a jar
        return value

    return look_up


_ONCE = {kind: _once(kind.__getattr__) for kind in (JVMView, JavaPackage)}


def keep() -> None:
    """From now on, in this process."""
    for kind, lookup in _ONCE.items():
        kind.__getattr__ = lookup
