"""Short names for things whose real names are long and random, as in the figures (docs/texts.md): snapshot-3,
manifest-3."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TypeVar

from explorer.model.manifest import ManifestFile
from explorer.model.metadata import TableMetadata
from explorer.spec.secrets.redaction import redact
from explorer.spec.text.identifiers import split_identifier
from explorer.spec.text.units import whole

T = TypeVar("T")
LABEL = 23
"""Characters of a name that fit a card of the graph."""
LOOKED_AT = 20_000
"""Characters of a long text that are looked at for credentials before it is cut; of a longer one it is the beginning,
without what may be the beginning of a credential."""
BEGUN = 2_000
DEEPEST_ENDING = 12
"""Parts of a path's end that are compared with what is below a table's location."""
COMPARED, MOST_COMPARED = 100, 2_000
"""Characters of a name, and names, that are compared to find what was meant."""
SORTED = 200
"""Characters of a name that decide its place among others."""
NOWHERE = ("your_catalog", "your_db.your_table")
"""What stands in a statement for a catalog and a table that are not known."""
STRANGE = re.compile(r"[/\\:;]|--|\$\{")
"""What no part of a name has that stands in a statement: paths and URIs, which are no names; what ends a statement or
begins a comment in Spark's shell, which knows no backticks; and what Spark replaces."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VALUES = frozenset({
    "true", "false", "null", "user", "session_user", "current_user", "current_date", "current_time",
    "current_timestamp", "localtime", "localtimestamp",
})  # fmt: skip
"""What SQL takes for a value, though a column be called so: `WHERE true = 'true'` is about each row."""
_ONE_STATEMENT = re.compile(
    r"""(?:[^'"\\;/-]|\\.|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|-(?!-)|/(?!\*))*(?:'(?:[^'\\]|\\.)*|"(?:[^"\\]|\\.)*)?"""
)
"""What Spark's shell takes for one statement or for the beginning of one. It knows texts in quotes, and no backticks: a
name in them that has `;`, `--` or `/*` ends the statement or hides its end, and a quote in a name may turn around what
is a text and what is not."""
_WRITTEN = re.compile(
    r"[0-9]{5,}-([0-9]+-[0-9a-f]{4})[0-9a-f]{4}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-[0-9])*(?:-0*([0-9]+))?"
    r"(-deletes)?(\.[a-z.]{2,15})"
)
"""A file's name as Iceberg's writers make it (OutputFileFactory): partition, task, the write's UUID, and which file of
the task it is."""
ONE_WORD = re.compile(r"[\w@%+=:,./][\w@%+=:,./-]*")
"""What is one word, and no option, to bash, zsh and fish, and to a line of a notebook: only such names stand in one."""
_MANIFEST_INDEX = re.compile(r"-m(\d+)\.avro$")


def snapshot_ordinals(metadata: TableMetadata) -> dict[int, int]:
    """Snapshot id to 1, 2, 3... in the order of sequence numbers (v1: of the metadata file), expired ones not
    counted."""
    return metadata.ordinals


def snapshot_name(snapshot_id: int | None, ordinals: dict[int, int]) -> str:
    """`snapshot-3`; an expired or unknown one keeps the end of its id."""
    if snapshot_id is None:
        return "no snapshot"
    return f"snapshot-{ordinals[snapshot_id]}" if snapshot_id in ordinals else f"expired …{str(snapshot_id)[-4:]}"


def manifest_name(manifest: ManifestFile, ordinals: dict[int, int]) -> str:
    """`manifest-3` for the manifest snapshot-3 added; `manifest-3.m1` for the second file of one commit."""
    return manifest_name_of(manifest.manifest_path, manifest.added_snapshot_id, ordinals)


def manifest_name_of(path: str, added: int | None, ordinals: dict[int, int]) -> str:
    """`manifest_name`, by its path and the snapshot that added it."""
    owner = str(ordinals[added]) if added in ordinals else f"…{str(added)[-4:]}"
    index = _MANIFEST_INDEX.search(path)
    part = f".m{index.group(1)}" if index and index.group(1) != "0" else ""
    return f"manifest-{owner}{part}"


def manifest_names(manifests: Iterable[tuple[str, int | None]], ordinals: dict[int, int]) -> dict[str, str]:
    """Name manifests so that no two of one answer have the same name.

    Some writers (ClickHouse, DuckDB, BigQuery) give each manifest of a commit a UUID of its own, where Iceberg's number
    them. Names that would be the same get the end of that UUID.

    Args:
        manifests: The path of each, and the snapshot that added it.
        ordinals: As snapshot_ordinals has it.

    Returns:
        The name of each, by its path.
    """
    names = {path: manifest_name_of(path, added, ordinals) for path, added in manifests}
    alike: dict[str, list[str]] = {}
    for path, name in names.items():
        alike.setdefault(name, []).append(path)
    for name, paths in alike.items():
        if len(paths) > 1:
            stems = [_MANIFEST_INDEX.sub("", base_name(path)).removesuffix(".avro") for path in paths]
            ends = next((ends for n in (4, 8, 12, 36) if len(set(ends := [s[-n:] for s in stems])) == len(paths)), None)
            for at, path in enumerate(paths):
                names[path] = f"{name}~{ends[at] if ends else at + 1}"
    return names


def base_name(path: str) -> str:
    """The last part of a path. Of a signed URL it is without the signature, a part of which could not be told."""
    if "?" in path:
        path = redact(path)
    return path.rstrip("/").rsplit("/", 1)[-1]


def first_of(names: Sequence[str], most: int = 20) -> str:
    """The first of some names, and how many more there are."""
    return first_named(names, lambda name: shorten(name, 60), most)


def first_named(ids: Sequence[T], name: Callable[[T], str], most: int = 20, between: str = ", ") -> str:
    """The names of the first of some things, and how many more there are: a file can name one long column a million
    times."""
    more = f" and {len(ids) - most:,} more" if len(ids) > most else ""
    return between.join(map(name, ids[:most])) + more


def natural(name: str) -> list[tuple[bool, int, str]]:
    """What sorts names by the numbers in them: `day=9` before `day=10`; of a long name by how it begins."""
    parts = re.findall(r"[0-9]+|[^0-9]+", name[:SORTED])
    digits_of = [part.lstrip("0") if part[0] in "0123456789" else "" for part in parts]
    return [
        (part[0] in "0123456789", len(digits), digits or part) for part, digits in zip(parts, digits_of, strict=True)
    ]


def metadata_name(path: str) -> str | None:
    """What a metadata file is called, such as metadata-3, by the version in its name; None without one."""
    name = base_name(path)
    head = name.split("-")[0] if "-" in name else name.split(".")[0]
    number = whole(head.lstrip("v"))
    return None if number is None else f"metadata-{number}"


def shorten(text: str, width: int) -> str:
    """At most `width` characters, the middle replaced by an ellipsis: the two ends of file names tell them apart. A
    credential in what is cut is hidden, since half of it could not be told later."""
    if len(text) <= width:
        return text
    most = max(LOOKED_AT, 4 * width)
    text = redact(text) if len(text) <= most else f"{redact(text[:most])[:-BEGUN]}…"
    if len(text) <= width:
        return text
    left = (width - 1) // 2
    return f"{text[:left]}…{text[len(text) - (width - 1 - left) :]}"


def file_label(path: str, width: int = LABEL) -> str:
    """A file's name in so many characters: `15-8d3f…1.parquet` of 00000-15-8d3f(…)-00001.parquet, and
    `15-8d3f…1-del.parquet` of a delete file: names that Iceberg's writers make are told apart by task and UUID, not by
    how they begin and end."""
    name = base_name(path)
    if not (width < len(name) < SORTED and (written := _WRITTEN.fullmatch(name))):
        return shorten(name, width)
    task, number, is_delete, ending = written.groups()
    return shorten(f"{task}…{number or ''}{'-del' if is_delete else ''}{ending}", width)


def runs(names: Iterable[str]) -> str:
    """Snapshot names with runs folded: `snapshot-1 to snapshot-4, snapshot-7`."""
    folded: list[list[str]] = []
    for name in names:
        if folded and _number(name) == _number(folded[-1][-1]) + 1:
            folded[-1] = [folded[-1][0], name]
        else:
            folded.append([name])
    return ", ".join(" to ".join(run) for run in folded)


def _number(name: str) -> float:
    tail = name.removeprefix("snapshot-")
    return int(tail) if tail.isdigit() else float("nan")


def in_sql(table: str) -> tuple[str, str]:
    """Return a table's catalog and name for a statement that is shown, with backticks where they are needed.

    Args:
        table: Its name, with its catalog.

    Returns:
        The catalog, and the name there; as an argument of CALL that is `text_in_sql` of it. What stands for both where
        there is no catalog, and where a name is too strange.
    """
    quoted = [name_in_sql(part) for part in split_identifier(table)]
    if not all(quoted) or len(quoted) < 2:
        return NOWHERE
    return (NOWHERE[0], ".".join(quoted)) if len(quoted) == 2 else (quoted[0], ".".join(quoted[1:]))


def name_in_sql(name: str) -> str:
    """Return one name for a statement that is shown, in backticks where they are needed, its own doubled; empty where
    it is too strange to be made a part of SQL."""
    if not name or not name.isprintable() or STRANGE.search(name):
        return ""
    return name if is_plain(name) else in_backticks(name)


def is_plain(name: str) -> bool:
    """Return whether a name means itself in SQL without backticks."""
    return bool(_PLAIN.fullmatch(name)) and name.lower() not in _VALUES


def in_backticks(name: str) -> str:
    """Return a name in backticks, its own doubled."""
    return "`" + name.replace("`", "``") + "`"


def text_in_sql(text: str) -> str:
    """Return the inside of a text for a statement that is shown; empty where it has signs that Spark replaces (`${`),
    or that are not shown as they are."""
    if "${" in text or not text.isprintable():
        return ""
    return text.replace("\\", "\\\\").replace("'", "\\'")


def is_one_statement(statement: str) -> bool:
    """Return whether a statement does what it says where it is pasted: Spark and its shell take it for one, nothing in
    it is replaced by Spark, and all of it is shown as it is."""
    return statement.isprintable() and "${" not in statement and bool(_ONE_STATEMENT.fullmatch(statement))


def path_in_sql(path: str) -> str:
    """Return the inside of a text with a path for a statement that is shown; empty where it cannot be one. A credential
    in it would be hidden: then the statement would be about another file, or other rows."""
    return "" if ";" in path or redact(path) != path else text_in_sql(path)


def file_in_sql(path: str) -> str:
    """Return the inside of a text with a file's path that a statement reads rows of; empty where it cannot be one. In
    the path of a table of files Spark takes some signs for patterns, which other files fit."""
    return "" if any(sign in path for sign in "*?[]{}\\`") else path_in_sql(path)


def beside(name: str, what: str) -> str:
    """Return a name beside that of a table, both as they are in SQL."""
    return f"{name[:-1]}_{what}`" if name.endswith("`") else f"{name}_{what}"


_PLACE = re.compile(r"[a-zA-Z][\w+.-]*:(//[^/]*)?")


def without_place(path: str) -> str:
    """Return a path without its scheme and authority: what is left of spellings that readers tell apart."""
    return path[place.end() :] if (place := _PLACE.match(path)) else path


def endings_elsewhere(path: str, location: str) -> list[str]:
    """Return what a path may end with that a file below a table's location has had in another place, each with a
    leading `/`; nothing where the path is below that location itself."""
    whole, own = without_place(path), without_place(location).rstrip("/") + "/"
    if whole.startswith(own):
        return []
    parts = whole.split("/")[-DEEPEST_ENDING:]
    return ["/" + "/".join(parts[at:]) for at in range(len(parts))]


def ending_below(path: str, location: str) -> str:
    """Return what follows a table's location in a path, with the leading `/`; empty where it is not below that."""
    whole, own = without_place(path), without_place(location).rstrip("/")
    return whole[len(own) :] if whole.startswith(own + "/") else ""


def similar_names(name: str, names: Iterable[str], number: int = 1) -> list[str]:
    """Return the known names most like one that there is none of. Of long names, and of thousands, none is looked at:
    comparing takes time in proportion to the square of their lengths, and names are a stranger's."""
    if len(name) > COMPARED:
        return []
    short = [other for other in islice(names, MOST_COMPARED) if len(other) <= COMPARED]
    return difflib.get_close_matches(name, short, number)
