"""Two sets of manifests, and what a comparison of them says, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from explorer.model.manifest import ManifestFile

Sets = tuple[Sequence[ManifestFile], Sequence[ManifestFile]]
"""Two sets of manifests; the first should be the smaller one."""
RowsByManifest = Mapping[int, npt.NDArray[np.int64]]
"""Rows of manifests, which go by their place in a set."""


@dataclass(frozen=True)
class Comparison:
    """Of each of two sets of manifests, which go by their place in it: `live` has those that could be read, with how
    many of their entries are not DELETED; `alone` the rows of such entries whose file the other set has no such entry
    for. `shared` are the pairs of manifests that name one file, whatever its status."""

    live: tuple[Mapping[int, int], Mapping[int, int]]
    alone: tuple[RowsByManifest, RowsByManifest]
    shared: frozenset[tuple[int, int]]
