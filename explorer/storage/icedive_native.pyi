from typing import Any

import pyarrow as pa

__version__: str

class Layout:
    def __new__(cls, schema: pa.Schema, fields: list[tuple[Any, int]], least: int) -> Layout: ...

class Cancellation:
    def __new__(cls) -> Cancellation: ...
    def cancel(self) -> None: ...

def decode(
    layout: Layout, files: list[Any], limits: Any, cancellation: Cancellation, grow: Any
) -> tuple[pa.RecordBatch, list[int], int] | None: ...
