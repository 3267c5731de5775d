"""Questions about what a table's metadata says."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from explorer.errors import NotFoundInTable
from explorer.questions.answers import Answer
from explorer.questions.parameters import ColumnName, Count, EngineName, FilePath, Filter, Number, SnapshotRef, Texts
from explorer.questions.registry import question

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from explorer.graph.graph import Graph
    from explorer.queries.collection import Collection
    from explorer.render.overview import ShownOverview
    from explorer.spec.layout.file_map import MapCell
    from explorer.table import Table

PARTITION_COLUMNS = (
    "partition", "spec_id", "record_count", "file_count", "total_data_file_size_in_bytes",
    "position_delete_file_count", "equality_delete_file_count",
)  # fmt: skip


@question("show")
def show(table: Table, *, snapshot: SnapshotRef = None) -> Answer[Graph]:
    """Show the metadata tree of a table.

    Returns:
        The graph of the tree.

    Raises:
        NotFoundInTable: There is no such snapshot.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> print(table.show().to_text().splitlines()[1])
        three_inserts: in sandbox.demo · points to metadata-3
    """
    from explorer.render.rows import graph_json
    from explorer.render.text import render_tree

    graph = table.graph(snapshot)
    return Answer(graph, lambda: graph_json(graph), lambda: (table.why, render_tree(graph)))


@question("overview", picture=True)
def overview(table: Table, *, snapshot: SnapshotRef = None) -> Answer[ShownOverview]:
    """Show what a table is and holds, and what each snapshot added and removed.

    It shows rows (recorded and visible), files, deletes by kind, bytes, and schema, partition spec and sort
    order in words. Where manifests are small, it also has the results of health and doctor, file sizes and
    partitions.

    Returns:
        The overview: facts, commits and, where they are cheap, health and doctor.

    Raises:
        NotFoundInTable: There is no such snapshot.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> overview = table.overview().value
        >>> overview.snapshot, overview.rows_counted, overview.data_files
        ('snapshot-3', 3, 3)
    """
    from explorer.render.history_pictures import overview_svg
    from explorer.render.overview import render_overview
    from explorer.reports.overview import overview

    summary = overview(table, snapshot)
    return Answer(
        summary,
        summary.to_json,
        lambda: (render_overview(summary),),
        picture=lambda: overview_svg(summary),
        html=summary._repr_html_,
    )


@question("metadata", "inspect")
def metadata(table: Table) -> Answer[Mapping[str, Any]]:
    """Show the metadata file: every field, unknown ones too.

    Returns:
        The metadata file's JSON.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> table.inspect.metadata().to_json()["format-version"]
        2
    """
    from explorer.render.metadata_blocks import metadata_blocks
    from explorer.render.rows import metadata_json
    from explorer.render.text import render_fields

    data = metadata_json(table.metadata)
    parts = partial(metadata_blocks, table.metadata)
    return Answer(data, lambda: data, lambda: (render_fields(data),), parts=parts)


@question("schema", "inspect")
def schema(table: Table, *, snapshot: SnapshotRef = None) -> Collection:
    """List the fields of the schema by which a snapshot is read, nested fields too.

    Returns:
        A row for each field: field-id, name (its path), type, required, identifier, doc,
        initial-default, write-default.

    Raises:
        NotFoundInTable: There is no such snapshot.

    Example:
        >>> table = explorer.open_table("demo.events")
        >>> [field["type"] for field in table.inspect.schema()][:2]
        ['string', 'long']
    """
    from explorer.queries.collection import Collection
    from explorer.render.rows import field_rows
    from explorer.storage.rows import read_schema

    return Collection.of_rows(field_rows(read_schema(table.metadata, table.reading(snapshot).schema_id)), "fields")


@question("properties", "inspect")
def properties(table: Table) -> Collection:
    """List the table properties; values that may be secrets are hidden.

    Returns:
        A row for each property: property, value.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> table.inspect.properties().select("property = 'write.parquet.compression-codec'")[0]["value"]
        'zstd'
    """
    from explorer.queries.collection import Collection
    from explorer.render.rows import metadata_json

    own_properties = metadata_json(table.metadata).get("properties")
    rows = own_properties.items() if isinstance(own_properties, dict) else ()
    return Collection.of_rows([{"property": name, "value": value} for name, value in sorted(rows)], "properties")


@question("snapshots", "inspect")
def snapshots(table: Table) -> Collection:
    """List all snapshots.

    Returns:
        A row for each snapshot, oldest first: snapshot (snapshot-3), snapshot-id, parent-snapshot-id,
        sequence-number, timestamp-ms, operation, manifest-list, schema-id, first-row-id, added-rows,
        summary (spec, "Snapshots").

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> [snapshot["operation"] for snapshot in table.inspect.snapshots()]
        ['append', 'append', 'append']
    """
    return table.snapshots


@question("refs", "inspect")
def refs(table: Table) -> Collection:
    """List branches and tags.

    Returns:
        A row for each branch and tag: name, type, snapshot-id, min-snapshots-to-keep,
        max-snapshot-age-ms, max-ref-age-ms (spec, "Snapshot References").

    Example:
        >>> table = explorer.open_table("demo.branches_and_tags")
        >>> {ref["name"]: ref["type"] for ref in table.inspect.refs()}
        {'main': 'branch', 'opening': 'tag', 'audit': 'branch'}
    """
    return table.refs


@question("manifests", "inspect")
def manifests(table: Table, *, snapshot: SnapshotRef = None) -> Collection:
    """List the manifests of a snapshot, with decoded partition summaries.

    Returns:
        A row for each manifest, in the order of the list: manifest_path, manifest_length (bytes),
        partition_spec_id, content, sequence numbers, added_snapshot_id, counts of files and rows,
        partitions (spec, "Manifest Lists").

    Raises:
        NotFoundInTable: There is no such snapshot.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> [manifest["added_files_count"] for manifest in table.inspect.manifests()]
        [1, 1, 1]
    """
    return table.manifests(snapshot)


@question("entries", "inspect")
def entries(
    table: Table,
    *,
    view: Literal["stored", "inherited", "logical", "all"] = "logical",
    metrics: bool = False,
    snapshot: SnapshotRef = None,
    engine: EngineName = "auto",
) -> Collection:
    """List manifest entries as stored, after inheritance, or with their logical status.

    Args:
        view: The state of each entry: as stored, after inheritance, as of the snapshot, or all three.
        metrics: Also show column sizes, counts and bounds.

    Returns:
        A row for each entry, also DELETED and filtered ones: manifest_path, ordinal, status, the fields
        of the file, and by view stored or inherited values with their origin, logical_status and reason
        (spec, "Manifest Entry Fields").

    Raises:
        NotFoundInTable: There is no such snapshot.
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> [entry["logical_status"] for entry in table.inspect.entries()]
        ['ADDED', 'EXISTING', 'EXISTING']
    """
    return table.entries(snapshot, view, metrics, engine)


@question("files", "inspect")
def files(
    table: Table, *, metrics: bool = False, snapshot: SnapshotRef = None, engine: EngineName = "auto"
) -> Collection:
    """List the data and delete files that a reader of a snapshot uses.

    Args:
        metrics: Also show column sizes, counts and bounds.

    Returns:
        A row for each live file: file_path, content, file_format, partition, record_count,
        file_size_in_bytes, sequence numbers, snapshot_id and more (spec, "Data File Fields").

    Raises:
        NotFoundInTable: There is no such snapshot.
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> [file["record_count"] for file in table.inspect.files()]
        [1, 1, 1]
    """
    return table.files(snapshot, metrics, engine)


@question("partitions", "inspect", columns=PARTITION_COLUMNS)
def partitions(table: Table, *, snapshot: SnapshotRef = None, engine: EngineName = "auto") -> Collection:
    """Add up the live files by partition.

    Returns:
        A row for each partition: partition, spec_id, record_count, file_count,
        total_data_file_size_in_bytes, counts of deletes, last_updated_ms, last_updated_snapshot_id.

    Raises:
        NotFoundInTable: There is no such snapshot.
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.events")
        >>> [partition["record_count"] for partition in table.inspect.partitions()]
        [2, 1, 1]
    """
    return table.partitions(snapshot, engine)


@question("file", "inspect")
def file(
    table: Table,
    path: FilePath,
    *,
    show: Literal["life", "footer", "rows", "deletes"] = "life",
    offset: Number = None,
    snapshot: SnapshotRef = None,
    engine: EngineName = "auto",
) -> Answer[Any] | Collection:
    """Show one data or delete file: its life, its footer, its rows, or the deletes that it holds.

    Args:
        path: The file: its path, a prefix of its name, the end of its path, or its label in a list.
        show: The life of the file over all snapshots; the footer of a Parquet or Puffin file; the rows of a data file
            and what deletes each; the contents of a delete file or deletion vector.
        offset: The content offset of a deletion vector, where several are in one Puffin file.

    Returns:
        The life: every snapshot in which the file was added, carried or removed. The footer: its
        fields. The rows: the columns of the table with _pos and _deleted_by. The deletes: file_path and
        pos, or the equality columns.

    Raises:
        NotFoundInTable: There is no such file or snapshot.
        NotSupported: The file is of a format that is not read.
        UnreadableFile: The file cannot be read.
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> path = table.inspect.files()[0]["file_path"]
        >>> table.inspect.file(path, show="rows").to_json()
        [{'fruit': 'cherry', '_pos': 0, '_deleted_by': None}]
    """
    if show == "rows":
        return table.file_rows(path, snapshot)
    if show == "deletes":
        return table.delete_contents(path, snapshot, offset)
    if show == "footer":
        from explorer.render.row_views import render_footer
        from explorer.render.rows import plain

        footer = table.footer(path, snapshot)
        return Answer(footer, lambda: plain(footer), lambda: (render_footer(footer),))
    from explorer.render.history import file_life_json, render_file_life
    from explorer.reports.landed import unlisted_words

    try:
        life = table.file_life(path, engine)
    except NotFoundInTable as error:
        raise NotFoundInTable(unlisted_words(table, path, error)) from error
    return Answer(life, lambda: file_life_json(life), lambda: (render_file_life(life),))


@question("deletes", "inspect", rows=True, picture=True)
def deletes(
    table: Table,
    *,
    show: Literal["pairs", "layers"] = "pairs",
    limit: Count = None,
    snapshot: SnapshotRef = None,
    engine: EngineName = "auto",
) -> Answer[Any]:
    """Show which deletes apply to which data files, clause by clause, and which are dangling.

    It reads manifests alone. A position delete hides nothing if its paths name no data file of the snapshot;
    this is shown if the entry names the file, or if its bounds of paths are equal.

    Args:
        show: Pairs of data and delete files; or data files and deletes by data sequence number, from below.
        limit: The largest number of pairs, and of dangling deletes.

    Returns:
        A row for each pair: data_file, delete_file, content_offset, kind, applies, reasons. Of layers:
        sequence_number, kind, partition, files, rows, bytes, applied, path.

    Raises:
        NotFoundInTable: There is no such snapshot.
        UnreadableFile: A manifest that the answer depends on cannot be read.
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.position_deletes")
        >>> [(pair["kind"], pair["applies"]) for pair in table.inspect.deletes().to_json()]
        [('position', True)]
    """
    from explorer.queries.collection import Collection
    from explorer.render.delete_picture import layers_svg
    from explorer.render.row_views import delete_lines, delete_rows, layer_rows
    from explorer.render.text import render_table
    from explorer.reports.delete_spread import confining_lines
    from explorer.spec.text.names import base_name

    result = table.deletes(snapshot, engine)
    if show == "layers":
        drawn = table.delete_layers(result, engine)
        layers = layer_rows(drawn[:limit])
        shown = [row | {"path": base_name(row["path"])} for row in layers]
        return Answer(
            layers,
            lambda: layers,
            lambda: (render_table(shown, 220, LAYER_COLUMNS),),
            lambda: Collection.of_rows(layers, "layers"),
            lambda: layers_svg(drawn),
            is_table=True,
        )
    notes: tuple[str, ...] = ()
    if limit is not None and limit < max(len(result.verdicts), len(result.alone)):
        cut = f"shows {limit:,} of {len(result.verdicts):,} pairs, and of {len(result.alone):,} files without any"
        notes = (f"{cut}; {result.applying:,} pairs apply",)
    return Answer(
        result,
        lambda: delete_rows(result, limit),
        lambda: delete_lines(result, limit, confining_lines(table, result)),
        lambda: Collection.of_rows(list(delete_rows(result, limit)), "pairs"),
        lambda: delete_picture(result),
        notes=notes,
        is_graph=True,
        is_table=True,
    )


LAYER_COLUMNS = ("sequence_number", "kind", "partition", "files", "rows", "bytes", "applied", "path")


def delete_picture(snapshot_deletes: Any) -> str:
    """Draw data files and the deletes that could matter to them."""
    from explorer.graph.delete_graph import delete_graph
    from explorer.render.pictures import sentence
    from explorer.render.svg import render_svg

    if not snapshot_deletes.files.deletes:
        return sentence("No deletes are live in this snapshot.")
    return render_svg(delete_graph("deletes", 0, snapshot_deletes))


@question("columns", "inspect")
def columns(
    table: Table,
    *,
    show: Literal["metrics", "clustering"] = "metrics",
    snapshot: SnapshotRef = None,
    engine: EngineName = "auto",
) -> Collection:
    """Show what is recorded of each column, or how well files are clustered by it.

    Metrics say what a filter on the column can skip, how many files have them, and the property that sets them.

    Args:
        show: Which statistics are kept, by which rule, and what a filter can skip; or how many files a query for one
            value opens, by the files' bounds.

    Returns:
        A row for each column. Metrics: column, type, mode, rule, skips, files and how many of them have
        which statistics. Clustering: column, data_files, with_bounds, opened (files), share, median,
        p90, most.

    Raises:
        NotFoundInTable: There is no such snapshot.
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> [(column["column"], column["mode"]) for column in table.inspect.columns()]
        [('fruit', 'truncate(16)')]
    """
    from explorer.queries.collection import Collection
    from explorer.render.plans import clustering_rows, mode_rows

    if show == "clustering":
        return Collection.of_rows(clustering_rows(table.clustering((), snapshot, engine)), "columns")
    return Collection.of_rows(mode_rows(table.metrics(snapshot, engine)), "columns")


PROFILE_COLUMNS = ("column", "partition", "type", "rows", "nulls", "null_share", "nans", "lower_bound", "upper_bound",
                   "bytes", "distinct", "lacks")  # fmt: skip


@question("profile", "inspect", columns=PROFILE_COLUMNS)
def profile(
    table: Table, column_path: ColumnName = "", *, snapshot: SnapshotRef = None, engine: EngineName = "auto"
) -> Collection:
    """Show what metadata says of the values in each column, or in one column by partition.

    Counts, bounds and bytes of all live data files are added up; no data file is read. Rows that delete files hide
    count, too. Distinct values are the estimate of a statistics file, of the snapshot or the newest one before it.

    Args:
        column_path: A column, by its path: its values are then shown by partition.

    Returns:
        A row for each column, or for each partition: files, rows, values, nulls, null_share, nans, lower_bound,
        upper_bound, bytes and, in words, what some files lack. Of columns also distinct and distinct_as_of.

    Raises:
        NotFoundInTable: There is no such column or snapshot.
        EngineError: The engine is spark, and Spark or Java is not available.

    Example:
        >>> table = explorer.open_table("demo.sorted_files")
        >>> [(column["column"], column["lower_bound"], column["distinct"]) for column in table.inspect.profile()]
        [('name', 'anna', 12), ('favorite_color', 'blue', 6)]
    """
    return table.profile(column_path, snapshot, engine)


@question("map", "inspect", rows=True, picture=True)
def file_map(
    table: Table,
    *,
    where: Filter = "",
    color_by: Literal["auto", "status", "partition", "size", "age", "deletes", "scan"] = "auto",
    deletes: bool = False,
    snapshot: SnapshotRef = None,
) -> Answer[list[MapCell]]:
    """Show all files of a snapshot, and those that it removed, as cells of a map.

    A cell is one file, as large as its bytes, or a group of files so that there are at most 4,000 cells. Each has
    rows, bytes, status and age. The files of a partition lie together.

    Args:
        where: A filter: each cell then says what a scan does with it.
        color_by: What the color of a cell shows. `auto` is the scan with a filter, deletes if they are counted,
            otherwise the status.
        deletes: Also count the deletes that apply to each file.

    Returns:
        A row for each cell: rows, bytes, files, status, age and, with a filter, what its scan does.

    Raises:
        NotFoundInTable: There is no such snapshot, or the filter does not fit.
        WrongUsage: The color is the scan's, and there is no filter.

    Example:
        >>> table = explorer.open_table("demo.three_inserts")
        >>> [cell["status"] for cell in table.inspect.map().to_json()]
        ['ADDED', 'EXISTING', 'EXISTING']
    """
    from explorer.errors import WrongUsage
    from explorer.queries.collection import Collection
    from explorer.render.map_picture import map_svg
    from explorer.render.text import render_table
    from explorer.reports.file_map import file_map as map_of

    if color_by == "scan" and not where:
        raise WrongUsage("the color of a scan needs a filter: give one with `where`")
    plan = table.plan(where, snapshot) if where else None
    cells = list(map_of(table, snapshot, plan=plan, deletes=deletes or color_by == "deletes").every)
    chosen = ("scan" if where else "deletes" if deletes else "status") if color_by == "auto" else color_by
    rows = list(map(vars, cells))
    return Answer(
        cells,
        lambda: rows,
        lambda: (render_table(rows),),
        lambda: Collection.of_rows(rows, "cells"),
        lambda: map_svg(cells, chosen),
        is_table=True,
    )


@question("glossary", rows=True)
def glossary(words: Texts = ()) -> Answer[Mapping[str, Any]]:
    """Explain the words of Iceberg: those that have WORDS in their name or meaning, or all.

    Args:
        words: Words to look up.

    Returns:
        A row for each word: word, meaning, section (of the spec).

    Example:
        >>> from explorer.questions import inspect
        >>> print(inspect.glossary(["dangling"]).to_text(), end="")
        dangling delete: A delete that is still listed and applies to no data file
    """
    from explorer.queries.collection import Collection
    from explorer.spec.text.glossary import TERMS, find_terms

    terms = find_terms(" ".join(words)) if words else TERMS
    rows = [{"word": name, "meaning": term.meaning, "section": term.section} for name, term in terms.items()]
    return Answer(
        terms,
        lambda: rows,
        lambda: (f"{name}: {term}" for name, term in terms.items()),
        lambda: Collection.of_rows(rows, "words"),
        is_table=True,
    )
