//! Decodes the manifests of Apache Iceberg tables to Arrow, and writes Arrow as JSON text.
//!
//! It decodes sound files of the kind that writers make. Of any other it says so, and the caller's slower decoder finds
//! out what can be read of it and what is wrong. So nothing here needs to be lenient, or to word an error.

mod blocks;
mod columns;
mod cursor;
mod layout;
mod text;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::{Array, ArrayRef, RecordBatch, make_array};
use arrow_data::ArrayData;
use arrow_pyarrow::{FromPyArrow, ToPyArrow};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use blocks::Blocks;
use columns::Columns;
use cursor::Refused;
use layout::Layout;
use text::{NotWritten, Texts};

/// Tells a decode on another thread to stop: it does so before its next block.
#[pyclass(frozen)]
struct Cancellation(Arc<AtomicBool>);

#[pymethods]
impl Cancellation {
    #[new]
    fn new() -> Self {
        Self(Arc::new(AtomicBool::new(false)))
    }

    fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One Avro file: its bytes, where its first block starts, its codec, and how many bytes it may unpack to.
#[derive(FromPyObject)]
struct File {
    data: PyBackedBytes,
    start: usize,
    codec: String,
    room: usize,
}

/// What one call may take.
#[derive(FromPyObject, Clone, Copy)]
struct Limits {
    /// Entries of a file.
    entries: usize,
    /// Items of one list or map.
    items: usize,
    /// Bytes that a block may unpack to.
    block: usize,
    /// Bytes that the files unpack to, after which no other file is begun.
    together: usize,
    /// Bytes by which what is decoded grows before somebody is asked whether there is room.
    growth: usize,
}

/// Whether there is room for what is decoded: asked again whenever it has grown.
struct Room {
    grow: Py<PyAny>,
    asked: usize,
    step: usize,
}

impl Room {
    fn allows(&mut self, size: usize) -> bool {
        if size < self.asked + self.step {
            return true;
        }
        self.asked = size;
        Python::attach(|py| self.grow.call1(py, (size,)).and_then(|answer| answer.extract(py))).unwrap_or(false)
    }
}

/// What became of a file.
enum Outcome {
    Decoded(usize),
    Refused,
    Later,
    Cancelled,
}

fn decode_all(
    layout: &Layout,
    files: &[File],
    limits: Limits,
    stop: &AtomicBool,
    memory: &mut Room,
) -> (Columns, Vec<Outcome>, usize) {
    let mut columns = Columns::new(&layout.kinds, limits.items);
    let mut blocks = Blocks::default();
    let mut unpacked = 0;
    let mut outcomes = Vec::with_capacity(files.len());
    for file in files {
        if stop.load(Ordering::Relaxed) {
            outcomes.push(Outcome::Cancelled);
        } else if unpacked > limits.together {
            outcomes.push(Outcome::Later);
        } else {
            let rows = columns.rows;
            let result = decode_one(layout, file, limits, stop, memory, &mut blocks, &mut columns);
            outcomes.push(match result {
                Ok(size) => {
                    unpacked += size;
                    Outcome::Decoded(columns.rows - rows)
                }
                Err(refused) => {
                    columns.truncate(rows);
                    if refused == Refused::Cancelled { Outcome::Cancelled } else { Outcome::Refused }
                }
            });
        }
    }
    (columns, outcomes, unpacked)
}

/// Decodes a file and returns the bytes that it unpacked to.
fn decode_one(
    layout: &Layout,
    file: &File,
    limits: Limits,
    stop: &AtomicBool,
    memory: &mut Room,
    blocks: &mut Blocks,
    columns: &mut Columns,
) -> Result<usize, Refused> {
    let first = columns.rows;
    let mut room = file.room;
    let mut at = file.start;
    let mut empty = 0;
    let start = at;
    let data: &[u8] = &file.data;
    let sync = data.get(start.checked_sub(16).ok_or(Refused::Unsound)?..start).ok_or(Refused::Unsound)?;
    while at < data.len() {
        if stop.load(Ordering::Relaxed) {
            return Err(Refused::Cancelled);
        }
        let (count, packed, end) = blocks::frame(data, at, sync)?;
        at = end;
        let block = blocks.unpack(&file.codec, packed, room.min(limits.block))?;
        room -= block.len();
        if count > block.len() / layout.least || columns.rows - first + count > limits.entries {
            return Err(Refused::Unsound);
        }
        if count == 0 {
            empty += 1;
            if empty > 1 || !block.is_empty() {
                return Err(Refused::Unsound);
            }
        }
        layout.decode(block, count, columns)?;
        if !memory.allows(columns.size()) {
            return Err(Refused::Unsound);
        }
    }
    Ok(file.room - room)
}

/// Decode files that were written with one schema.
///
/// Returns the entries of all that could be decoded, in one batch; for each file how many they are, -1 where it is not
/// sound or not of a kind that is decoded here, -2 where the files before it were enough for one call; and the bytes
/// that the files unpacked to. Returns None where it was cancelled.
#[pyfunction]
#[allow(clippy::type_complexity)]
fn decode(
    py: Python<'_>,
    layout: Bound<'_, Layout>,
    files: Vec<File>,
    limits: Limits,
    cancellation: Bound<'_, Cancellation>,
    grow: Py<PyAny>,
) -> PyResult<Option<(Py<PyAny>, Vec<i64>, usize)>> {
    let layout = layout.get();
    let stop = Arc::clone(&cancellation.get().0);
    let mut memory = Room { grow, asked: 0, step: limits.growth };
    let decoded = py.detach(|| -> Result<Option<(RecordBatch, Vec<i64>, usize)>, String> {
        let (columns, outcomes, unpacked) = decode_all(layout, &files, limits, &stop, &mut memory);
        if outcomes.iter().any(|outcome| matches!(outcome, Outcome::Cancelled)) {
            return Ok(None);
        }
        let counts = outcomes.iter().map(|outcome| match outcome {
            Outcome::Decoded(rows) => *rows as i64,
            Outcome::Later => -2,
            _ => -1,
        });
        let counts = counts.collect();
        let batch = columns.finish(&layout.schema).map_err(|error| error.to_string())?;
        Ok(Some((batch, counts, unpacked)))
    });
    match decoded.map_err(PyRuntimeError::new_err)? {
        None => Ok(None),
        Some((batch, counts, unpacked)) => {
            Ok(Some((batch.to_pyarrow(py)?.unbind(), counts, unpacked)))
        }
    }
}

/// An array of somebody else's, whose offsets, texts and places are looked at before anybody goes by them.
fn sound(array: &Bound<'_, PyAny>) -> Result<ArrayRef, NotWritten> {
    let data = ArrayData::from_pyarrow_bound(array).map_err(|_| NotWritten)?;
    array.py().detach(|| data.validate_full()).map_err(|_| NotWritten)?;
    Ok(make_array(data))
}

/// Arrays of the same rows, and how many rows there are. `is_written` says which have texts that are written as they are.
fn columns_of(columns: &[Bound<'_, PyAny>], is_written: &[bool]) -> Result<(Vec<Texts>, usize), NotWritten> {
    let arrays = columns.iter().map(sound).collect::<Result<Vec<_>, _>>()?;
    let rows = arrays.first().map_or(0, |array| array.len());
    if is_written.len() != arrays.len() || arrays.iter().any(|array| array.len() != rows) {
        return Err(NotWritten);
    }
    let texts = arrays.iter().zip(is_written);
    let texts = texts.map(|(array, is)| if *is { Texts::of_written(array) } else { Texts::of(array) });
    Ok((texts.collect::<Result<Vec<_>, _>>()?, rows))
}

/// Write rows as JSON objects, each with an end.
///
/// Before each value stands its column's piece of text, which has the name; the end closes the object. Columns of
/// `is_written` have texts that are JSON already. Returns None where something is not written here.
#[pyfunction]
fn json_rows(
    py: Python<'_>,
    pieces: Vec<String>,
    columns: Vec<Bound<'_, PyAny>>,
    is_written: Vec<bool>,
    end: String,
) -> Option<String> {
    let (texts, rows) = columns_of(&columns, &is_written).ok()?;
    if pieces.len() != texts.len() {
        return None;
    }
    py.detach(|| String::from_utf8(text::rows(&pieces, &texts, rows, &end).ok()?).ok())
}

/// Write rows as CSV. Columns of `is_written` have texts that stand there as they are, without quotes. Returns None where
/// something is not written here.
#[pyfunction]
fn csv_rows(py: Python<'_>, columns: Vec<Bound<'_, PyAny>>, is_written: Vec<bool>) -> Option<Vec<u8>> {
    let (texts, rows) = columns_of(&columns, &is_written).ok()?;
    py.detach(|| text::csv(&texts, rows).ok())
}

/// Write each value of an array as JSON text. Returns None where something is not written here.
#[pyfunction]
fn json_texts(array: Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
    let Ok(values) = sound(&array) else { return Ok(None) };
    let py = array.py();
    let texts = py.detach(|| text::values(&values).ok());
    texts.map(|texts| Ok(texts.to_data().to_pyarrow(py)?.unbind())).transpose()
}

#[pymodule]
fn icedive_native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Layout>()?;
    module.add_class::<Cancellation>()?;
    module.add_function(wrap_pyfunction!(decode, module)?)?;
    module.add_function(wrap_pyfunction!(json_rows, module)?)?;
    module.add_function(wrap_pyfunction!(csv_rows, module)?)?;
    module.add_function(wrap_pyfunction!(json_texts, module)?)
}
