"""Addresses of machines, as they are written in URLs and settings."""

from __future__ import annotations

import ipaddress


def is_loopback(address: str) -> bool:
    """Whether an address, or `localhost`, leads to this machine alone."""
    ip = ip_address(address)
    return address == "localhost" or (ip is not None and ip.is_loopback)


def ip_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a text is, with or without brackets and a zone; None of a name."""
    try:
        return ipaddress.ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None
