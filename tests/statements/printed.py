"""All statements that the product prints of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator

from explorer.errors import ExplorerError
from explorer.reports.maintenance import runs
from explorer.reports.maintenance.procedure_calls import PROCEDURES
from tests.statements.spark35 import NAME, PART, STRING, TEST
from tests.support import direct

BEGUN = re.compile(
    r"(?:CALL|ALTER TABLE|INSERT OVERWRITE|UPDATE|DELETE FROM|CREATE OR REPLACE TABLE) [`\w{.]"
    rf"|INSERT INTO {NAME} (?:\(|SELECT )"
)
ROWS = rf"SELECT {PART}(?:, {PART})* FROM {NAME}"
STATEMENT = re.compile(
    rf"CALL {NAME}\((?:[^()']|{STRING}|\((?:[^()']|{STRING})*\))*\)"
    rf"|INSERT INTO {NAME} \({PART}(?:, {PART})*\) {ROWS}(?: UNION ALL {ROWS})*"
    rf"|INSERT INTO {NAME} SELECT \* FROM {NAME} WHERE false"
    rf"|INSERT OVERWRITE {NAME} SELECT (?:DISTINCT )?\* FROM {NAME}"
    rf"|CREATE OR REPLACE TABLE {NAME} USING iceberg AS SELECT \* FROM {NAME}(?: WHERE false)?"
    rf"|DELETE FROM {NAME} WHERE {TEST}(?: AND {TEST})*"
    rf"|UPDATE {NAME} SET {PART} = NULL WHERE {PART} = {STRING}"
    rf"|ALTER TABLE {NAME} (?:(?:UN)?SET TBLPROPERTIES \((?:[^()']|{STRING})*\)|ALTER COLUMN {NAME} DROP NOT NULL"
    rf"|RENAME COLUMN {NAME} TO {PART}"
    rf"|REPLACE PARTITION FIELD {PART} WITH (?:\w+\((?:[0-9]+, )?{NAME}\)|{NAME}) AS {PART}"
    rf"|ADD PARTITION FIELD (?:\w+\((?:[0-9]+, )?{NAME}\)|{NAME})"
    rf"|DROP PARTITION FIELD {PART}|CREATE BRANCH {PART} AS OF VERSION -?[0-9]+)"
)
OPTIONS: dict[str, list[dict[str, str]]] = {
    "compact": [{}, {"rewrite-all": "true"}, {"target-file-size-bytes": "1000000", "min-input-files": "1"}],
    "compact-sort": [{"rewrite-all": "true"}],
    "compact-z-order": [{"rewrite-all": "true"}],
    "rewrite-manifests": [{}, {"use_caching": "false"}, {"spec_id": "0"}],
    "rewrite-position-deletes": [{"rewrite-all": "true"}],
    "expire": [{}, {"older_than": "2999-01-01", "retain_last": "1"},
               {"older_than": "2999-01-01 12:30:00.125", "clean_expired_metadata": "true", "stream_results": "true"}],
    "remove-orphans": [{}, {"older_than": "1800000000000", "dry_run": "true", "equal_schemes": '{"s3a\'": "s3"}'}],
}  # fmt: skip
"""By operation of `maintain`: options to print it with."""


def statements(text: str) -> list[str]:
    """The statements in a text that is shown.

    Args:
        text: Sentences of an answer.

    Raises:
        AssertionError: A statement begins and does not end as one that can be executed.
    """
    found = STATEMENT.findall(text)
    assert len(found) == len(BEGUN.findall(text)), text
    return found


def printed(table: direct.Table, deep: bool = False) -> Iterator[str]:
    """The statements that the doctor, the health and the previews of maintenance print of a table."""
    for finding in direct.doctor(table, deep=deep).findings:
        assert finding.remedy, finding
        yield from statements(finding.remedy)
    tight = dict.fromkeys((m.id for m in direct.health(table).measures), 1e-9)
    for measure in direct.health(table, limits=tight).to_json()["measures"]:
        yield from statements(measure["helps"])
    schema = table.metadata.schema(table.metadata.current_schema_id)
    column = schema.fields[0].name if schema and schema.fields else ""
    for operation in PROCEDURES:
        for options in OPTIONS[operation]:
            where = f'"{column}" is not null' if operation == "compact" and column else ""
            try:
                seen = runs.preview(table, operation, options=options, where=where)
            except ExplorerError:  # nothing is printed
                continue
            yield from statements(seen.call)
            for sentence in seen.words:
                yield from statements(sentence)
