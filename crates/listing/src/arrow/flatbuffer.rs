//! Flatbuffers, in which the messages of Arrow are written: tables, vectors and strings, each
//! before what it refers to. They are built from the end.

/// A buffer being built. Places in it are counted from its end.
#[derive(Debug, Default)]
pub(super) struct Builder {
    /// The bytes, the last one first.
    reversed: Vec<u8>,
}

/// Where an object starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place(usize);

/// The value of a field of a table.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    U8(u8),
    I16(i16),
    I32(i32),
    I64(i64),
    At(Place),
}

impl Builder {
    /// The bytes of the finished buffer, a multiple of eight, with this root.
    pub(super) fn finish(mut self, root: Place) -> Vec<u8> {
        self.align(8, 4);
        self.offset(root);
        self.reversed.reverse();
        self.reversed
    }

    pub(super) fn string(&mut self, text: &str) -> Place {
        self.align(4, text.len() + 1);
        self.push(&[0]);
        self.push(text.as_bytes());
        self.push(&(text.len() as u32).to_le_bytes());
        self.place()
    }

    /// A vector of objects that were built before.
    pub(super) fn objects(&mut self, objects: &[Place]) -> Place {
        self.align(4, 4 * objects.len());
        for object in objects.iter().rev() {
            self.offset(*object);
        }
        self.push(&(objects.len() as u32).to_le_bytes());
        self.place()
    }

    /// A vector of structs of 64-bit numbers.
    pub(super) fn structs<const N: usize>(&mut self, structs: &[[i64; N]]) -> Place {
        self.align(8, 8 * N * structs.len());
        for number in structs.iter().flatten().rev() {
            self.push(&number.to_le_bytes());
        }
        self.push(&(structs.len() as u32).to_le_bytes());
        self.place()
    }

    /// A table of fields with ascending numbers.
    pub(super) fn table(&mut self, fields: &[(u16, Value)]) -> Place {
        let end = self.reversed.len();
        let slots = fields
            .last()
            .map_or(0, |(number, _)| usize::from(*number) + 1);
        let mut places = vec![None; slots];
        for (number, value) in fields.iter().rev() {
            match value {
                Value::U8(value) => self.push(&[*value]),
                Value::I16(value) => self.number(&value.to_le_bytes()),
                Value::I32(value) => self.number(&value.to_le_bytes()),
                Value::I64(value) => self.number(&value.to_le_bytes()),
                Value::At(place) => {
                    self.align(4, 0);
                    self.offset(*place);
                }
            }
            places[usize::from(*number)] = Some(self.reversed.len());
        }
        // Its description is directly before it.
        let description = 4 + 2 * slots;
        self.number(&(description as i32).to_le_bytes());
        let table = self.place();
        for place in places.into_iter().rev() {
            let offset = place.map_or(0, |place| table.0 - place);
            self.push(&(offset as u16).to_le_bytes());
        }
        self.push(&((table.0 - end) as u16).to_le_bytes());
        self.push(&(description as u16).to_le_bytes());
        table
    }

    fn place(&self) -> Place {
        Place(self.reversed.len())
    }

    /// Pads, so that `following` further bytes end at a multiple of `to`.
    fn align(&mut self, to: usize, following: usize) {
        let length = self.reversed.len() + following;
        let padded = self.reversed.len() + length.next_multiple_of(to) - length;
        self.reversed.resize(padded, 0);
    }

    fn number(&mut self, bytes: &[u8]) {
        self.align(bytes.len(), bytes.len());
        self.push(bytes);
    }

    fn offset(&mut self, place: Place) {
        let offset = self.reversed.len() + 4 - place.0;
        self.push(&(offset as u32).to_le_bytes());
    }

    fn push(&mut self, bytes: &[u8]) {
        self.reversed.extend(bytes.iter().rev());
    }
}
