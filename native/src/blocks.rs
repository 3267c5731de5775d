//! Blocks of an Avro file (Avro spec 1.11, "Object Container Files") and what they unpack to.

use libdeflater::{DecompressionError, Decompressor};
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

use crate::cursor::{Cursor, Refused};

/// Snappy's densest element writes 64 bytes from 3.
const SNAPPY_RATIO: usize = 32;
const PIECE: usize = 64 << 10;

/// The block that starts at a byte: how many records it claims, its packed bytes, and where the next one starts.
pub fn frame<'a>(data: &'a [u8], at: usize, sync: &[u8]) -> Result<(usize, &'a [u8], usize), Refused> {
    let mut cursor = Cursor::new(data.get(at..).ok_or(Refused::Unsound)?);
    let count = usize::try_from(cursor.long()?).map_err(|_| Refused::Unsound)?;
    let packed = cursor.bytes()?;
    if cursor.take(16)? != sync {
        return Err(Refused::Unsound);
    }
    Ok((count, packed, at + cursor.at()))
}

/// Unpacks blocks, one after the other, into the same memory. What follows the end of packed bytes is passed over, as
/// other decoders do.
#[derive(Default)]
pub struct Blocks {
    unpacked: Vec<u8>,
    /// What the last block was inflated to, and what is left of those before it.
    inflated: Vec<u8>,
    inflate: Decompressor,
    zstd: Option<Decoder<'static>>,
    snappy: snap::raw::Decoder,
}

impl Blocks {
    /// A block's bytes; no more than `room`.
    pub fn unpack<'a>(&'a mut self, codec: &str, packed: &'a [u8], room: usize) -> Result<&'a [u8], Refused> {
        match codec {
            "null" => {
                return if packed.len() <= room { Ok(packed) } else { Err(Refused::Unsound) };
            }
            "deflate" => return self.inflate(packed, room),
            "zstandard" => self.unpack_zstd(packed, room)?,
            "snappy" => self.unpack_snappy(packed, room)?,
            _ => return Err(Refused::Unsound),
        }
        Ok(&self.unpacked)
    }

    /// Makes room for more; the memory follows what was unpacked, not what a file claims.
    fn grow(&mut self, room: usize) -> Result<(), Refused> {
        if self.unpacked.len() >= room {
            return Err(Refused::Unsound);
        }
        if self.unpacked.len() == self.unpacked.capacity() {
            let more = self.unpacked.len().max(PIECE).min(room - self.unpacked.len());
            self.unpacked.reserve_exact(more);
        }
        Ok(())
    }

    /// What it unpacks to is known when it is done: the room that is tried is doubled until it is enough, so that memory
    /// follows what is unpacked here too.
    fn inflate(&mut self, packed: &[u8], room: usize) -> Result<&[u8], Refused> {
        let mut size = self.inflated.len().max(PIECE).min(room);
        loop {
            if self.inflated.len() < size {
                self.inflated.resize(size, 0);
            }
            match self.inflate.deflate_decompress(packed, &mut self.inflated[..size]) {
                Ok(length) => return Ok(&self.inflated[..length]),
                Err(DecompressionError::InsufficientSpace) if size < room => size = size.saturating_mul(2).min(room),
                Err(_) => return Err(Refused::Unsound),
            }
        }
    }

    fn unpack_zstd(&mut self, packed: &[u8], room: usize) -> Result<(), Refused> {
        self.unpacked.clear();
        let mut decoder = match self.zstd.take() {
            Some(decoder) => decoder,
            None => Decoder::new().map_err(|_| Refused::Unsound)?,
        };
        decoder.reinit().map_err(|_| Refused::Unsound)?;
        let mut input = InBuffer::around(packed);
        loop {
            self.grow(room)?;
            let (before, done) = (self.unpacked.len(), input.pos());
            let mut output = OutBuffer::around_pos(&mut self.unpacked, before);
            let hint = decoder.run(&mut input, &mut output).map_err(|_| Refused::Unsound)?;
            if hint == 0 {
                break; // the end of the frame
            }
            if self.unpacked.len() == before && input.pos() == done {
                return Err(Refused::Unsound); // cut off
            }
        }
        self.zstd = Some(decoder);
        if self.unpacked.len() <= room { Ok(()) } else { Err(Refused::Unsound) }
    }

    /// Avro adds a CRC of four bytes to raw snappy.
    fn unpack_snappy(&mut self, packed: &[u8], room: usize) -> Result<(), Refused> {
        self.unpacked.clear();
        let (packed, sum) = packed.split_last_chunk::<4>().ok_or(Refused::Unsound)?;
        let size = snap::raw::decompress_len(packed).map_err(|_| Refused::Unsound)?;
        if size > room || size > SNAPPY_RATIO * (packed.len() + 4) {
            return Err(Refused::Unsound);
        }
        self.unpacked.resize(size, 0);
        let written = self.snappy.decompress(packed, &mut self.unpacked).map_err(|_| Refused::Unsound)?;
        if written != size || crc32fast::hash(&self.unpacked) != u32::from_be_bytes(*sum) {
            return Err(Refused::Unsound);
        }
        Ok(())
    }
}
