"""Kinds of parameters: how each is written, what it accepts, what can be offered for it. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_args, get_origin

if TYPE_CHECKING:
    from explorer.storage.locate import Location
    from explorer.table import Table

Form = Literal["text", "number", "count", "decimal", "flag", "choice", "pairs", "numbers"]
Offer = Literal["", "snapshots", "columns", "files", "metadata files"]


@dataclass(frozen=True)
class Kind:
    """One kind of parameter.

    Args:
        form: How a value is written. A `count` is a number or `all`; `pairs` are NAME=VALUE, `numbers` NAME=NUMBER.
        metavar: What stands for a value in help.
        choices: The values that are accepted, where there are few.
        least: The smallest number that is accepted.
        several: Whether it takes several values.
        offer: What an interface offers for it, from the table.
        is_in_files: Whether `@FILE` on the command line stands for the lines of a file.
        help: What is said of a parameter of this kind, if its question says nothing of it.
    """

    form: Form = "text"
    metavar: str = ""
    choices: tuple[str, ...] = ()
    least: float | None = None
    several: bool = False
    offer: Offer = ""
    is_in_files: bool = False
    help: str = ""

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of a value."""
        if self.form in ("pairs", "numbers"):
            return {"type": "object", "additionalProperties": {"type": "string" if self.form == "pairs" else "number"}}
        types = {"number": "integer", "count": "integer", "decimal": "number", "flag": "boolean"}
        one: dict[str, Any] = {"type": types.get(self.form, "string")}
        if self.choices:
            one["enum"] = list(self.choices)
        if self.least is not None:
            one["minimum"] = self.least
        return {"type": "array", "items": one} if self.several else one


SnapshotRef: TypeAlias = Annotated[
    "str | int | None",
    Kind(
        metavar="SNAPSHOT", offer="snapshots",
        help="The snapshot: an id, branch, tag, snapshot-N or time. The current one if left out.",
    ),
]  # fmt: skip
"""An id, branch, tag, `snapshot-3` or time; None is the current snapshot."""
Side: TypeAlias = Annotated[str, Kind(metavar="SNAPSHOT", offer="snapshots")]
"""One of two snapshots that are compared; `none` is the table before its first snapshot."""
MetadataRef: TypeAlias = Annotated[str, Kind(metavar="VERSION", offer="metadata files")]
"""A metadata file: `metadata-3` as shown, its version number, its path, or the end of its path."""
Filter: TypeAlias = Annotated[str, Kind(metavar="FILTER", offer="columns")]
"""A filter in the language of docs/filters.md."""
Filters: TypeAlias = Annotated["Sequence[str]", Kind(metavar="FILTER", several=True, offer="columns", is_in_files=True)]
Sql: TypeAlias = Annotated[str, Kind(metavar="SQL", offer="columns")]
"""Text in Spark SQL."""
ColumnNames: TypeAlias = Annotated["Sequence[str]", Kind(metavar="COLUMN", several=True, offer="columns")]
ColumnName: TypeAlias = Annotated[str, Kind(metavar="COLUMN", offer="columns")]
"""A column, by its path."""
OtherTable: TypeAlias = Annotated[str, Kind(metavar="OTHER")]
"""Another table: a folder, a metadata.json, or a name in a catalog."""
FilePath: TypeAlias = Annotated[str, Kind(metavar="PATH", offer="files")]
"""A live file: its path, a prefix of its name, the end of its path, or its label in a list."""
Texts: TypeAlias = Annotated["Sequence[str]", Kind(metavar="TEXT", several=True)]
Pairs: TypeAlias = Annotated["Mapping[str, str]", Kind("pairs", "NAME=VALUE", several=True)]
Limits: TypeAlias = Annotated["Mapping[str, float]", Kind("numbers", "NAME=NUMBER", several=True)]
Count: TypeAlias = Annotated["int | None", Kind("count", "N|all", least=0)]
Least: TypeAlias = Annotated[int, Kind("number", "N", least=0)]
Positive: TypeAlias = Annotated[int, Kind("number", "N", least=1)]
Number: TypeAlias = Annotated["int | None", Kind("number", "N")]
Seconds: TypeAlias = Annotated["float | None", Kind("decimal", "SECONDS", least=0.1)]
EngineName: TypeAlias = Annotated[
    Literal["auto", "local", "spark"],
    Kind(
        "choice", choices=("auto", "local", "spark"),
        help="What decodes manifests and reads files: this process, or Spark's workers.",
    ),
]  # fmt: skip


NOTHING: Mapping[str, Any] = MappingProxyType({})
"""The default of pairs."""


@dataclass(frozen=True)
class CatalogAt:
    """A catalog, and how it is reached.

    Args:
        name: Its name; the sandbox if left out.
        properties: Connection properties, beside those of its configuration.
        roots: Folders and URIs that may be read beside the tables' own.
        relocate: Pairs of an old and a new place.
    """

    name: str = "sandbox"
    properties: Mapping[str, str] | None = None
    roots: Sequence[str] = ()
    relocate: Sequence[tuple[str, str]] = ()

    def arguments(self) -> dict[str, Any]:
        """Return the arguments that `reports.catalog_sweep` takes."""
        return {"catalog": self.name, "properties": self.properties, "roots": self.roots, "relocate": self.relocate}


@dataclass
class TableAt:
    """A table by its name or path. It is opened when it is needed.

    Args:
        name: `db.t`, `catalog.db.t`, a path or a URI.
        catalog: The catalog's name, where the name does not have it.
        properties: Connection properties.
        roots: Folders and URIs that may be read beside the table's own.
        relocate: Pairs of an old and a new place.
        opened: The table, once it is open.
    """

    name: str
    catalog: str | None = None
    properties: Mapping[str, str] | None = None
    roots: Sequence[str] = ()
    relocate: Sequence[tuple[str, str]] = ()
    opened: Table | None = field(default=None, repr=False)

    def open(self) -> Table:
        """Return the open table. Raises TableNotFound, UnreadableFile, AccessRefused."""
        if self.opened is None:
            from explorer.storage.reader import TableReader
            from explorer.table import Table

            self.opened = Table(TableReader(self.location(), self.roots))
        return self.opened

    def location(self) -> Location:
        """Return where its metadata file is. Raises TableNotFound."""
        from explorer.storage.locate import locate

        return locate(self.name, self.catalog, self.properties, tuple(self.relocate))

    def full_name(self) -> str:
        """Return its name with its catalog, as an open table has it; what was asked for where no catalog has it, or
        none can be asked."""
        from explorer.errors import ExplorerError

        try:
            found = self.location()
        except ExplorerError:
            return self.name
        return self.name if found.catalog is None else found.name


def kind_of(annotation: Any) -> Kind:
    """Return the kind that an annotation stands for. Raises TypeError for one that has none."""
    if get_origin(annotation) is Annotated:
        return next(extra for extra in get_args(annotation)[1:] if isinstance(extra, Kind))
    if type(None) in get_args(annotation):  # optional
        return kind_of(next(one for one in get_args(annotation) if one is not type(None)))
    if get_origin(annotation) is Literal:
        return Kind("choice", choices=tuple(get_args(annotation)))
    simple = {bool: Kind("flag"), str: Kind(metavar="TEXT"), int: Kind("number", "N"), float: Kind("decimal", "NUMBER")}
    if annotation in simple:
        return simple[annotation]
    raise TypeError(f"{annotation!r} is not a kind of parameter")
