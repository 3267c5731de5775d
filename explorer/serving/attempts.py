"""How often somebody may try a password: each address has a supply of attempts, which comes back with time."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable

SUPPLY, PER_SECOND = 100, 1.0
"""Attempts that an address has at first, and how many come back each second."""
ADDRESSES = 10_000
"""Addresses that are remembered: those that tried last."""
WAIT_S = 1.0
"""How long the answer to a wrong password waits. Answers wait beside each other, and nobody else waits for them."""


class Attempts:
    """The attempts that each address has left."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """By network: attempts that were left, and when that was."""

    def take(self, address: str) -> bool:
        """Use up one attempt.

        Args:
            address: Who tries.

        Returns:
            Whether there was one.
        """
        who, now = network(address), self._clock()
        left, at = self._left.pop(who, (float(SUPPLY), now))
        left = min(SUPPLY, left + (now - at) * PER_SECOND)
        allowed = left >= 1
        self._left[who] = left - allowed, now
        while len(self._left) > ADDRESSES:
            self._left.popitem(last=False)
        return allowed


def network(address: str) -> str:
    """Return what one person has of addresses: of IPv6 they have a network of 64 bits at least."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is None:
        return str(ipaddress.ip_network((ip, 64), strict=False))
    return str(getattr(ip, "ipv4_mapped", None) or ip)
