"""What remove_orphan_files would do with the files below a folder (Iceberg: DeleteOrphanFilesSparkAction): it lists
them, and takes those for orphans whose paths no metadata names, spelled as it is spelled there."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from explorer.model.metadata import TableMetadata
from explorer.spec.commits.uncommitted_files import words_of_uncommitted_files
from explorer.spec.text.units import count, human_bytes

Becomes = Literal["removed", "too young", "not listed", "kept", "in doubt"]
MODES = ("ERROR", "IGNORE", "DELETE")
DAY = 24 * 3600 * 1000
OLD_ENOUGH = 3 * DAY
"""Milliseconds after which files are removed, where nothing else is said."""
PATHS = ("write.data.path", "write.metadata.path", "write.folder-storage.path", "write.object-storage.path")
"""Properties that name where files are written."""
EQUAL = {"s3n": "s3", "s3a": "s3"}
"""Schemes that are always taken for the same."""
Prefix = tuple[str, str]
"""Scheme and authority of a URI; empty where it has none."""
FOLDERS = 1000
"""Folders whose prefix and path are remembered."""


@dataclass(frozen=True)
class OrphanVerdict:
    """What becomes of one file. `live`: the table's metadata leads to it."""

    file: str
    becomes: Becomes
    reason: str
    age_hours: float
    live: bool
    bytes: int | None = None


@dataclass(frozen=True)
class Listing:
    """What is listed, and how. `equal_schemes` and `equal_authorities` say which are the same as which."""

    location: str
    older_than_ms: int
    now_ms: int
    mode: str
    equal_schemes: Mapping[str, str]
    equal_authorities: Mapping[str, str]

    def split(self, uri: str) -> tuple[Prefix, str]:
        """Prefix and path of a URI, as they are compared."""
        (scheme, authority), rest = split_uri(uri)
        prefix = (self.equal_schemes.get(scheme, scheme), self.equal_authorities.get(authority, authority))
        return prefix, "/" + "/".join(part for part in rest.split("/") if part)

    @property
    def prefix(self) -> Prefix:
        """The prefix of what is listed."""
        own = self.split(self.location)[0]
        return ("file", "") if own[0] == "" else own


def split_uri(uri: str) -> tuple[Prefix, str]:
    """Prefix and path of a URI, as they are written."""
    scheme, separator, rest = uri.partition(":")
    if not separator or "/" in scheme:
        scheme, rest = "", uri
    authority = ""
    if rest.startswith("//"):
        authority, slash, rest = rest[2:].partition("/")
        rest = slash + rest
    return (scheme, authority), rest


def flatten(text: Mapping[str, str]) -> dict[str, str]:
    """A map with several keys in one, split by commas, as one of single keys."""
    return {key.strip(): value.strip() for keys, value in text.items() for key in keys.split(",")}


def spellings(listing: Listing, written: Collection[str], named: Iterable[str]) -> dict[str, Prefix]:
    """Those of the paths below a folder (`written`, each with a leading `/`) that metadata names as the procedure reads
    names, with the prefix it names them by; `named` are all files that metadata leads to, as it spells them."""
    top = listing.split(listing.location)[1].rstrip("/")
    prefix_of: dict[str, Prefix] = {}
    prefixes: dict[Prefix, Prefix] = {}
    split_folder = lru_cache(FOLDERS)(lambda folder: listing.split(f"{folder}/"))
    for uri in named:
        folder, _, name = uri.rpartition("/")
        if not name or not folder or folder[-1] == "/":
            prefix, path = listing.split(uri)
        else:
            prefix, of_folder = split_folder(folder)
            path = f"{of_folder}/{name}" if of_folder != "/" else f"/{name}"
        if path.startswith(top) and (rest := path[len(top) :]) in written:
            prefix_of[rest] = prefixes.setdefault(prefix, prefix)
    return prefix_of


def orphan_verdicts(
    listing: Listing,
    written: Mapping[str, float],
    prefix_of: Mapping[str, Prefix],
    live: Collection[str],
    hidden: Collection[str],
    others: Mapping[str, str],
    sizes: Mapping[str, int] | None = None,
) -> Iterator[OrphanVerdict]:
    """What becomes of files below a folder. `written` has for each path below it when it was written, in ms;
    `prefix_of` has the `spellings`, `live` those that metadata leads to, however it spells them. Files that
    are live and stay are left out. `hidden` are beginnings of names that are listed though they begin as hidden ones
    do; `others` has, for files that may be live though this table's metadata does not lead to them, the reason; `sizes`
    has how long they are."""
    own = listing.prefix
    lengths = sizes or {}
    for rest, at in written.items():
        size = lengths.get(rest)
        file = listing.location.rstrip("/") + rest
        age = (listing.now_ms - at) / 3_600_000
        is_live = rest in live or rest in others
        if any(is_hidden(name, hidden) for name in rest.split("/")):
            if not is_live:
                yield OrphanVerdict(
                    file, "not listed", "its name, or a folder's, begins with `_` or `.`", age, False, size
                )
            continue
        met = prefix_of.get(rest)
        if at >= listing.older_than_ms:
            if not is_live:
                yield OrphanVerdict(file, "too young", "it may be of a commit under way", age, False, size)
        elif met is None:
            why = "neither the metadata file nor a snapshot that is left leads to it"
            if rest in live:
                why = "it is live: metadata spells its path in another way than the table's location"
            elif rest in others:
                why = others[rest]
            yield OrphanVerdict(file, "removed", why, age, is_live, size)
        elif apart := _apart(met, own):
            yield OrphanVerdict(file, *_mismatch(listing.mode, apart), age, True, size)


def partition_folder_prefixes(metadata: TableMetadata) -> set[str]:
    """What folders of partition fields begin with that begin as hidden ones do."""
    return {f"{f.name}=" for s in metadata.partition_specs for f in s.fields if f.name.startswith(("_", "."))}


def is_hidden(name: str, but: Collection[str]) -> bool:
    """Whether the procedure passes over a file or folder; `but` are beginnings of names that it does not."""
    return name.startswith(("_", ".")) and not name.startswith(tuple(but))


def _apart(named: Prefix, listed: Prefix) -> str:
    """How a prefix that metadata has differs from the listing's; one that is empty fits all."""
    return ", ".join(
        f"{what} {metadata_part!r} in metadata, {listed_part!r} where it is listed"
        for what, metadata_part, listed_part in zip(("scheme", "authority"), named, listed, strict=True)
        if metadata_part and metadata_part.lower() != listed_part.lower()
    )


def missing_equalities(listing: Listing, prefixes: Iterable[Prefix]) -> dict[str, dict[str, str]]:
    """Say which schemes and authorities the procedure must be told are equal, so that it knows files by their paths.

    Args:
        listing: What is listed.
        prefixes: By which metadata names files that are listed (see `spellings`).

    Returns:
        The arguments equal_schemes and equal_authorities, without what is not needed. Saying so removes no file that
        metadata names.
    """
    equal: dict[str, dict[str, str]] = {}
    for name, at, others in (("equal_schemes", 0, EQUAL), ("equal_authorities", 1, {})):
        own = listing.prefix[at]
        apart = {p[at] for p in prefixes if p[at] and p[at].lower() != own.lower()}
        same = {*apart, *(scheme for scheme, as_scheme in others.items() if as_scheme in apart)}  # looked up once
        if same:
            equal[name] = {",".join(sorted(same)): own}
    return equal


def _mismatch(mode: str, apart: str) -> tuple[Becomes, str]:
    if mode == "DELETE":
        return "removed", f"it is live, and prefix_mismatch_mode DELETE takes it for another file: {apart}"
    if mode == "IGNORE":
        return "kept", f"prefix_mismatch_mode IGNORE leaves it: {apart}"
    return "in doubt", f"{apart}: the procedure stops, and removes nothing"


ADDED_TWICE = (
    "Where their rows are nowhere in the table, the procedure add_files adds such files. Where they are there, it "
    "doubles them, and brings back rows that deletes hide."
)
LOOK_FIRST = "Look first"
"""How the sentence begins that warns of files whose rows nobody has committed."""


def written_places(metadata: TableMetadata) -> list[tuple[str, str]]:
    """Where a table's files are written: its own folder, and places that properties name."""
    named = [(name, metadata.properties.get(name, "")) for name in PATHS]
    return [("its own folder", metadata.location), *((name, place) for name, place in named if place)]


def is_below(place: str, folder: str) -> bool:
    """Whether a place is a folder or below it, however their URIs are spelled; of stores their authorities differ."""
    parts, of = (re.sub(r"^file:/*", "/", uri).rstrip("/") + "/" for uri in (place, folder))
    return parts.startswith(of)


def refusal(
    listing: Listing, tally: Mapping[tuple[Becomes, bool], int], others: Collection[str], metadata: TableMetadata
) -> str:
    """Say why the procedure must not be run, or would refuse.

    Args:
        listing: What is listed.
        tally: Verdicts, counted by what becomes of files and whether they are live.
        others: What is to be said of metadata files in the folder that this table does not know.
        metadata: The table's.

    Returns:
        Sentences; empty when it may be run.
    """
    doubt, lost = tally.get(("in doubt", True), 0), tally.get(("removed", True), 0)
    if lost:
        why = "".join(f" {text}." for text in others)
        files = count(lost, "live file")
        return f"Do not run this: {files} would be removed, and the table that needs them would be broken.{why}"
    if tally.get(("removed", False), 0) and not is_below(listing.location, metadata.location):
        return (
            f"Do not run this before you know that no other table writes below {listing.location}: it lies outside the "
            f"table's own folder, {metadata.location}, and the procedure would remove what only another table names."
        )
    if listing.now_ms - listing.older_than_ms < DAY:
        return "Spark's procedure would refuse: older_than must be a day ago at least."
    if doubt:
        return (
            f"Spark's procedure would refuse: metadata names {count(doubt, 'file')} with another scheme or authority "
            "than they are listed with. With prefix_mismatch_mode DELETE it would remove them, and they are live."
        )
    return ""


def sentences(
    metadata: TableMetadata,
    listing: Listing,
    tally: Mapping[tuple[Becomes, bool], int],
    freed: Sequence[OrphanVerdict] = (),
) -> Iterator[str]:
    """What it comes to. `tally` counts verdicts by what becomes of files and whether they are live; `freed` are the
    verdicts on files that go and are not live."""
    removed = tally.get(("removed", False), 0)
    whole = f" ({human_bytes(sum(f.bytes or 0 for f in freed))})" if freed else ""
    are = "is" if removed == 1 else "are"
    yield f"{count(removed, 'file')} that nothing leads to {are} old enough to be removed{whole}."
    late = {f.file: (listing.now_ms - f.age_hours * 3_600_000, f.bytes or 0) for f in freed}
    if words := words_of_uncommitted_files(metadata, late, listing.now_ms):
        yield f"{LOOK_FIRST}: of these {words}. {ADDED_TWICE}"
    if removed and (log := len(metadata.metadata_log)):
        yield (
            f"{count(log, 'older metadata file')} of the log may name some of them: who goes back to one of these, or "
            "opens it, then misses them."
        )
    young: tuple[tuple[Becomes, str], ...] = (
        ("too young", "too young: younger than older_than, they may be of a commit under way"),
        ("not listed", "not listed, since their names begin with `_` or `.`: the procedure never removes them"),
    )
    for becomes, reason in young:
        if number := tally.get((becomes, False), 0):
            yield f"{count(number, 'file')} {'is' if number == 1 else 'are'} {reason}."
    if kept := tally.get(("kept", True), 0):
        yield f"{count(kept, 'file')} whose prefix differs would be left alone (prefix_mismatch_mode IGNORE)."
    elsewhere = [
        f"{name} ({place})" for name, place in written_places(metadata) if not is_below(place, listing.location)
    ]
    if elsewhere:
        yield f"Not looked at, since only {listing.location} is listed: {', '.join(elsewhere)}."
