"""Blocks of manifests with a few bytes changed: the native decoder must leave them, or decode what fastavro does."""

from __future__ import annotations

import random
import sys
from dataclasses import replace

from explorer.storage import manifests, native_decoder
from explorer.storage.formats import avro
from tests.support.manifest_files import draw_manifest

SOUND = 40
"""Manifests that are changed."""


def mutate_and_compare(count: int, seed: int) -> int:
    """Change so many blocks. Return how many were decoded all the same. Raises AssertionError where decoders differ."""
    draw = random.Random(seed)
    sound = []
    while len(sound) < SOUND:
        container = avro.open_container(draw_manifest(draw), "m")
        if container.blocks:
            sound.append(container)
    decoded = 0
    for n in range(count):
        container = draw.choice(sound)
        block = draw.choice(container.blocks)
        changed = bytearray(block.data)
        for _ in range(draw.randrange(1, 4)):
            changed[draw.randrange(len(changed))] = draw.choice([0, 1, 2, 0x7F, 0x80, 0xFF, draw.randrange(256)])
        if not draw.randrange(4):
            del changed[draw.randrange(len(changed)) :]
        records = max(1, block.count + draw.choice([0, 0, 0, 1, -1]))
        one = replace(container, blocks=(replace(block, data=bytes(changed), count=records),))
        packed = {"m": avro.repack(one)}
        native = native_decoder.decode(packed, True, 1 << 40).tables.get("m")
        if native is None:
            continue
        narrow = native_decoder.decode(packed, False, 1 << 40).tables["m"]  # what is passed over takes the same bytes
        assert repr(narrow.to_pylist()) == repr(native.select(narrow.schema.names).to_pylist()), (seed, n)
        decoded += 1
        native.validate(full=True)
        assert repr(native.to_pylist()) == repr(manifests.entries_fastavro(one).to_pylist()), (seed, n)
    return decoded


if __name__ == "__main__":
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    print(f"{count:,} blocks with bytes changed, seed {seed}: {mutate_and_compare(count, seed):,} were decoded")
