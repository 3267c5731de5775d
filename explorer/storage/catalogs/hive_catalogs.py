"""Catalogs in Hive's metastore, asked through Thrift by a client of our own for what is shown: databases, tables, and
one table's entry. pyiceberg's has no public way to bound an answer: Thrift takes what a server says of its length for
true, and waits for ever. Here an answer has as many bytes, and takes as long, as a REST server's may
(storage.catalogs.answers)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from hive_metastore.ThriftHiveMetastore import Client
from hive_metastore.ttypes import NoSuchObjectException
from pyiceberg.catalog.hive import (
    HIVE_KERBEROS_AUTH,
    HIVE_KERBEROS_SERVICE_NAME,
    HIVE_KERBEROS_SERVICE_NAME_DEFAULT,
)
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError
from pyiceberg.typedef import Identifier
from pyiceberg.utils.properties import property_as_bool
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TSaslClientTransport, TTransportBase

from explorer.progress import check_cancellation
from explorer.storage.catalogs import answers
from explorer.storage.catalogs.answers import AnswerTooLong

PART = 64 << 10
"""Bytes that are asked of a socket at once: it makes room for as many as are asked for."""


class HiveTables:
    """What a metastore of Hive has.

    Args:
        name: The catalog's name.
        properties: Its properties, as pyiceberg has them.
    """

    def __init__(self, name: str, **properties: Any) -> None:
        self.name = name
        self.properties: dict[str, Any] = properties
        address = urlsplit(str(properties["uri"]).split(",")[0])
        self._host, self._port = address.hostname, address.port
        self._user = str(properties["ugi"]).split(":") if properties.get("ugi") else []

    def list_namespaces(self, namespace: Identifier = ()) -> list[Identifier]:
        """The databases; none is in another."""
        if namespace:
            return []
        with self._connection() as client:
            return [(database,) for database in client.get_all_databases()]

    def list_tables(self, namespace: Identifier) -> list[Identifier]:
        """Names of the Iceberg tables of a database. Raises NoSuchNamespaceError."""
        if len(namespace) != 1:
            raise NoSuchNamespaceError(f"a namespace of Hive has one name: {namespace}")
        [database] = namespace
        with self._connection() as client:
            names = client.get_all_tables(db_name=database)
            entries = client.get_table_objects_by_name(dbname=database, tbl_names=names)
        return [
            (database, one.tableName) for one in entries if one.parameters.get("table_type", "").lower() == "iceberg"
        ]

    def hive_table(self, identifier: Identifier) -> Any:
        """The entry of a table. Raises NoSuchTableError."""
        if len(identifier) != 2:
            raise NoSuchTableError(f"a table of Hive has two names: {'.'.join(identifier)}")
        database, name = identifier
        with self._connection() as client:
            try:
                return client.get_table(dbname=database, tbl_name=name)
            except NoSuchObjectException as error:
                raise NoSuchTableError(f"Table does not exists: {name}") from error

    @contextmanager
    def _connection(self) -> Iterator[Client]:
        check_cancellation()
        socket = TimedSocket(self._host, self._port)
        buffered = TBufferedTransport(socket)
        if property_as_bool(self.properties, HIVE_KERBEROS_AUTH, False):
            service = self.properties.get(HIVE_KERBEROS_SERVICE_NAME, HIVE_KERBEROS_SERVICE_NAME_DEFAULT)
            buffered = TSaslClientTransport(socket, host=self._host, service=service)
        transport = BoundedTransport(buffered, socket)
        transport.open()
        try:
            client = Client(TBinaryProtocol(transport))
            if self._user:
                client.set_ugi(*self._user)
            yield client
        finally:
            transport.close()


class TimedSocket(TSocket):  # type: ignore[misc]  # thrift has no types
    """A socket that waits no longer than until a moment, `until`: also what is between it and us (SASL) asks it for
    each byte anew."""

    until = float("inf")

    def read(self, size: int) -> bytes:
        """See thrift. Raises AnswerTooLong."""
        self.setTimeout(1000 * min(max(0.001, self.until - time.monotonic()), answers.TIMEOUT_S[1]))
        try:
            part: bytes = super().read(size)
        finally:
            if time.monotonic() > self.until:
                raise AnswerTooLong(f"its answer takes more than {answers.ANSWER_S} s")
        return part


class BoundedTransport(TTransportBase):  # type: ignore[misc]
    """A transport whose answers end with an error after ANSWER_BYTES or ANSWER_S.

    Args:
        transport: What is read.
        socket: The socket below it.
    """

    def __init__(self, transport: Any, socket: TimedSocket) -> None:
        self._transport, self._socket, self._read = transport, socket, 0

    def isOpen(self) -> bool:
        """See thrift."""
        return bool(self._transport.isOpen())

    def open(self) -> None:
        """See thrift."""
        self._socket.until = time.monotonic() + answers.ANSWER_S
        self._socket.setTimeout(answers.TIMEOUT_S[1] * 1000)
        self._transport.open()

    def close(self) -> None:
        """See thrift."""
        self._transport.close()

    def write(self, data: bytes) -> None:
        """See thrift."""
        self._transport.write(data)

    def flush(self) -> None:
        """See thrift. An answer begins."""
        self._read, self._socket.until = 0, time.monotonic() + answers.ANSWER_S
        self._transport.flush()

    def read(self, size: int) -> bytes:
        """See thrift. Raises AnswerTooLong."""
        part: bytes = self._transport.read(min(size, PART))
        self._read += len(part)
        if self._read > answers.ANSWER_BYTES or size > answers.ANSWER_BYTES:
            raise AnswerTooLong(f"its answer has more than {answers.ANSWER_BYTES >> 20} MiB")
        return part
