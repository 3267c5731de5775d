"""Walk Spark's plans through py4j: every part of every node, however it is held, by the names of their classes.

Plans and expressions are Scala products: what a node is made of are the arguments of its constructor, among them other
nodes, held as they are or in sequences, maps, options and tuples. All of them are visited, so that nothing hides in a
field that `children` and `expressions` leave out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from explorer.spark_engine.versions import field_names, spark_version

CATALYST = "org.apache.spark.sql.catalyst."
CONTAINERS = ("scala.collection.", "scala.Some", "scala.None$", "scala.Tuple")
VALUES = (
    "org.apache.spark.sql.types.",
    "org.apache.spark.sql.connector.expressions.",
    "org.apache.spark.sql.connector.catalog.TableChange",
    "org.apache.spark.unsafe.types.",
    "org.apache.iceberg.",
    "java.lang.",
    "java.math.",
    "java.time.",
)
"""Types, constants, transforms and changes of columns, which hold no nodes."""

Visit = Callable[[str, Any, frozenset[str]], None]


class Unknown(Exception):
    """A node or value of a class that is not on the list; its text is the name of the class."""


class Walk:
    """Visits every node of a plan or expression. `nodes` are the classes (without the package CATALYST) that are looked
    into, `leaves` those that hold no nodes; any other class raises Unknown. `visit` is given the class's name, the
    object, and the names of the common table expressions in scope there, in lower case. `derived` are arguments that
    Spark's analysis fills in by itself: they are passed over."""

    def __init__(
        self,
        jvm: Any,
        nodes: frozenset[str],
        leaves: frozenset[str],
        visit: Visit,
        derived: frozenset[str] = frozenset(),
    ) -> None:
        self._name_of = jvm.org.apache.commons.lang3.ClassUtils.getName
        self._says_names = spark_version(jvm) >= (4, 0)
        self.nodes, self.leaves, self.visit, self.derived = nodes, leaves, visit, derived

    def of(self, part: Any, scope: frozenset[str] = frozenset()) -> None:
        """Visit a part and all it is made of. Raises Unknown, and RecursionError when it nests too deeply."""
        from py4j.java_collections import JavaList, JavaMap, JavaSet
        from py4j.java_gateway import JavaObject

        if isinstance(part, (JavaList, JavaSet)):
            self._each(part, scope)
        elif isinstance(part, JavaMap):
            self._each([*part.keys(), *part.values()], scope)
        elif isinstance(part, JavaObject):
            name = self._name_of(part)
            if name.startswith(CONTAINERS):
                self._container(name, part, scope)
            elif not name.startswith(VALUES):
                self._node(name.removeprefix(CATALYST), part, scope)

    def _each(self, parts: Iterable[Any], scope: frozenset[str]) -> None:
        for part in parts:
            self.of(part, scope)

    def _container(self, name: str, part: Any, scope: frozenset[str]) -> None:
        if name.startswith("scala.collection."):
            items = part.iterator()
            while items.hasNext():
                self.of(items.next(), scope)
        else:
            self._each((part.productElement(i) for i in range(part.productArity())), scope)

    def _node(self, name: str, node: Any, scope: frozenset[str]) -> None:
        if name in self.leaves:
            self.visit(name, node, scope)
            return
        if name not in self.nodes:
            raise Unknown(name)
        self.visit(name, node, scope)
        if name == "plans.logical.UnresolvedWith":
            self._with(node, scope)
            return
        names = field_names(node, self._says_names) if self.derived else []
        for i in range(node.productArity()):
            if not (names and names[i] in self.derived):
                self.of(node.productElement(i), scope)

    def _with(self, node: Any, scope: frozenset[str]) -> None:
        """Each common table expression sees those before it, and itself if it is recursive; the query sees all."""
        names = field_names(node, self._says_names)
        if names not in (["child", "cteRelations"], ["child", "cteRelations", "allowRecursion"]):
            raise Unknown(f"plans.logical.UnresolvedWith of {', '.join(names)}")
        is_recursive = len(names) > 2 and node.allowRecursion()  # not before Spark 4.1
        relations = node.cteRelations()
        for i in range(relations.size()):
            name = str(relations.apply(i)._1()).lower()
            self.of(relations.apply(i)._2(), scope | {name} if is_recursive else scope)
            scope |= {name}
        self.of(node.child(), scope)


def strings(sequence: Any) -> tuple[str, ...]:
    """A Scala sequence of strings."""
    return tuple(str(sequence.apply(i)) for i in range(sequence.size()))
