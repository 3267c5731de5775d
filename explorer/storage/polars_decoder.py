"""Decode Avro in bulk by polars, where it is installed: for manifests that the native module does not decode."""

from __future__ import annotations

import functools
import io
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from explorer.storage.decoder_process import panics
from explorer.storage.formats.avro import Container, Undecodable, repack

if TYPE_CHECKING:
    import polars


@functools.cache
def module() -> Any:
    """Polars; None where it cannot be imported."""
    try:
        import polars
    except ImportError:
        return None
    return polars


def read_columns(container: Container, columns: list[str] | None = None, schema: Any = None) -> polars.DataFrame:
    """Decode all readable blocks in bulk; columns that are not wanted are skipped, not decoded. Raises Undecodable on
    what polars does not support or trips over, and where there is none."""
    if module() is None:
        raise Undecodable("polars is not installed")
    try:
        return module().read_avro(io.BytesIO(repack(container, schema)), columns=columns)  # type: ignore[no-any-return]
    except module().exceptions.PanicException as error:  # no Exception
        panics.note(container.path)
        raise Undecodable(f"{type(error).__name__}: {error}") from error
    except Exception as error:
        raise Undecodable(f"{type(error).__name__}: {error}") from error


def to_arrow(series: polars.Series, entry: tuple[str, str] | None = None) -> pa.Array:
    """A polars column as Arrow; a list of key-value structs becomes a map, sharing its buffers."""
    try:  # Arrow's C names end at a NUL
        array = series.alias("").to_arrow(compat_level=module().CompatLevel.oldest())
    except module().exceptions.PanicException as error:  # as do those of the fields inside
        panics.note(series.name)
        raise Undecodable(f"{type(error).__name__}: {error}") from error
    if not pa.types.is_large_list(array.type) or not pa.types.is_struct(array.type.value_type):
        return array
    if array.values.null_count:
        raise Undecodable("a map has an item that is null")
    key, value = entry or ("key", "value")
    keys, values = array.values.field(key), array.values.field(value)
    if pa.types.is_large_binary(values.type):
        values = values.cast(pa.binary())
    mask = array.is_null() if array.null_count else None
    return pa.MapArray.from_arrays(array.offsets.cast(pa.int32()), keys, values, mask=mask)
