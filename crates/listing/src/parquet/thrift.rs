//! Thrift's compact protocol, in which the metadata of Parquet files are written.

/// Types of fields and elements.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const I8: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// The deepest nesting that is read; Parquet needs seven levels.
const DEPTH_LIMIT: u32 = 16;

/// Writes a struct.
#[derive(Debug, Default)]
pub(super) struct Fields {
    bytes: Vec<u8>,
    last: i16,
}

impl Fields {
    /// The bytes of the finished struct.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    fn header(&mut self, id: i16, kind: u8) {
        let step = id - self.last;
        debug_assert!((1..=15).contains(&step), "fields are written in order");
        self.bytes.push((step as u8) << 4 | kind);
        self.last = id;
    }

    pub(super) fn bool(&mut self, id: i16, value: bool) {
        self.header(id, if value { TRUE } else { FALSE });
    }

    pub(super) fn i8(&mut self, id: i16, value: i8) {
        self.header(id, I8);
        self.bytes.push(value as u8);
    }

    pub(super) fn i32(&mut self, id: i16, value: i32) {
        self.header(id, I32);
        append_zigzag(value.into(), &mut self.bytes);
    }

    pub(super) fn i64(&mut self, id: i16, value: i64) {
        self.header(id, I64);
        append_zigzag(value, &mut self.bytes);
    }

    pub(super) fn binary(&mut self, id: i16, value: &[u8]) {
        self.header(id, BINARY);
        append_varint(value.len() as u64, &mut self.bytes);
        self.bytes.extend_from_slice(value);
    }

    pub(super) fn fields(&mut self, id: i16, value: Fields) {
        self.header(id, STRUCT);
        self.bytes.extend(value.finish());
    }

    pub(super) fn structs(&mut self, id: i16, values: impl ExactSizeIterator<Item = Fields>) {
        self.list(id, STRUCT, values.len());
        for value in values {
            self.bytes.extend(value.finish());
        }
    }

    pub(super) fn i32s(&mut self, id: i16, values: &[i32]) {
        self.list(id, I32, values.len());
        for value in values {
            append_zigzag((*value).into(), &mut self.bytes);
        }
    }

    pub(super) fn binaries(&mut self, id: i16, values: &[&[u8]]) {
        self.list(id, BINARY, values.len());
        for value in values {
            append_varint(value.len() as u64, &mut self.bytes);
            self.bytes.extend_from_slice(value);
        }
    }

    fn list(&mut self, id: i16, kind: u8, count: usize) {
        self.header(id, LIST);
        if count < 15 {
            self.bytes.push((count as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            append_varint(count as u64, &mut self.bytes);
        }
    }
}

pub(super) fn append_varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

pub(super) fn append_zigzag(value: i64, bytes: &mut Vec<u8>) {
    append_varint((value << 1 ^ value >> 63) as u64, bytes);
}

/// A value that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value<'b> {
    Bool(bool),
    Integer(i64),
    Binary(&'b [u8]),
    List(Vec<Value<'b>>),
    Struct(Vec<(i16, Value<'b>)>),
}

impl<'b> Value<'b> {
    pub(super) fn field(&self, id: i16) -> Option<&Value<'b>> {
        match self {
            Value::Struct(fields) => {
                let found = fields.iter().find(|(other, _)| *other == id);
                found.map(|(_, value)| value)
            }
            _ => None,
        }
    }

    pub(super) fn integer(&self, id: i16) -> Option<i64> {
        match self.field(id)? {
            Value::Integer(value) => Some(*value),
            _ => None,
        }
    }

    /// A field that is a count or a size.
    pub(super) fn size(&self, id: i16) -> Option<usize> {
        usize::try_from(self.integer(id)?).ok()
    }

    pub(super) fn binary(&self, id: i16) -> Option<&'b [u8]> {
        match self.field(id)? {
            Value::Binary(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn list(&self, id: i16) -> Option<&[Value<'b>]> {
        match self.field(id)? {
            Value::List(values) => Some(values),
            _ => None,
        }
    }
}

/// Reads values; `None` if the bytes are malformed.
#[derive(Clone, Debug)]
pub(super) struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// Number of bytes not read.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn rest(&self) -> &'b [u8] {
        self.rest
    }

    /// Reads a struct.
    pub(super) fn fields(&mut self) -> Option<Value<'b>> {
        self.structure(DEPTH_LIMIT)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    pub(super) fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    pub(super) fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn structure(&mut self, depth: u32) -> Option<Value<'b>> {
        let depth = depth.checked_sub(1)?;
        let mut fields = Vec::new();
        let mut last = 0i16;
        loop {
            let header = self.byte()?;
            if header == 0 {
                return Some(Value::Struct(fields));
            }
            let id = match header >> 4 {
                0 => i16::try_from(self.zigzag()?).ok()?,
                step => last.checked_add(step.into())?,
            };
            last = id;
            let value = match header & 0xf {
                TRUE => Value::Bool(true),
                FALSE => Value::Bool(false),
                kind => self.value(kind, depth)?,
            };
            fields.push((id, value));
        }
    }

    fn value(&mut self, kind: u8, depth: u32) -> Option<Value<'b>> {
        Some(match kind {
            TRUE | FALSE => Value::Bool(self.byte()? == TRUE),
            I8 => Value::Integer((self.byte()? as i8).into()),
            I16 | I32 | I64 => Value::Integer(self.zigzag()?),
            BINARY => {
                let length = usize::try_from(self.varint()?).ok()?;
                Value::Binary(self.take(length)?)
            }
            LIST => self.values(depth)?,
            STRUCT => self.structure(depth)?,
            _ => return None,
        })
    }

    /// Each element takes at least a byte, so a wrong count ends early.
    fn values(&mut self, depth: u32) -> Option<Value<'b>> {
        let depth = depth.checked_sub(1)?;
        let header = self.byte()?;
        let count = match header >> 4 {
            15 => self.varint()?,
            count => count.into(),
        };
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(self.value(header & 0xf, depth)?);
        }
        Some(Value::List(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let mut inner = Fields::default();
        inner.i8(1, -3);
        inner.bool(2, true);
        let mut fields = Fields::default();
        fields.i32(1, -1);
        fields.i64(5, i64::MIN);
        fields.binary(6, b"abc");
        fields.i32s(8, &[7; 20]);
        fields.fields(9, inner);
        fields.binaries(10, &[b"x", b""]);
        fields.i32(12, 300);
        let bytes = fields.finish();
        let mut reader = Reader::new(&bytes);
        let read = reader.fields().unwrap();
        assert_eq!(reader.left(), 0);
        assert_eq!(read.integer(1), Some(-1));
        assert_eq!(read.integer(5), Some(i64::MIN));
        assert_eq!(read.binary(6), Some(&b"abc"[..]));
        assert_eq!(read.list(8).unwrap(), vec![Value::Integer(7); 20]);
        assert_eq!(read.field(9).unwrap().integer(1), Some(-3));
        assert_eq!(read.field(9).unwrap().field(2), Some(&Value::Bool(true)));
        assert_eq!(read.list(10).unwrap().len(), 2);
        assert_eq!(read.size(12), Some(300));
        assert_eq!(read.size(1), None);
        for end in 0..bytes.len() {
            assert_eq!(Reader::new(&bytes[..end]).fields(), None);
        }
        // Nested deeper than anything in a Parquet file.
        assert_eq!(Reader::new(&[0x1c; 1000]).fields(), None);
    }
}
