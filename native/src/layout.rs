//! What of a writer's schema goes into which column.

use std::sync::Arc;

use arrow_pyarrow::PyArrowType;
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::columns::{Columns, Kind};
use crate::cursor::{Cursor, Refused};

/// A type of a writer's schema, whose names are resolved.
#[derive(Debug, PartialEq)]
enum Type {
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    Text,
    Null,
    Fixed(usize),
    Array(Box<Type>),
    Map(Box<Type>),
    Union(Vec<Type>),
    Record(Vec<Type>),
}

const DEEPEST: usize = 40;

fn unsupported(what: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("not decoded here: {what}"))
}

/// A type is a word, or a tuple of a word and what it is made of.
fn read_type(node: &Bound<'_, PyAny>, depth: usize) -> PyResult<Type> {
    if depth > DEEPEST {
        return Err(unsupported("it nests too deep"));
    }
    if let Ok(word) = node.cast::<PyString>() {
        return Ok(match word.to_cow()?.as_ref() {
            "boolean" => Type::Boolean,
            "int" => Type::Int,
            "long" => Type::Long,
            "float" => Type::Float,
            "double" => Type::Double,
            "bytes" => Type::Bytes,
            "string" => Type::Text,
            "null" => Type::Null,
            other => return Err(unsupported(other)),
        });
    }
    let (word, inner): (String, Bound<'_, PyAny>) = node.cast::<PyTuple>()?.extract()?;
    let many = || -> PyResult<Vec<Type>> { inner.try_iter()?.map(|node| read_type(&node?, depth + 1)).collect() };
    Ok(match word.as_str() {
        "fixed" => Type::Fixed(inner.extract()?),
        "array" => Type::Array(Box::new(read_type(&inner, depth + 1)?)),
        "map" => Type::Map(Box::new(read_type(&inner, depth + 1)?)),
        "union" => Type::Union(many()?),
        "record" => Type::Record(many()?),
        other => return Err(unsupported(other)),
    })
}

impl Type {
    fn skip(&self, cursor: &mut Cursor) -> Result<(), Refused> {
        match self {
            Type::Null => {}
            Type::Boolean => drop(cursor.boolean()?),
            Type::Int | Type::Long => cursor.skip_long()?,
            Type::Float => drop(cursor.take(4)?),
            Type::Double => drop(cursor.take(8)?),
            Type::Bytes => drop(cursor.bytes()?),
            Type::Text => drop(std::str::from_utf8(cursor.bytes()?).map_err(|_| Refused::Unsound)?),
            Type::Fixed(size) => drop(cursor.take(*size)?),
            Type::Array(item) => match item.as_ref() {
                Type::Record(fields) => match fields.as_slice() {
                    [Type::Int | Type::Long, Type::Int | Type::Long] => loop {
                        match cursor.items()? {
                            0 => break,
                            count => cursor.skip_longs(2 * count)?,
                        }
                    },
                    [Type::Int | Type::Long, Type::Bytes] => skip_items(cursor, |cursor| {
                        cursor.skip_long()?;
                        cursor.bytes().map(drop)
                    })?,
                    _ => skip_items(cursor, |cursor| item.skip(cursor))?,
                },
                _ => skip_items(cursor, |cursor| item.skip(cursor))?,
            },
            Type::Map(item) => skip_items(cursor, |cursor| {
                Type::Text.skip(cursor)?;
                item.skip(cursor)
            })?,
            Type::Union(branches) => {
                let branch = cursor.branch(branches.len())?;
                branches[branch].skip(cursor)?;
            }
            Type::Record(fields) => {
                for field in fields {
                    field.skip(cursor)?;
                }
            }
        }
        Ok(())
    }

    /// How a column of a type holds this one; nothing where it does not.
    fn kind(&self, data_type: &DataType) -> Option<Kind> {
        Some(match (self, data_type) {
            (Type::Int | Type::Long, DataType::Int32 | DataType::Date32) => Kind::Int,
            (Type::Int, DataType::Int64) => Kind::WideInt,
            (Type::Long, DataType::Int64 | DataType::Timestamp(..) | DataType::Time64(_)) => Kind::Long,
            (Type::Float, DataType::Float32) => Kind::Float,
            (Type::Double, DataType::Float64) => Kind::Double,
            (Type::Boolean, DataType::Boolean) => Kind::Boolean,
            (Type::Text, DataType::Utf8) => Kind::Text,
            (Type::Bytes, DataType::Binary) => Kind::Bytes,
            (Type::Fixed(size), DataType::Binary) => Kind::Fixed(*size),
            (Type::Fixed(size @ 1..=16), DataType::Decimal128(precision, _)) => {
                Kind::Decimal(*size, 10i128.checked_pow(u32::from(*precision))?)
            }
            (Type::Array(item), DataType::List(field)) => match (item.as_ref(), field.data_type()) {
                (Type::Int | Type::Long, DataType::Int32) => Kind::Ints,
                (Type::Long, DataType::Int64) => Kind::Longs,
                _ => return None,
            },
            (Type::Array(item), DataType::Map(pairs, _)) => {
                let Type::Record(written) = item.as_ref() else { return None };
                let DataType::Struct(wanted) = pairs.data_type() else { return None };
                let wanted: Vec<&DataType> = wanted.iter().map(|field| field.data_type()).collect();
                match (written.as_slice(), wanted.as_slice()) {
                    ([Type::Int | Type::Long, Type::Long], [DataType::Int32, DataType::Int64]) => {
                        Kind::LongsByInt
                    }
                    ([Type::Int | Type::Long, Type::Bytes], [DataType::Int32, DataType::Binary]) => Kind::BytesByInt,
                    _ => return None,
                }
            }
            _ => return None,
        })
    }
}

#[inline(always)]
fn skip_items(cursor: &mut Cursor, mut skip: impl FnMut(&mut Cursor) -> Result<(), Refused>) -> Result<(), Refused> {
    loop {
        let count = cursor.items()?;
        if count == 0 {
            return Ok(());
        }
        for _ in 0..count {
            skip(cursor)?;
        }
    }
}

/// What is done with a field of the writer's.
enum Step {
    Skip(Type),
    Take(usize),
    /// A column, and the branch of its union that is null.
    TakeOptional(usize, usize),
}

/// How the entries of one writer's schema are decoded to columns of an Arrow schema.
#[pyclass(frozen)]
pub struct Layout {
    pub schema: Arc<Schema>,
    pub kinds: Vec<Kind>,
    /// The fewest bytes of an entry.
    pub least: usize,
    steps: Vec<Step>,
}

#[pymethods]
impl Layout {
    /// `schema` ends with `partition`, a struct. `fields` are the writer's, in order: its type, and the place of its
    /// column, -1 where it is not wanted; columns of the partition follow those before it. Raises ValueError where
    /// something is not decoded here.
    #[new]
    fn new(schema: PyArrowType<Schema>, fields: Vec<(Bound<'_, PyAny>, i64)>, least: usize) -> PyResult<Self> {
        let schema = Arc::new(schema.0);
        let Some((partition, before)) = schema.fields().split_last() else {
            return Err(unsupported("a schema without fields"));
        };
        let DataType::Struct(inner) = partition.data_type() else {
            return Err(unsupported("a partition that is no struct"));
        };
        let wanted: Vec<&Arc<Field>> = before.iter().chain(inner.iter()).collect();
        let mut kinds = vec![Kind::Absent; wanted.len()];
        let mut steps = Vec::with_capacity(fields.len());
        for (node, place) in fields {
            let written = read_type(&node, 0)?;
            let Ok(place) = usize::try_from(place) else {
                steps.push(Step::Skip(written));
                continue;
            };
            let field = wanted.get(place).ok_or_else(|| unsupported("a column that is not there"))?;
            let null = match &written {
                Type::Union(branches) if branches.len() == 2 => branches.iter().position(|branch| *branch == Type::Null),
                _ => None,
            };
            let value = match (&written, null) {
                (Type::Union(branches), Some(null)) => &branches[1 - null],
                _ => &written,
            };
            let kind = value.kind(field.data_type()).ok_or_else(|| unsupported(format!("{written:?} as {field}")))?;
            if kinds[place] != Kind::Absent {
                return Err(unsupported("two fields of one column"));
            }
            kinds[place] = kind;
            steps.push(null.map_or(Step::Take(place), |null| Step::TakeOptional(place, null)));
        }
        Ok(Self { schema, kinds, least: least.max(1), steps })
    }
}

impl Layout {
    /// Decodes the records of a block, which must fill it.
    pub fn decode(&self, block: &[u8], count: usize, columns: &mut Columns) -> Result<(), Refused> {
        let mut cursor = Cursor::new(block);
        for _ in 0..count {
            for step in &self.steps {
                match step {
                    Step::Skip(written) => written.skip(&mut cursor)?,
                    Step::Take(place) => columns.all[*place].push(&mut cursor)?,
                    Step::TakeOptional(place, null) => {
                        if cursor.branch(2)? == *null {
                            columns.all[*place].push_null();
                        } else {
                            columns.all[*place].push(&mut cursor)?;
                        }
                    }
                }
            }
        }
        if !cursor.is_at_end() {
            return Err(Refused::Unsound);
        }
        columns.rows += count;
        Ok(())
    }
}
