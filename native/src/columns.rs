//! The columns that entries are decoded to: values, and at the end the Arrow arrays that they are.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StructArray, make_array, new_null_array};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBufferBuilder};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, Schema};

use crate::cursor::{Cursor, Refused};

/// How a column's values are written in Avro and kept here.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Absent,
    Int,
    Long,
    /// 32 bits that become 64.
    WideInt,
    Float,
    Double,
    Boolean,
    Text,
    Bytes,
    Fixed(usize),
    /// Of so many bytes, big-endian, whose absolute value is below the bound.
    Decimal(usize, i128),
    Ints,
    Longs,
    /// Arrays of pairs: a number, and a number or bytes.
    LongsByInt,
    BytesByInt,
}

enum Values {
    Absent,
    Ints(Vec<i32>),
    Longs(Vec<i64>),
    Floats(Vec<f32>),
    Doubles(Vec<f64>),
    Booleans(BooleanBufferBuilder),
    Decimals(Vec<i128>),
    Bytes(Slices),
    IntLists(Vec<i32>, Vec<i32>),
    LongLists(Vec<i32>, Vec<i64>),
    LongMaps { ends: Vec<i32>, keys: Vec<i32>, values: Vec<i64> },
    BytesMaps { ends: Vec<i32>, keys: Vec<i32>, values: Slices },
}

/// Bytes of all values, and where each ends; the first end is 0.
struct Slices {
    ends: Vec<i32>,
    bytes: Vec<u8>,
}

impl Slices {
    fn new() -> Self {
        Self { ends: vec![0], bytes: Vec::new() }
    }

    #[inline(always)]
    fn push(&mut self, value: &[u8]) -> Result<(), Refused> {
        self.bytes.extend_from_slice(value);
        self.ends.push(end(self.bytes.len())?);
        Ok(())
    }

    fn truncate(&mut self, count: usize) {
        self.ends.truncate(count + 1);
        self.bytes.truncate(self.ends[count] as usize);
    }
}

#[inline(always)]
fn end(length: usize) -> Result<i32, Refused> {
    i32::try_from(length).map_err(|_| Refused::Unsound)
}

pub struct Column {
    kind: Kind,
    values: Values,
    present: NullBufferBuilder,
    /// How many items a list or map may have.
    items: usize,
}

impl Column {
    fn new(kind: &Kind, items: usize) -> Self {
        let values = match kind {
            Kind::Absent => Values::Absent,
            Kind::Int => Values::Ints(Vec::new()),
            Kind::Long | Kind::WideInt => Values::Longs(Vec::new()),
            Kind::Float => Values::Floats(Vec::new()),
            Kind::Double => Values::Doubles(Vec::new()),
            Kind::Boolean => Values::Booleans(BooleanBufferBuilder::new(0)),
            Kind::Decimal(..) => Values::Decimals(Vec::new()),
            Kind::Text | Kind::Bytes | Kind::Fixed(_) => Values::Bytes(Slices::new()),
            Kind::Ints => Values::IntLists(vec![0], Vec::new()),
            Kind::Longs => Values::LongLists(vec![0], Vec::new()),
            Kind::LongsByInt => Values::LongMaps { ends: vec![0], keys: Vec::new(), values: Vec::new() },
            Kind::BytesByInt => Values::BytesMaps { ends: vec![0], keys: Vec::new(), values: Slices::new() },
        };
        Self { kind: kind.clone(), values, present: NullBufferBuilder::new(0), items }
    }

    /// Adds the value at the cursor.
    #[inline(always)]
    pub fn push(&mut self, cursor: &mut Cursor) -> Result<(), Refused> {
        self.present.append_non_null();
        match &mut self.values {
            Values::Absent => return Err(Refused::Unsound),
            Values::Ints(values) => values.push(cursor.int()?),
            Values::Longs(values) if self.kind == Kind::WideInt => values.push(i64::from(cursor.int()?)),
            Values::Longs(values) => values.push(cursor.long()?),
            Values::Floats(values) => values.push(f32::from_le_bytes(array(cursor.take(4)?)?)),
            Values::Doubles(values) => values.push(f64::from_le_bytes(array(cursor.take(8)?)?)),
            Values::Booleans(values) => values.append(cursor.boolean()?),
            Values::Decimals(values) => values.push(decimal(&self.kind, cursor)?),
            Values::Bytes(values) => {
                let bytes = if let Kind::Fixed(size) = self.kind { cursor.take(size)? } else { cursor.bytes()? };
                if self.kind == Kind::Text && std::str::from_utf8(bytes).is_err() {
                    return Err(Refused::Unsound);
                }
                values.push(bytes)?;
            }
            Values::IntLists(ends, values) => {
                each_item(cursor, self.items, |cursor| {
                    values.push(cursor.int()?);
                    Ok(())
                })?;
                ends.push(end(values.len())?);
            }
            Values::LongLists(ends, values) => {
                each_item(cursor, self.items, |cursor| {
                    values.push(cursor.long()?);
                    Ok(())
                })?;
                ends.push(end(values.len())?);
            }
            Values::LongMaps { ends, keys, values } => {
                each_item(cursor, self.items, |cursor| {
                    keys.push(cursor.int()?);
                    values.push(cursor.long()?);
                    Ok(())
                })?;
                ends.push(end(keys.len())?);
            }
            Values::BytesMaps { ends, keys, values } => {
                each_item(cursor, self.items, |cursor| {
                    keys.push(cursor.int()?);
                    values.push(cursor.bytes()?)
                })?;
                ends.push(end(keys.len())?);
            }
        }
        Ok(())
    }

    /// Adds a null.
    #[inline(always)]
    pub fn push_null(&mut self) {
        self.present.append_null();
        match &mut self.values {
            Values::Absent => {}
            Values::Ints(values) => values.push(0),
            Values::Longs(values) => values.push(0),
            Values::Floats(values) => values.push(0.0),
            Values::Doubles(values) => values.push(0.0),
            Values::Booleans(values) => values.append(false),
            Values::Decimals(values) => values.push(0),
            Values::Bytes(Slices { ends, .. })
            | Values::IntLists(ends, _)
            | Values::LongLists(ends, _)
            | Values::LongMaps { ends, .. }
            | Values::BytesMaps { ends, .. } => ends.push(ends[ends.len() - 1]),
        }
    }

    fn truncate(&mut self, rows: usize) {
        self.present.truncate(rows);
        match &mut self.values {
            Values::Absent => {}
            Values::Ints(values) => values.truncate(rows),
            Values::Longs(values) => values.truncate(rows),
            Values::Floats(values) => values.truncate(rows),
            Values::Doubles(values) => values.truncate(rows),
            Values::Booleans(values) => values.truncate(rows),
            Values::Decimals(values) => values.truncate(rows),
            Values::Bytes(values) => values.truncate(rows),
            Values::IntLists(ends, values) => values.truncate(truncate(ends, rows)),
            Values::LongLists(ends, values) => values.truncate(truncate(ends, rows)),
            Values::LongMaps { ends, keys, values } => {
                keys.truncate(truncate(ends, rows));
                values.truncate(keys.len());
            }
            Values::BytesMaps { ends, keys, values } => {
                keys.truncate(truncate(ends, rows));
                values.truncate(keys.len());
            }
        }
    }

    /// The bytes that it takes.
    fn size(&self) -> usize {
        match &self.values {
            Values::Absent => 0,
            Values::Ints(values) => 4 * values.len(),
            Values::Longs(values) => 8 * values.len(),
            Values::Floats(values) => 4 * values.len(),
            Values::Doubles(values) => 8 * values.len(),
            Values::Booleans(values) => values.len() / 8,
            Values::Decimals(values) => 16 * values.len(),
            Values::Bytes(values) => 4 * values.ends.len() + values.bytes.len(),
            Values::IntLists(ends, values) => 4 * (ends.len() + values.len()),
            Values::LongLists(ends, values) => 4 * ends.len() + 8 * values.len(),
            Values::LongMaps { ends, keys, .. } => 4 * ends.len() + 12 * keys.len(),
            Values::BytesMaps { ends, keys, values } => 4 * ends.len() + 8 * keys.len() + values.bytes.len(),
        }
    }

    fn finish(mut self, data_type: &DataType, rows: usize) -> Result<ArrayRef, ArrowError> {
        let data = ArrayData::builder(data_type.clone()).len(rows).nulls(self.present.finish());
        let data = match self.values {
            Values::Absent => return Ok(new_null_array(data_type, rows)),
            Values::Ints(values) => data.add_buffer(buffer(values)),
            Values::Longs(values) => data.add_buffer(buffer(values)),
            Values::Floats(values) => data.add_buffer(buffer(values)),
            Values::Doubles(values) => data.add_buffer(buffer(values)),
            Values::Booleans(mut values) => data.add_buffer(values.finish().into_inner()),
            Values::Decimals(values) => data.add_buffer(buffer(values)),
            Values::Bytes(values) => data.add_buffer(buffer(values.ends)).add_buffer(buffer(values.bytes)),
            Values::IntLists(ends, values) => {
                data.add_buffer(buffer(ends)).add_child_data(primitive(&DataType::Int32, values.len(), buffer(values))?)
            }
            Values::LongLists(ends, values) => {
                data.add_buffer(buffer(ends)).add_child_data(primitive(&DataType::Int64, values.len(), buffer(values))?)
            }
            Values::LongMaps { ends, keys, values } => {
                let values = primitive(&DataType::Int64, values.len(), buffer(values))?;
                data.add_buffer(buffer(ends)).add_child_data(pairs(data_type, keys, values)?)
            }
            Values::BytesMaps { ends, keys, values } => {
                let values = ArrayData::builder(DataType::Binary)
                    .len(keys.len())
                    .add_buffer(buffer(values.ends))
                    .add_buffer(buffer(values.bytes))
                    .build()?;
                data.add_buffer(buffer(ends)).add_child_data(pairs(data_type, keys, values)?)
            }
        };
        Ok(make_array(data.build()?))
    }
}

fn array<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Refused> {
    bytes.try_into().map_err(|_| Refused::Unsound)
}

/// Goes through the items of an array; no more than so many.
#[inline(always)]
fn each_item(
    cursor: &mut Cursor,
    mut most: usize,
    mut item: impl FnMut(&mut Cursor) -> Result<(), Refused>,
) -> Result<(), Refused> {
    loop {
        let count = cursor.items()?;
        if count == 0 {
            return Ok(());
        }
        most = most.checked_sub(count).ok_or(Refused::Unsound)?;
        for _ in 0..count {
            item(cursor)?;
        }
    }
}

fn decimal(kind: &Kind, cursor: &mut Cursor) -> Result<i128, Refused> {
    let Kind::Decimal(size, bound) = *kind else { return Err(Refused::Unsound) };
    let bytes = cursor.take(size)?;
    let sign = if bytes.first().is_some_and(|byte| *byte >= 0x80) { 0xff } else { 0 };
    let mut whole = [sign; 16];
    whole[16 - size..].copy_from_slice(bytes);
    let value = i128::from_be_bytes(whole);
    if value.unsigned_abs() < bound.unsigned_abs() { Ok(value) } else { Err(Refused::Unsound) }
}

/// Keeps so many rows, and returns how many items they have.
fn truncate(ends: &mut Vec<i32>, rows: usize) -> usize {
    ends.truncate(rows + 1);
    ends[rows] as usize
}

fn buffer<T: arrow_buffer::ArrowNativeType>(mut values: Vec<T>) -> Buffer {
    values.shrink_to_fit();
    Buffer::from_vec(values)
}

fn primitive(data_type: &DataType, rows: usize, values: Buffer) -> Result<ArrayData, ArrowError> {
    ArrayData::builder(data_type.clone()).len(rows).add_buffer(values).build()
}

/// The pairs of a map column.
fn pairs(map: &DataType, keys: Vec<i32>, values: ArrayData) -> Result<ArrayData, ArrowError> {
    let DataType::Map(field, _) = map else {
        return Err(ArrowError::SchemaError(format!("{map} is no map")));
    };
    let count = keys.len();
    let keys = primitive(&DataType::Int32, count, buffer(keys))?;
    ArrayData::builder(field.data_type().clone()).len(count).add_child_data(keys).add_child_data(values).build()
}

/// All columns; those of the partition come last.
pub struct Columns {
    pub rows: usize,
    pub all: Vec<Column>,
}

impl Columns {
    /// `items` is how many one list or map may have.
    pub fn new(kinds: &[Kind], items: usize) -> Self {
        Self { rows: 0, all: kinds.iter().map(|kind| Column::new(kind, items)).collect() }
    }

    pub fn truncate(&mut self, rows: usize) {
        self.rows = rows;
        for column in &mut self.all {
            if column.kind != Kind::Absent {
                column.truncate(rows);
            }
        }
    }

    pub fn size(&self) -> usize {
        self.all.iter().map(Column::size).sum()
    }

    /// The batch of a schema whose last field is the struct of the partition.
    pub fn finish(self, schema: &Arc<Schema>) -> Result<RecordBatch, ArrowError> {
        let Some((partition, fields)) = schema.fields().split_last() else {
            return Err(ArrowError::SchemaError("no fields".into()));
        };
        let DataType::Struct(inner) = partition.data_type() else {
            return Err(ArrowError::SchemaError("the partition is no struct".into()));
        };
        let rows = self.rows;
        let mut columns = self.all.into_iter();
        let mut next = |field: &Arc<Field>| match columns.next() {
            Some(column) => column.finish(field.data_type(), rows),
            None => Err(ArrowError::SchemaError("too few columns".into())),
        };
        let mut arrays = fields.iter().map(&mut next).collect::<Result<Vec<_>, _>>()?;
        let parts = inner.iter().map(next).collect::<Result<Vec<_>, _>>()?;
        arrays.push(Arc::new(StructArray::try_new_with_length(inner.clone(), parts, None, rows)?));
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options)
    }
}
