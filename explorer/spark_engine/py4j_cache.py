"""py4j asks Java at each step of `jvm.org.apache.iceberg.X` whether there is such a class, and Java looks for it in
some three hundred jars, for `org` alone a dozen times: in each package that pyspark has imported. Two thirds of what
Java did in the lab was this. What a package is, and what a class, stays so: it is asked once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from py4j.java_gateway import JavaClass, JavaPackage, JVMView


def _once(ask: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    def asked(self: Any, name: str) -> Any:
        """Called only where the object has no such attribute yet."""
        found = ask(self, name)
        if isinstance(found, JavaClass) or (isinstance(found, JavaPackage) and name[:1].islower()):
            setattr(self, name, found)  # a class that is not there is a package to py4j, and may come with a jar
        return found

    return asked


_ONCE = {kind: _once(kind.__getattr__) for kind in (JVMView, JavaPackage)}


def keep() -> None:
    """From now on, in this process."""
    for kind, asked in _ONCE.items():
        kind.__getattr__ = asked
