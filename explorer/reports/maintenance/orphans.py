"""remove_orphan_files: what is below the table's folder, held against what its metadata names."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from explorer.queries.metadata_tree import MetadataTree
from explorer.queries.orphans import FolderFiles, all_files_in_metadata, files_beside, other_metadata
from explorer.spec.maintenance.orphan_rules import (
    EQUAL,
    MODES,
    OLD_ENOUGH,
    Listing,
    OrphanVerdict,
    flatten,
    missing_equalities,
    orphan_verdicts,
    partition_folder_prefixes,
    spellings,
)


@dataclass(frozen=True)
class OrphanSearch:
    """What remove_orphan_files with some arguments would do.

    Attributes:
        listing: What it lists.
        verdicts: On each file that is no live one, or that it would take for none.
        others: What is to be said of metadata files that the table does not know.
        equalities: The arguments by which it would know files that metadata names by another scheme or authority.
    """

    listing: Listing
    verdicts: Sequence[OrphanVerdict]
    others: Sequence[str]
    equalities: Mapping[str, Mapping[str, str]]


def search_orphans(tree: MetadataTree, values: Mapping[str, Any]) -> OrphanSearch:
    """What remove_orphan_files with these arguments would do. Raises ValueError where Iceberg would refuse the
    arguments, UnreadableFile where the folder, a list or a manifest, or another metadata file cannot be read."""
    now, mode = int(time.time() * 1000), str(values.get("prefix_mismatch_mode", "ERROR")).upper()
    if mode not in MODES:
        raise ValueError(f"prefix_mismatch_mode is {mode!r}: there are {', '.join(MODES)}")
    location = str(values.get("location") or tree.metadata.location)
    listing = Listing(
        location, values.get("older_than", now - OLD_ENOUGH), now, mode,
        {**EQUAL, **flatten(values.get("equal_schemes", {}))}, flatten(values.get("equal_authorities", {})),
    )  # fmt: skip
    hint = f"{tree.metadata.location.rstrip('/')}/metadata/version-hint.text"
    below = FolderFiles(tree, location)
    path_spellings = spellings(
        listing, below.written, below.telling(chain((hint,), all_files_in_metadata(tree)))
    )  # fills live
    others = other_metadata(tree, {**below.paths, **files_beside(tree)})
    maybe = below.may_be_live(others)
    hidden = partition_folder_prefixes(tree.metadata)
    verdicts = list(orphan_verdicts(listing, below.written, path_spellings, below.live, hidden, maybe, below.bytes))
    in_doubt = any(verdict.becomes == "in doubt" for verdict in verdicts)
    equalities = missing_equalities(listing, path_spellings.values()) if in_doubt else {}
    return OrphanSearch(listing, verdicts, [other.why for other in others], equalities)
