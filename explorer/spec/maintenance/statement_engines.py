"""The engines whose statements are printed."""

from __future__ import annotations

from typing import Literal

StatementEngine = Literal["spark", "trino", "athena", "flink", "pyiceberg", "snowflake"]
