"""Ports for servers that tests start."""

from __future__ import annotations

import random
import socket

NOBODY_IS_GIVEN = range(10_000, 32_000)
"""Linux gives programs that ask for any port one from 32768 on: one of those might be Spark's before our server has it,
and whoever then asks whether our server is up takes the one connection that Spark waits for."""


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    for port in random.SystemRandom().sample(NOBODY_IS_GIVEN, 100):
        with socket.socket() as free:
            try:
                free.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("no port is free")
