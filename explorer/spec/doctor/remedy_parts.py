"""Statements of remedies that depend on the table: columns, lost commits, statistics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.model.metadata import StatisticsFile, TableMetadata
from explorer.spec.doctor.missing_files import MissingFile
from explorer.spec.maintenance.orphan_rules import PATHS
from explorer.spec.schemas.name_mapping import mapping_given_back, missing_name_mapping, taken_names
from explorer.spec.schemas.partition_names import rename_statement, voids_without_source
from explorer.spec.snapshots.lineage import ancestry
from explorer.spec.snapshots.refs import free_ref_name, preview_refs
from explorer.spec.text.names import (
    beside,
    file_in_sql,
    first_of,
    in_backticks,
    name_in_sql,
    path_in_sql,
    shorten,
    text_in_sql,
)
from explorer.spec.text.path_segments import has_empty_segment, without_empty_segments
from explorer.spec.text.units import count

MAX_STATEMENTS = 20
"""Columns for which a statement is printed."""
MAX_MAPPING = 20_000
"""Characters of a name mapping that is printed."""
TWO_TABLES = (
    "Both have the same files: run neither expire_snapshots nor remove_orphan_files while there are two, and drop the "
    "second without PURGE."
)


@dataclass(frozen=True)
class FindingSubject:
    """What a finding is about.

    Attributes:
        rule: The rule, or what a finding of a rule is (see findings).
        metadata: The table's.
        catalog: The catalog's name in SQL.
        name: The table's name there.
        file: The file concerned.
        node: What the graph draws of it: a kind, and an id or path.
        columns: The columns, or partition fields, that it is about.
        missing: What metadata tells of the table's missing files; None where nobody looked for files.
        whole: The newest ancestor of the current snapshot in which nothing is wrong.
    """

    rule: str
    metadata: TableMetadata
    catalog: str
    name: str
    file: str = ""
    node: Any = None
    columns: Sequence[str] = ()
    missing: Mapping[str, MissingFile] | None = None
    whole: int | None = None

    @property
    def table(self) -> str:
        """The table's name in SQL."""
        return f"{self.catalog}.{self.name}"

    @property
    def text(self) -> str:
        """The inside of a text that names the table in its catalog, as an argument of CALL."""
        return text_in_sql(self.name)


def fitting_statement(fault: FindingSubject) -> str:
    """Say how the table is altered to fit its files: a name mapping, an optional column, a partition field less."""
    if fault.rule == "field-ids-absent":
        return _name_mapping(fault)
    if fault.rule == "name-taken":
        return _name_given_back(fault)
    if fault.rule == "wrapped-partition":
        return _field_drop(fault)
    if fault.rule == "partition-names":
        return _partition_rename(fault)
    if fault.rule == "void-without-source":
        return void_removal(fault, ": writes work again.") or "Nothing in Spark's SQL takes a field of this name away."
    if fault.rule == "former-name":
        return _former_name(fault)
    if fault.rule == "names-in-case":
        return _column_rename(fault)
    return _optional_columns(fault)


def one_slash_statements(fault: FindingSubject) -> str:
    """Say how places get one slash that have several inside: files are written below them.

    Args:
        fault: What is wrong.

    Returns:
        The statements, up to the next; empty where each place is written so already.
    """
    location, properties = fault.metadata.location, fault.metadata.properties
    places = {"": location, **{name: properties[name].rstrip("/") for name in PATHS if properties.get(name)}}
    several = {name: path for name, path in places.items() if has_empty_segment(path)}
    folded = {name: path_in_sql(without_empty_segments(path)) for name, path in several.items()}
    if not folded:
        return ""
    if not all(folded.values()):
        return "and once the table is given a location with one slash, "
    table = fault.table
    statements = (
        f"ALTER TABLE {table} SET TBLPROPERTIES ('{name}' = '{place}')" if name
        else f"ALTER TABLE {table} SET LOCATION '{place}'"
        for name, place in folded.items()
    )  # fmt: skip
    return f"first {'; '.join(statements)}. Then "


def void_removal(fault: FindingSubject, end: str) -> str:
    """Say how Spark takes the fields `void` away for which its writes fail.

    Args:
        fault: What is wrong.
        end: What stands after the statements.

    Returns:
        The statements; empty where there is no such field, or they cannot be printed.
    """
    names = [name_in_sql(field.name) for field in voids_without_source(fault.metadata)]
    if not names or not all(names):
        return ""
    upgrade = f"ALTER TABLE {fault.table} SET TBLPROPERTIES ('format-version' = '2'), then "
    drops = ", then ".join(f"ALTER TABLE {fault.table} DROP PARTITION FIELD {name}" for name in names)
    return f"{upgrade if fault.metadata.format_version == 1 else ''}{drops}{end}"


def value_corrections(fault: FindingSubject) -> str:
    """Say how values that mean something else are corrected."""
    meta = fault.metadata
    schema, spec = meta.schema(meta.current_schema_id), meta.spec(meta.default_spec_id or 0)
    fields = [f for f in spec.fields if f.name in fault.columns and f.transform == "identity"] if spec else []
    sources = [schema.by_id.get(f.source_ids[0]) for f in fields] if schema else []
    names = [name for f in sources if f and not f.required and (name := name_in_sql(f.name))]
    if fault.rule != "hive-null" or not names:
        return (
            "Nothing has to be done where these values are meant. Nothing in Spark knows others: correct the writer, "
            "and write these rows again with the values that they should have."
        )
    sign = "'__HIVE_DEFAULT_PARTITION__'"
    updates = "; ".join(f"UPDATE {fault.table} SET {name} = NULL WHERE {name} = {sign}" for name in names)
    return (
        f"If null is meant: {updates}; readers then see null in these rows. Older snapshots keep the sign until they "
        "expire, and the writer will write it again: update it."
    )


def commit_recovery(fault: FindingSubject) -> str:
    """Say how a commit that was lost or cut off is got back."""
    if fault.rule == "metadata-fork":
        return _fork(fault)
    if fault.rule == "lost-ref":
        return _lost_ref(fault)
    kind, own = fault.node or ("", None)
    if kind != "snapshot" or not isinstance(own, int) or fault.metadata.snapshot(own) is None:
        return "Nothing in Spark mends it: look at both snapshots, and write again what is missing."
    if fault.rule == "file-added-again":
        return _added_again(fault, own)
    return _twice(fault, own) if fault.rule == "sequence-twice" else _cut_off(fault, own)


def add_files_statements(files: Sequence[str], catalog: str, name: str) -> list[str]:
    """Return the statements that add Parquet files to a table, one for each.

    Args:
        files: Their paths, which can be a part of SQL.
        catalog: The catalog's name in SQL.
        name: The table's name there.
    """
    return [
        f"CALL {catalog}.system.add_files(table => '{text_in_sql(name)}', "
        f"source_table => '{text_in_sql(f'`parquet`.{in_backticks(path)}')}')"
        for path in files
    ]


SWAPS = " To keep it from happening again, use a catalog that swaps the pointer atomically."


def unnamed_commit_recovery(
    catalog: str, name: str, files: Sequence[str], is_readable: bool, is_of_folder: bool
) -> str:
    """Say how the rows of a commit that the table does not have are got back.

    Args:
        catalog: The catalog's name in SQL.
        name: The table's name there.
        files: The data files that it added, which are there and may be read: those of the table's folder.
        is_readable: Whether Iceberg can read the table's current snapshot, which an append begins from.
        is_of_folder: Whether the table's folder is its catalog.
    """
    fitting = [path for path in files[:MAX_STATEMENTS] if file_in_sql(path) and path.endswith(".parquet")]
    adds = "; ".join(add_files_statements(fitting, catalog, name))
    first = "Do not run remove_orphan_files before you know: it removes these rows for good. "
    if not is_readable:
        return (
            f"{first}The procedure add_files fails on this table, whose current snapshot cannot be read. Create a new "
            "table with the same columns and partitions, and add the data files of the newest of these lists to it."
        )
    more = f" (and so on, for {count(len(files), 'file')})" if len(files) > MAX_STATEMENTS else ""
    how = f": {adds}{more}" if adds else ", file by file, if they lie in the table's own folder"
    return (
        f"{first}Ask the writer, or look for the rows in the table. Where they are not there, add_files adds them"
        f"{how}. It does not do what else such a commit did, as its deletes.{SWAPS if is_of_folder else ''}"
    )


def statistics_renewal(fault: FindingSubject, is_stale: bool, location: str = "") -> str:
    """Say how statistics are computed anew.

    Args:
        fault: What is wrong with a statistics file.
        is_stale: Whether it is only older than the current snapshot, or there is none any more.
        location: Where the metadata file has, or had, it.

    Returns:
        Sentences. Spark returns partition statistics of a snapshot that has some, and counts on from those of its
        ancestors.
    """
    meta, path = fault.metadata, fault.node[1] if fault.node else ""
    file = next((f for f in meta.statistics if f.path == path), None)
    call = f"CALL {fault.catalog}.system."
    if "partition" not in (file.kind if file else location):
        is_older = file is not None and not is_stale and file.snapshot_id != meta.current_snapshot_id
        of = f"table => '{fault.text}', snapshot_id => {file.snapshot_id}" if file and is_older else f"'{fault.text}'"
        return f"{call}compute_table_stats({of}) writes new ones."
    compute = f"{call}compute_partition_stats('{fault.text}')"
    if is_stale or file is None:
        return f"{compute} writes new ones."
    ids = [f.snapshot_id for f in meta.statistics if f.kind == file.kind]
    if fault.rule != "partition-counts":
        ids = [file.snapshot_id]
    removals = ".".join(f"removePartitionStatistics({own}L)" for own in ids[:MAX_STATEMENTS])
    more = f" (and so on, for {len(ids):,} snapshots in all)" if len(ids) > MAX_STATEMENTS else ""
    return (
        "Iceberg returns the statistics that a snapshot has, and counts on from those of its ancestors, so first take "
        f"them out, in Java: table.updatePartitionStatistics().{removals}.commit(){more}. Then {compute} counts anew. "
        "Nothing in Spark's SQL takes them out; they also go with the snapshots that have them."
    )


def of_gone_snapshot(metadata: TableMetadata, file: StatisticsFile) -> dict[str, Any]:
    """Return what to say of a fault of a statistics file whose snapshot has gone: no reader asks for it, and expiry
    takes out entries of the snapshots that it removes only.

    Args:
        metadata: The table's.
        file: The statistics file.

    Returns:
        Fields of a finding; none where the snapshot is there.
    """
    if metadata.snapshot(file.snapshot_id) is not None:
        return {}
    call = (
        "updatePartitionStatistics().removePartitionStatistics"
        if "partition" in file.kind
        else ("updateStatistics().removeStatistics")
    )
    words = (
        f"Nothing in Spark mends it, and nothing needs it: snapshot {file.snapshot_id} is gone. In Java "
        f"table.{call}({file.snapshot_id}).commit() takes out the entry"
    )
    ours = f", in pyiceberg table.update_statistics().remove_statistics({file.snapshot_id}).commit()"
    return {"severity": "info", "remedy": f"{words}{'' if 'partition' in file.kind else ours}."}


def _name_mapping(fault: FindingSubject) -> str:
    mapping = text_in_sql(missing_name_mapping(fault.metadata))
    ends = ";" in mapping and bool({"'", '"'} & set(fault.table))  # quotes of names are texts to Spark's shell
    if not mapping or len(mapping) > MAX_MAPPING or ends:
        return _twice_named(fault) or (
            "Nothing in Spark can tell which column of these files is which: the names are too many or too strange to "
            "print. Set the property schema.name-mapping.default by hand."
        )
    return (
        f"ALTER TABLE {fault.table} SET TBLPROPERTIES ('schema.name-mapping.default' = '{mapping}'); all readers then "
        "find the columns of files without ids by their names, which are to be among these, where Spark went by their "
        "places: look at some rows before and after."
    )


def _twice_named(fault: FindingSubject) -> str:
    """Say what is to be done where a name at the top has stood for two fields; nothing where none has."""
    owners: dict[str, dict[int, None]] = defaultdict(dict)
    for schema in fault.metadata.schemas:
        for field in schema.fields:
            owners[field.name][field.id] = None
    twice = {name: ids for name, ids in owners.items() if len(ids) > 1}
    if not twice:
        return ""
    were = [f"{shorten(name, 60)} was field {', then '.join(map(str, ids))}" for name, ids in twice.items()]
    return (
        f"No one name mapping fits files of all times: {first_of(were, 3)}. Write them anew apart: first, without a "
        "mapping, those whose columns Spark finds by their places (rewrite_data_files, with a where that takes no "
        "others); then set the property schema.name-mapping.default, with the name for the field that it has in the "
        "files that are left, and write those anew. Do not write these before: what Spark does not find is then null "
        "for good. add_files into a new table gives the name to one field in all files."
    )


def _name_given_back(fault: FindingSubject) -> str:
    taken = [one for one in taken_names(fault.metadata) if one.name in fault.columns]
    mapping = text_in_sql(mapping_given_back(fault.metadata, taken[0])) if taken else ""
    ends = ";" in mapping and bool({"'", '"'} & set(fault.table))  # quotes of names are texts to Spark's shell
    if not mapping or len(mapping) > MAX_MAPPING or ends:
        return "Set the property schema.name-mapping.default by hand: it gives the name to the newer column."
    return (
        "Nothing has to be done if the newer column is to have these values. If not, "
        f"ALTER TABLE {fault.table} SET TBLPROPERTIES ('schema.name-mapping.default' = '{mapping}') gives the name "
        f"back to field {taken[0].former}: the newer column is then null in such files. Do so before they are written "
        "anew, and after files without field ids that were written with the newer column: these would lose it, too."
    )


def _optional_columns(fault: FindingSubject) -> str:
    meta = fault.metadata
    schema = meta.schema(meta.current_schema_id)
    by_name = {f.name: f for f in schema.by_id.values()} if schema else {}
    own = [by_name[name] for name in fault.columns if name in by_name and by_name[name].required]
    own = [f for f in own if schema and f.id not in schema.identifier_field_ids]
    names = [f.name for f in own if not {"element", "key", "value"} & set(f.name.split("."))]
    quoted = [".".join(map(name_in_sql, name.split("."))) for name in names if all(map(name_in_sql, name.split(".")))]
    if not quoted or len(quoted) > MAX_STATEMENTS:
        return "Nothing in Spark mends it by itself: write the rows again with values in these columns."
    alter = "; ".join(f"ALTER TABLE {fault.table} ALTER COLUMN {name} DROP NOT NULL" for name in quoted)
    return f"{alter}; or write the rows again with values in these columns."


def _field_drop(fault: FindingSubject) -> str:
    meta = fault.metadata
    spec = meta.spec(meta.default_spec_id or 0)
    names = [n for f in (spec.fields if spec else ()) if f.name in fault.columns and (n := name_in_sql(f.name))]
    drop = "".join(f"ALTER TABLE {fault.table} DROP PARTITION FIELD {name}, then " for name in names)
    return (
        "Spark would write the same value again, and a DELETE of other rows may take these, by their partition value. "
        "Without the partition field filters find the rows: "
        f"{drop}CALL {fault.catalog}.system.rewrite_data_files(table => '{fault.text}', options => map('rewrite-all', "
        "'true')). Older snapshots keep the fault until they expire."
    )


def _partition_rename(fault: FindingSubject) -> str:
    statements = [rename_statement(fault.metadata, fault.table, name) for name in fault.columns]
    if not any(statements):
        return (
            "Nothing in Spark renames a field that only older specs have. Its rows can be written again by the current "
            f"spec: CALL {fault.catalog}.system.rewrite_data_files(table => '{fault.text}', options => map("
            "'rewrite-all', 'true')); once no snapshot uses the older specs, CALL "
            f"{fault.catalog}.system.expire_snapshots(table => '{fault.text}', clean_expired_metadata => true) drops "
            "them."
        )
    return f"{'; '.join(filter(None, statements))} gives it another name, and changes no file."


def _former_name(fault: FindingSubject) -> str:
    spec = fault.metadata.spec(fault.metadata.default_spec_id or 0)
    if any(field.name in fault.columns and field.transform == "void" for field in (spec.fields if spec else ())):
        return "Give a new column another name: nothing in Spark frees this one, which version 1 keeps as `void`."
    rename = "; ".join(filter(None, (rename_statement(fault.metadata, fault.table, name) for name in fault.columns)))
    first = f"first {rename}, then " if rename else "first "
    return (
        "Give a new column another name: nothing else has to be done. To have this name for it, "
        f"{first}CALL {fault.catalog}.system.rewrite_data_files(table => '{fault.text}', options => map('rewrite-all', "
        "'true')) writes all rows by the current spec. After one more commit, and once no snapshot has files of the "
        f"older specs, CALL {fault.catalog}.system.expire_snapshots(table => '{fault.text}', clean_expired_metadata => "
        "true) drops these specs, and the name is free."
    )


def _column_rename(fault: FindingSubject) -> str:
    """A new name for the later of two columns, in a session that tells their names apart."""
    taken = {name.lower() for name in fault.columns}
    parts = fault.columns[-1].split(".") if fault.columns else []
    old = [name_in_sql(part) for part in parts]
    new = next((name for n in range(2, 100) if (name := f"{parts[-1].lower()}_{n}") not in taken), "") if parts else ""
    if not parts or not all(old) or not name_in_sql(new):
        return "In a session with SET spark.sql.caseSensitive = true Spark reads the table: rename one of the columns."
    return (
        "SET spark.sql.caseSensitive = true, and Spark reads the table in that session. There, ALTER TABLE "
        f"{fault.table} RENAME COLUMN {'.'.join(old)} TO {name_in_sql(new)} mends it for all sessions."
    )


def _fork(fault: FindingSubject) -> str:
    if not (file := path_in_sql(fault.file)):
        return "Nothing in Spark mends it: open that file by its path, and write again what is missing."
    return (
        "If a catalog has that state under another name already (trino#15753), compare both there. Else "
        f"CALL {fault.catalog}.system.register_table(table => '{text_in_sql(beside(fault.name, 'fork'))}', "
        f"metadata_file => '{file}') shows that state under another name: compare both, and write again what is "
        "missing. (Where its snapshot's summary lacks total-data-files or total-records, Spark reports an error after "
        f"it made the table.) {TWO_TABLES} Nothing in Spark takes the second file of a version away."
    )


def _lost_ref(fault: FindingSubject) -> str:
    if not (file := path_in_sql(fault.file)):
        return "Nothing in Spark mends it: restore the files of that snapshot from a backup."
    return (
        "See whether the files of the snapshot are still there: icedive doctor PATH --files, with the path of that "
        f"metadata file. If so, CALL {fault.catalog}.system.register_table(table => "
        f"'{text_in_sql(beside(fault.name, 'before'))}', metadata_file => '{file}') makes a table of it under another "
        f"name, from which its rows can be copied. {TWO_TABLES}"
    )


def _added_again(fault: FindingSubject, deleter: int) -> str:
    if any(deleter in file.removers for file in (fault.missing or {}).values()):
        way = f" The way back is snapshot {deleter}: it must not expire before." if deleter == fault.whole else ""
        return (
            f"Of what snapshot {deleter} removed, a file is gone already, and no expiry keeps that: mend it first, as "
            f"file-missing says.{way}"
        )
    held = any(ref.snapshot_id == deleter for ref in fault.metadata.refs)
    alone = f"Until snapshot {deleter} has expired, expire by Spark's procedure alone."
    if held or deleter == fault.metadata.current_snapshot_id:
        return f"{alone} Now a branch or tag points to it: expire it once another commit is current."
    look = (
        "First run icedive doctor TABLE --files: if the file is gone already, this snapshot may be the only way back. "
        if fault.missing is None
        else ""
    )
    return (
        f"{look}{alone} CALL {fault.catalog}.system.expire_snapshots(table => '{fault.text}', snapshot_ids => "
        f"array({deleter}L)) takes it out now, and keeps the file; time travel to it ends."
    )


def _twice(fault: FindingSubject, lost: int) -> str:
    meta = fault.metadata
    if lost in ancestry(meta, meta.current_snapshot_id):
        return "Nothing in Spark mends it, and nothing is lost: the finding goes when one of the snapshots expires."
    held = any(ref.snapshot_id == lost for ref in meta.refs)
    expire = (
        "The finding goes when it expires."
        if held
        else "Its own snapshot, and the finding with it, then goes by CALL "
        f"{fault.catalog}.system.expire_snapshots(table => '{fault.text}', snapshot_ids => array({lost}L))."
    )
    if any(s.summary.get("source-snapshot-id") == str(lost) for s in meta.snapshots):
        return f"Snapshot {lost} was committed again. {expire}"
    if not preview_refs(meta, "cherry-pick", "", meta.snapshot(lost)).allowed:
        return (
            f"Nothing in Spark commits snapshot {lost} again: read it (VERSION AS OF {lost}), and write again what is "
            "missing. The finding goes when it expires."
        )
    return (
        f"If the changes of snapshot {lost} are wanted, this commits them again, and adds its rows to what readers "
        f"see: CALL {fault.catalog}.system.cherrypick_snapshot('{fault.text}', {lost}). {expire}"
    )


def _cut_off(fault: FindingSubject, earlier: int) -> str:
    meta = fault.metadata
    keeper = next((ref.name for ref in meta.refs if earlier in ancestry(meta, ref.snapshot_id)), None)
    keeps = f"{keeper} keeps what was cut off from expiry"
    if keeper is None:
        branch = free_ref_name(meta, "cut_off")
        statement = f"ALTER TABLE {fault.table} CREATE BRANCH {branch} AS OF VERSION {earlier}"
        keeps = f"{statement} keeps what was cut off from expiry"
    return (
        f"{keeps}: compare it with the table, and write again what is missing. Nothing in Spark mends a history: the "
        "finding goes when the snapshots expire."
    )
