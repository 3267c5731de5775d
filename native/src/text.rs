//! Writes Arrow values as JSON text.
//!
//! It writes numbers, plain text, bytes, and what is made of them. Of anything else it says that it does not, and the
//! caller's slower code writes it. So nothing here needs to know how a time is shown, or a character escaped.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray, PrimitiveArray, StringArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::DataType;

/// Something that is not written here.
#[derive(Debug)]
pub struct NotWritten;

type Written = Result<(), NotWritten>;

const DEEPEST: usize = 40;

/// The values of an array, and how each is written.
pub struct Texts {
    nulls: Option<NullBuffer>,
    kind: Kind,
}

enum Kind {
    /// Text that is written as it is.
    Written(StringArray),
    Text(StringArray),
    Bytes(BinaryArray),
    Boolean(BooleanArray),
    Number(Box<dyn Fn(usize, &mut Vec<u8>) + Send + Sync>),
    List(OffsetBuffer<i32>, Box<Texts>),
    Struct(Vec<(Vec<u8>, Texts)>),
    Map(OffsetBuffer<i32>, Keys, Box<Texts>),
    /// The place of each value among these texts.
    Dictionary(PrimitiveArray<Int32Type>, Vec<Vec<u8>>),
}

enum Keys {
    Numbers(PrimitiveArray<Int32Type>),
    Text(StringArray),
}

fn number<T: ArrowPrimitiveType>(array: &ArrayRef) -> Kind
where
    T::Native: itoa::Integer,
{
    let values = array.as_primitive::<T>().values().clone();
    Kind::Number(Box::new(move |at, out| out.extend_from_slice(itoa::Buffer::new().format(values[at]).as_bytes())))
}

/// Whether JSON has a text as it is: printable ASCII without quotes and backslashes.
fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b' '..=b'~') & !matches!(byte, b'"' | b'\\'))
}

fn quote(text: &str, out: &mut Vec<u8>) -> Written {
    if !is_plain(text.as_bytes()) {
        return Err(NotWritten);
    }
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
    Ok(())
}

impl Texts {
    pub fn of(array: &ArrayRef) -> Result<Self, NotWritten> {
        Self::within(array, 0)
    }

    /// Of texts that are written as they are.
    pub fn of_written(array: &ArrayRef) -> Result<Self, NotWritten> {
        Ok(Self { nulls: array.nulls().cloned(), kind: Kind::Written(array.as_string_opt::<i32>().ok_or(NotWritten)?.clone()) })
    }

    fn within(array: &ArrayRef, depth: usize) -> Result<Self, NotWritten> {
        if depth > DEEPEST {
            return Err(NotWritten);
        }
        let inner = |array: &ArrayRef| Self::within(array, depth + 1);
        let kind = match array.data_type() {
            DataType::Boolean => Kind::Boolean(array.as_boolean().clone()),
            DataType::Int8 => number::<Int8Type>(array),
            DataType::Int16 => number::<Int16Type>(array),
            DataType::Int32 => number::<Int32Type>(array),
            DataType::Int64 => number::<Int64Type>(array),
            DataType::UInt8 => number::<UInt8Type>(array),
            DataType::UInt16 => number::<UInt16Type>(array),
            DataType::UInt32 => number::<UInt32Type>(array),
            DataType::UInt64 => number::<UInt64Type>(array),
            DataType::Utf8 => Kind::Text(array.as_string::<i32>().clone()),
            DataType::Binary => Kind::Bytes(array.as_binary::<i32>().clone()),
            DataType::List(_) => {
                let lists = array.as_list::<i32>();
                Kind::List(lists.offsets().clone(), Box::new(inner(lists.values())?))
            }
            DataType::Struct(fields) => {
                let mut parts: Vec<(Vec<u8>, Self)> = Vec::with_capacity(fields.len());
                for (field, column) in fields.iter().zip(array.as_struct().columns()) {
                    let mut name = if parts.is_empty() { vec![] } else { b", ".to_vec() };
                    quote(field.name(), &mut name)?;
                    name.extend_from_slice(b": ");
                    parts.push((name, inner(column)?));
                }
                if fields.iter().enumerate().any(|(at, field)| fields.iter().skip(at + 1).any(|f| f.name() == field.name()))
                {
                    return Err(NotWritten);
                }
                Kind::Struct(parts)
            }
            DataType::Map(..) => {
                let maps = array.as_map();
                let keys = if let Some(keys) = maps.keys().as_primitive_opt::<Int32Type>() {
                    Keys::Numbers(keys.clone())
                } else {
                    Keys::Text(maps.keys().as_string_opt::<i32>().ok_or(NotWritten)?.clone())
                };
                Kind::Map(maps.offsets().clone(), keys, Box::new(inner(maps.values())?))
            }
            DataType::Dictionary(key, _) if **key == DataType::Int32 => {
                let dictionary = array.as_dictionary::<Int32Type>();
                let values = inner(dictionary.values())?;
                let mut texts = Vec::with_capacity(dictionary.values().len());
                for at in 0..dictionary.values().len() {
                    let mut text = vec![];
                    values.write(at, &mut text)?;
                    texts.push(text);
                }
                Kind::Dictionary(dictionary.keys().clone(), texts)
            }
            _ => return Err(NotWritten),
        };
        Ok(Self { nulls: array.nulls().cloned(), kind })
    }

    /// Writes the value of a row as CSV has it; `json` is room for that of what is nested.
    fn write_cell(&self, at: usize, out: &mut Vec<u8>, json: &mut Vec<u8>) -> Written {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(at)) {
            return Ok(());
        }
        match &self.kind {
            Kind::Written(_) | Kind::Boolean(_) | Kind::Number(_) => self.write(at, out)?,
            Kind::Text(values) => quote_cell(values.value(at).as_bytes(), out),
            Kind::List(..) | Kind::Struct(_) | Kind::Map(..) => {
                json.clear();
                self.write(at, json)?;
                quote_cell(json, out);
            }
            Kind::Bytes(_) | Kind::Dictionary(..) => return Err(NotWritten),
        }
        Ok(())
    }

    /// Writes the value of a row.
    pub fn write(&self, at: usize, out: &mut Vec<u8>) -> Written {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(at)) {
            out.extend_from_slice(b"null");
            return Ok(());
        }
        match &self.kind {
            Kind::Written(values) => out.extend_from_slice(values.value(at).as_bytes()),
            Kind::Text(values) => quote(values.value(at), out)?,
            Kind::Bytes(values) => {
                const DIGITS: &[u8; 16] = b"0123456789abcdef";
                out.extend_from_slice(b"\"0x");
                out.extend(values.value(at).iter().flat_map(|byte| {
                    [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]
                }));
                out.push(b'"');
            }
            Kind::Boolean(values) => out.extend_from_slice(if values.value(at) { b"true" } else { b"false" }),
            Kind::Number(write) => write(at, out),
            Kind::List(offsets, values) => {
                out.push(b'[');
                let (first, end) = (offsets[at] as usize, offsets[at + 1] as usize);
                for item in first..end {
                    if item > first {
                        out.extend_from_slice(b", ");
                    }
                    values.write(item, out)?;
                }
                out.push(b']');
            }
            Kind::Struct(parts) => {
                out.push(b'{');
                for (name, values) in parts {
                    out.extend_from_slice(name);
                    values.write(at, out)?;
                }
                out.push(b'}');
            }
            Kind::Map(offsets, keys, values) => {
                out.push(b'{');
                let (first, end) = (offsets[at] as usize, offsets[at + 1] as usize);
                for item in first..end {
                    if item > first {
                        out.extend_from_slice(b", ");
                    }
                    match keys {
                        // of two entries with one key, a Python dictionary has the last
                        Keys::Numbers(keys) if item > first && keys.value(item) <= keys.value(item - 1) => {
                            return Err(NotWritten);
                        }
                        Keys::Text(keys) if item > first && keys.value(item) <= keys.value(item - 1) => {
                            return Err(NotWritten);
                        }
                        Keys::Numbers(keys) => {
                            out.push(b'"');
                            out.extend_from_slice(itoa::Buffer::new().format(keys.value(item)).as_bytes());
                            out.extend_from_slice(b"\": ");
                        }
                        Keys::Text(keys) => {
                            quote(keys.value(item), out)?;
                            out.extend_from_slice(b": ");
                        }
                    }
                    values.write(item, out)?;
                }
                out.push(b'}');
            }
            Kind::Dictionary(places, texts) => {
                let place = usize::try_from(places.value(at)).map_err(|_| NotWritten)?;
                out.extend_from_slice(texts.get(place).ok_or(NotWritten)?);
            }
        }
        Ok(())
    }
}

/// Rows as objects: before each column's value stands its piece of text, and after each row the end.
pub fn rows(pieces: &[String], columns: &[Texts], rows: usize, end: &str) -> Result<Vec<u8>, NotWritten> {
    let mut out = Vec::new();
    for at in 0..rows {
        for (piece, column) in pieces.iter().zip(columns) {
            out.extend_from_slice(piece.as_bytes());
            column.write(at, &mut out)?;
        }
        out.extend_from_slice(end.as_bytes());
    }
    Ok(out)
}

/// Rows of CSV. Texts stand in quotes, and so does the JSON of what is nested; of a null there is nothing.
pub fn csv(columns: &[Texts], rows: usize) -> Result<Vec<u8>, NotWritten> {
    let (mut out, mut json) = (Vec::new(), Vec::new());
    for at in 0..rows {
        for (place, column) in columns.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            column.write_cell(at, &mut out, &mut json)?;
        }
        out.push(b'\n');
    }
    Ok(out)
}

/// In quotes, each of its own twice.
fn quote_cell(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for (place, part) in text.split(|byte| *byte == b'"').enumerate() {
        if place > 0 {
            out.extend_from_slice(b"\"\"");
        }
        out.extend_from_slice(part);
    }
    out.push(b'"');
}

/// The text of each value.
pub fn values(array: &ArrayRef) -> Result<StringArray, NotWritten> {
    let texts = Texts::of(array)?;
    let mut out = Vec::new();
    let mut ends = Vec::with_capacity(array.len() + 1);
    ends.push(0);
    for at in 0..array.len() {
        texts.write(at, &mut out)?;
        ends.push(i32::try_from(out.len()).map_err(|_| NotWritten)?);
    }
    StringArray::try_new(OffsetBuffer::new(ends.into()), out.into(), None).map_err(|_| NotWritten)
}
