"""Theta sketches of Apache DataSketches, as Puffin files hold them: how many distinct values they stand for (Puffin
spec, "apache-datasketches-theta-v1"; DataSketches, "Theta Sketch Framework", compact form, serial version 3)."""

from __future__ import annotations

import struct

SERIAL_VERSION, COMPACT = 3, 3
EMPTY = 1 << 2
MOST = (1 << 63) - 1
WHOLE = float(1 << 63)
"""The theta of a sketch that holds every hash that it saw."""


def estimate(sketch: bytes) -> int:
    """Return the estimate of distinct values.

    Args:
        sketch: The bytes of the blob, unpacked.

    Raises:
        ValueError: It is no compact theta sketch of serial version 3.
    """
    if len(sketch) < 8 or sketch[1:3] != bytes([SERIAL_VERSION, COMPACT]):
        raise ValueError("no compact theta sketch of serial version 3")
    longs = sketch[0] & 0x3F
    if longs == 1:
        return 0 if sketch[5] & EMPTY else 1
    if longs not in (2, 3) or len(sketch) < 8 * longs:
        raise ValueError("its preamble is cut off, or has no size that sketches have")
    [retained] = struct.unpack_from("<i", sketch, 8)
    theta = struct.unpack_from("<q", sketch, 16)[0] if longs == 3 else WHOLE
    if retained < 0 or theta <= 0 or len(sketch) < 8 * (longs + retained):
        raise ValueError("it has fewer hashes than it states")
    if (number := round(retained * WHOLE / theta)) > MOST:
        raise ValueError("it stands for more values than a table has rows")
    return number
