"""Call protected and private methods of Iceberg by reflection. Its commit() does several of the lab's steps in one
call."""

from __future__ import annotations

from typing import Any, Protocol
from weakref import WeakKeyDictionary

_METHODS: WeakKeyDictionary[Any, dict[tuple[str, str, int, str], Any]] = WeakKeyDictionary()
"""Methods that were looked up, by gateway. An entry disappears with its gateway."""


class Api(Protocol):
    """What a call needs: a JVM and its gateway. A Workshop has both."""

    jvm: Any
    gateway: Any


def _classes(target: Any) -> Any:
    java_class = target.getClass()
    while java_class is not None:
        yield java_class
        java_class = java_class.getSuperclass()


def constant(jvm: Any, value: Any) -> Any:
    """A java.util.function.Function that always returns a value: that of Guava is none in Spark 3."""
    handles, any_class = jvm.java.lang.invoke.MethodHandles, jvm.java.lang.Class.forName("java.lang.Object")
    one_argument = jvm.java.util.Collections.singletonList(any_class)
    handle = handles.dropArguments(handles.constant(any_class, value), 0, one_argument)
    function = jvm.java.lang.Class.forName("java.util.function.Function")
    return jvm.java.lang.invoke.MethodHandleProxies.asInterfaceInstance(function, handle)


def items(java_list: Any) -> list[Any]:
    """The items of a Java list, by index. Iterating over the list would end with an exception, which pyspark examines
    for 70 ms."""
    return [java_list.get(i) for i in range(java_list.size())]


def call(api: Api, target: Any, method: str, *arguments: Any, owner_name: str = "") -> Any:
    """Call a method that the target's class or a superclass declares. With `owner_name`, only the class of that name is
    searched."""
    methods = _METHODS.setdefault(api.gateway, {})
    key = (str(target.getClass().getName()), method, len(arguments), owner_name)
    if key not in methods:  # each method that is looked at is a question to Java, and there are hundreds
        methods[key] = _find_method(target, method, len(arguments), owner_name)
    values = api.gateway.new_array(api.jvm.java.lang.Object, len(arguments))
    for i, value in enumerate(arguments):
        values[i] = value
    return methods[key].invoke(target, values)


def _find_method(target: Any, method: str, count: int, owner_name: str) -> Any:
    for owner in _classes(target):
        if owner_name and owner.getSimpleName() != owner_name:
            continue
        for member in owner.getDeclaredMethods():
            if member.getName() == method and member.getParameterCount() == count:
                member.setAccessible(True)
                return member
    raise AttributeError(f"{target.getClass().getName()} has no method {method} with {count} arguments")


def field(target: Any, name: str) -> Any:
    """The value of a field that the target's class or a superclass declares."""
    for owner in _classes(target):
        for member in owner.getDeclaredFields():
            if member.getName() == name:
                member.setAccessible(True)
                return member.get(target)
    raise AttributeError(f"{target.getClass().getName()} has no field {name}")


def cause(error: Exception) -> tuple[str, str]:
    """The (class, message) of Iceberg's exception, without the wrapping of reflection."""
    java = getattr(error, "java_exception", None)
    while (
        java is not None
        and java.getCause() is not None
        and str(java.getClass().getName()).endswith("InvocationTargetException")
    ):
        java = java.getCause()
    if java is None:
        return type(error).__name__, str(error)
    return str(java.getClass().getName()), str(java.getMessage())


def with_snapshot(api: Api, base: Any, snapshot: Any) -> Any:
    """The metadata of a table after its main branch moves to a new snapshot."""
    return api.jvm.org.apache.iceberg.TableMetadata.buildFrom(base).setBranchSnapshot(snapshot, "main").build()


def write_metadata(api: Api, operations: Any, base: Any, updated: Any) -> str:
    """Write the next metadata.json of a table; return its location."""
    version = int(str(base.metadataFileLocation()).rsplit("/", 1)[-1].split("-")[0])
    return str(call(api, operations, "writeNewMetadata", updated, version + 1))


def swap(api: Api, operations: Any, new: str, old: str) -> None:
    """Run JdbcCatalog's conditional UPDATE. Raises a Py4JJavaError with a CommitFailedException unless the catalog
    points to `old`."""
    call(api, operations, "updateTable", new, old)


def clean_up(api: Api, operations: Any, pending: Any, snapshot_id: int) -> None:
    """Do what commit() does after success: remove the manifests and manifest lists of lost attempts."""
    saved = operations.refresh().snapshot(snapshot_id)
    kept = api.jvm.java.util.HashSet(saved.allManifests(operations.io()))
    call(api, pending, "cleanUncommitted", kept)
    for path in items(field(pending, "manifestLists")):
        if path != saved.manifestListLocation():
            call(api, pending, "deleteFile", path, owner_name="SnapshotProducer")
