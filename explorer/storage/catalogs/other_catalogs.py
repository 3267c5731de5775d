"""Catalogs that pyiceberg opens for us: SQL, Glue, Hive, DynamoDB, BigQuery, and classes that a person's configuration
names. Of a table they tell where its metadata file is, and no more.

Table properties may name a FileIO class to import and an endpoint to send credentials to: neither is for whoever wrote
the table to choose. `load_table` of pyiceberg reads the metadata file through the FileIO of the catalog's own
properties, and only then makes one of the table's. So the catalog gets a FileIO of ours, which ends there."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, NoReturn, Protocol

from pyiceberg.catalog import AVAILABLE_CATALOGS, Catalog, CatalogType, infer_catalog_type
from pyiceberg.exceptions import NoSuchIcebergTableError, NoSuchTableError
from pyiceberg.io import FileIO, InputFile, OutputFile
from pyiceberg.typedef import Identifier

from explorer.errors import NotSupported

IMPLEMENTATION = "py-catalog-impl"
_NEED_ADDRESS = (CatalogType.REST, CatalogType.HIVE, CatalogType.SQL)


class ReadCatalog(Protocol):
    """What is asked of any catalog: pyiceberg's, and our own of REST servers and of Hive."""

    name: str
    properties: dict[str, Any]

    def list_namespaces(self, namespace: Identifier = ()) -> list[Identifier]:
        """Namespaces in a namespace, or of the catalog."""

    def list_tables(self, namespace: Identifier) -> list[Identifier]:
        """Names of the tables of a namespace."""


class MetadataAsked(Exception):
    """A catalog begins to read a table's metadata file."""

    def __init__(self, location: str) -> None:
        self.location = location
        super().__init__(f"{location} is not read by the catalog")


class LocationFiles(FileIO):
    """Reads nothing: who would read a file learns from the error that we know its location."""

    def new_input(self, location: str) -> InputFile:
        """See pyiceberg. Raises MetadataAsked."""
        raise MetadataAsked(location)

    def new_output(self, location: str) -> OutputFile:
        """See pyiceberg. Raises NotSupported: nothing is written."""
        return self._refuse(location)

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """See pyiceberg. Raises NotSupported: nothing is deleted."""
        self._refuse(location)

    @staticmethod
    def _refuse(location: object) -> NoReturn:
        raise NotSupported(f"{location}: no catalog writes or deletes files here")


def catalog_kind(name: str, own: Mapping[str, str]) -> CatalogType | None:
    """Tell which kind of catalog properties describe, by pyiceberg's rules.

    Args:
        name: The catalog.
        own: Its properties.

    Returns:
        The kind; None where they name a class.

    Raises:
        ValueError: They describe none.
    """
    named, implementation = own.get("type"), own.get(IMPLEMENTATION)
    if implementation:
        if named:
            raise ValueError(
                f"Must not set both catalog type and {IMPLEMENTATION} configurations, but found type {named} and "
                f"{IMPLEMENTATION} {implementation}"
            )
        return None
    kind = CatalogType(named.lower()) if named else infer_catalog_type(name, {**own})
    if kind in _NEED_ADDRESS and "uri" not in own:
        raise ValueError(
            "URI missing, please provide using --uri, the config or environment variable "
            f"PYICEBERG_CATALOG__{name.upper()}__URI"
        )
    return kind


def connect(name: str, own: Mapping[str, str], kind: CatalogType | None) -> Catalog:
    """Open a catalog by pyiceberg, which reads no configuration then.

    Args:
        name: The catalog.
        own: Its properties.
        kind: Its kind; None for the class that its properties name.

    Returns:
        The catalog.

    Raises:
        ValueError: The class is none that can be had.
        NotInstalledError: pyiceberg needs another package for it.
    """
    ours = f"{LocationFiles.__module__}.{LocationFiles.__qualname__}"
    properties: dict[str, Any] = {**own, "init_catalog_tables": "false", "py-io-impl": ours}
    if kind is not None:
        return AVAILABLE_CATALOGS[kind](name, properties)
    module, _, class_name = own[IMPLEMENTATION].rpartition(".")
    if not module:
        raise ValueError(f"{IMPLEMENTATION} should be full path (module.CustomCatalog), got: {class_name}")
    try:
        implementation = getattr(importlib.import_module(module), class_name)
    except ModuleNotFoundError as error:
        raise ValueError(f"Could not initialize Catalog: {own[IMPLEMENTATION]}") from error
    made: Catalog = implementation(name, **properties)
    return made


def metadata_location(catalog: Any, identifier: Identifier) -> str:
    """Ask a catalog where a table's metadata file is. No file is read, and no class is imported.

    Args:
        catalog: A catalog that `connect` opened.
        identifier: The names that lead to the table.

    Returns:
        The file's location.

    Raises:
        NoSuchTableError: There is no such table.
        NoSuchIcebergTableError: It is none of Iceberg.
        NotSupported: Its class loads tables in a way of its own, and has no method that says it.
    """
    from pyiceberg.catalog.rest import Endpoints, RestCatalog

    if not type(catalog).load_table.__module__.startswith("pyiceberg."):
        raise NotSupported(
            f"{type(catalog).__qualname__} loads tables in a way of its own, where a table's properties may choose "
            "which class is imported: give it a method metadata_location(identifier), which returns the file's location"
        )
    if isinstance(catalog, RestCatalog):  # its server sends the metadata along, which is not looked at
        names = catalog._split_identifier_for_path(identifier)
        answer = catalog._session.get(catalog.url(Endpoints.load_table, prefixed=True, **names))
        if answer.status_code == 404:
            raise NoSuchTableError(f"there is no table {'.'.join(identifier)}")
        answer.raise_for_status()
        return str(answer.json()["metadata-location"])
    try:
        location = str(catalog.load_table(identifier).metadata_location)
    except MetadataAsked as asked:
        location = asked.location
    if not location:
        raise NoSuchIcebergTableError(f"the entry of {'.'.join(identifier)} names no metadata file of Iceberg")
    return location
