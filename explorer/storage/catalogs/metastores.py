"""What Hive's metastore and Glue may answer: as many bytes, and for as long, as a REST server may
(storage.catalogs.rest). pyiceberg asks them through Thrift and boto, which take what a server says of its answer's
length for true, and wait for ever."""

from __future__ import annotations

import time
from typing import Any

from pyiceberg.catalog import Catalog

from explorer.storage.catalogs import deadlines, rest

PART = 64 << 10
"""Bytes that are asked of a socket at once: it makes room for as many as are asked for."""


class AnswerTooLong(Exception):
    """A server says more, or takes longer, than it may."""


def set_limits(catalog: Catalog) -> None:
    """Have a catalog of Hive's metastore or of Glue read no more of an answer than it may have; leave others."""
    client = getattr(catalog, "_client", None)
    if client is not None and hasattr(client, "_init_thrift_transport"):
        make = client._init_thrift_transport
        client._init_thrift_transport = lambda: _limit_answers(make())
        client._transport = client._init_thrift_transport()
    glue = getattr(catalog, "glue", None)
    if glue is not None:
        session = glue._endpoint.http_session
        session._pool_classes_by_scheme = session._manager.pool_classes_by_scheme = deadlines.ending(
            session._pool_classes_by_scheme
        )
        send = session.send

        def send_within_limits(request: Any) -> Any:
            request.stream_output = True  # or it would be read here
            began = time.monotonic()
            try:
                response = send(request)
            except Exception as error:
                if time.monotonic() - began < deadlines.SECONDS:
                    raise
                raise AnswerTooLong(f"its answer takes more than {deadlines.SECONDS} s") from error  # not asked again
            answer = response.raw
            response.raw = rest.Bounded(answer)
            with answer.ends():
                response.content  # noqa: B018  # is read now, and kept
            return response

        session.send = send_within_limits


def _limit_answers(transport: Any) -> Any:
    from thrift.transport.TTransport import TTransportBase

    class Bounded(TTransportBase):  # type: ignore[misc]  # thrift has no types
        """A transport whose answers end with an error after ANSWER_BYTES or ANSWER_S of storage.catalogs.rest."""

        def __init__(self) -> None:
            self._read, self._until = 0, 0.0
            self._socket: Any = next(
                (
                    below
                    for name in ("_TBufferedTransport__trans", "transport", "_trans")
                    if hasattr(below := getattr(transport, name, None), "setTimeout")
                ),
                None,
            )
            if self._socket is not None:
                self._receive, self._socket.read = self._socket.read, self._read_in_time

        def isOpen(self) -> bool:
            return bool(transport.isOpen())

        def _read_in_time(self, size: int) -> bytes:
            """Read of the socket: also what is between this and it (SASL) asks it for each byte anew."""
            left = max(0.001, self._until - time.monotonic())
            self._socket.setTimeout(1000 * min(left, rest.TIMEOUT_S[1]))
            try:
                part: bytes = self._receive(size)
            finally:
                if time.monotonic() > self._until:
                    raise AnswerTooLong(f"its answer takes more than {rest.ANSWER_S} s")
            return part

        def open(self) -> None:
            self._until = time.monotonic() + rest.ANSWER_S
            if self._socket is not None:
                self._socket.setTimeout(rest.TIMEOUT_S[1] * 1000)
            transport.open()

        def close(self) -> None:
            transport.close()

        def write(self, data: bytes) -> None:
            transport.write(data)

        def flush(self) -> None:
            self._read, self._until = 0, time.monotonic() + rest.ANSWER_S
            transport.flush()

        def read(self, size: int) -> bytes:
            part: bytes = transport.read(min(size, PART))
            self._read += len(part)
            if self._read > rest.ANSWER_BYTES or size > rest.ANSWER_BYTES:
                raise AnswerTooLong(f"its answer has more than {rest.ANSWER_BYTES >> 20} MiB")
            return part

    return Bounded()
