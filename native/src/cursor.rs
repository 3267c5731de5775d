//! Reads Avro's primitives (Avro spec 1.11, "Binary Encoding").

/// Why something was not decoded.
#[derive(Debug, PartialEq, Clone, Copy)]
pub enum Refused {
    /// The bytes are not what the schema says, or beyond a limit.
    Unsound,
    Cancelled,
}

/// A place in bytes.
pub struct Cursor<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0 }
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.data.len()
    }

    pub fn at(&self) -> usize {
        self.at
    }

    #[inline(always)]
    pub fn long(&mut self) -> Result<i64, Refused> {
        let byte = *self.data.get(self.at).ok_or(Refused::Unsound)?;
        self.at += 1;
        let value = if byte < 0x80 { u64::from(byte) } else { self.rest_of_long(byte)? };
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn rest_of_long(&mut self, first: u8) -> Result<u64, Refused> {
        let mut value = u64::from(first & 0x7f);
        let mut shift = 7;
        loop {
            let byte = *self.data.get(self.at).ok_or(Refused::Unsound)?;
            self.at += 1;
            if shift == 63 && byte > 1 {
                return Err(Refused::Unsound); // beyond 64 bits
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
            shift += 7;
        }
    }

    #[inline(always)]
    pub fn skip_long(&mut self) -> Result<(), Refused> {
        loop {
            let byte = *self.data.get(self.at).ok_or(Refused::Unsound)?;
            self.at += 1;
            if byte < 0x80 {
                return Ok(());
            }
        }
    }

    /// Passes over so many numbers, eight bytes at a time: each number ends with a byte below 0x80.
    #[inline(always)]
    pub fn skip_longs(&mut self, mut count: usize) -> Result<(), Refused> {
        while count > 0 {
            let Some(bytes) = self.data.get(self.at..).and_then(|rest| rest.first_chunk::<8>()) else {
                for _ in 0..count {
                    self.skip_long()?;
                }
                return Ok(());
            };
            let mut ends = !u64::from_le_bytes(*bytes) & 0x8080_8080_8080_8080;
            let here = ends.count_ones() as usize;
            if here < count {
                count -= here;
                self.at += 8;
            } else {
                for _ in 1..count {
                    ends &= ends - 1;
                }
                self.at += ends.trailing_zeros() as usize / 8 + 1;
                return Ok(());
            }
        }
        Ok(())
    }

    #[inline(always)]
    pub fn int(&mut self) -> Result<i32, Refused> {
        i32::try_from(self.long()?).map_err(|_| Refused::Unsound)
    }

    /// A length of bytes that must be there.
    #[inline(always)]
    pub fn bytes(&mut self) -> Result<&'a [u8], Refused> {
        let length = usize::try_from(self.long()?).map_err(|_| Refused::Unsound)?;
        self.take(length)
    }

    #[inline(always)]
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Refused> {
        let end = self.at.checked_add(length).ok_or(Refused::Unsound)?;
        let bytes = self.data.get(self.at..end).ok_or(Refused::Unsound)?;
        self.at = end;
        Ok(bytes)
    }

    #[inline(always)]
    pub fn boolean(&mut self) -> Result<bool, Refused> {
        match self.take(1)? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(Refused::Unsound),
        }
    }

    /// Which of so many branches a union takes.
    #[inline(always)]
    pub fn branch(&mut self, branches: usize) -> Result<usize, Refused> {
        let branch = usize::try_from(self.long()?).map_err(|_| Refused::Unsound)?;
        if branch < branches { Ok(branch) } else { Err(Refused::Unsound) }
    }

    /// How many items of an array or map follow before the next such number; 0 at its end.
    #[inline(always)]
    pub fn items(&mut self) -> Result<usize, Refused> {
        let mut count = self.long()?;
        if count < 0 {
            count = count.checked_neg().ok_or(Refused::Unsound)?;
            self.long()?; // the size of these items in bytes
        }
        let count = usize::try_from(count).map_err(|_| Refused::Unsound)?;
        // an item takes a byte at least
        if count > self.data.len() - self.at { Err(Refused::Unsound) } else { Ok(count) }
    }
}
