//! UTF-16 and UTF-32, both ways.

/// A form of UTF-16 or UTF-32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Utf {
    pub(super) width: Width,
    /// The byte order for writing, and for reading without a byte order mark.
    pub(super) order: Order,
    /// Whether a byte order mark is written, and recognized when reading.
    pub(super) bom: bool,
}

/// Bits in a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Sixteen,
    ThirtyTwo,
}

/// The order of the bytes of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    /// The machine's byte order, which the C library uses for `UTF-16` and `UTF-32`.
    pub(super) const NATIVE: Order = if cfg!(target_endian = "big") {
        Order::Big
    } else {
        Order::Little
    };

    fn read(self, unit: &[u8]) -> u32 {
        let append = |value: u32, byte: &u8| value << 8 | u32::from(*byte);
        match self {
            Order::Little => unit.iter().rev().fold(0, append),
            Order::Big => unit.iter().fold(0, append),
        }
    }

    fn unit_16(self, unit: u16) -> [u8; 2] {
        match self {
            Order::Little => unit.to_le_bytes(),
            Order::Big => unit.to_be_bytes(),
        }
    }

    fn unit_32(self, unit: u32) -> [u8; 4] {
        match self {
            Order::Little => unit.to_le_bytes(),
            Order::Big => unit.to_be_bytes(),
        }
    }
}

const BOM: char = '\u{feff}';

impl Utf {
    /// Appends `content` to `out`; false if it is not UTF-8.
    pub(super) fn encode(self, content: &[u8], out: &mut Vec<u8>) -> bool {
        let Ok(text) = std::str::from_utf8(content) else {
            return false;
        };
        let bom = self.bom.then_some(BOM);
        let characters = bom.into_iter().chain(text.chars());
        match self.width {
            Width::Sixteen => {
                out.reserve(content.len() * 2 + 2);
                let mut units = [0; 2];
                for character in characters {
                    for unit in character.encode_utf16(&mut units) {
                        out.extend_from_slice(&self.order.unit_16(*unit));
                    }
                }
            }
            Width::ThirtyTwo => {
                out.reserve(content.len() * 4 + 4);
                for character in characters {
                    out.extend_from_slice(&self.order.unit_32(character.into()));
                }
            }
        }
        true
    }

    /// Appends `content` as UTF-8 to `out`; false if it is malformed.
    pub(super) fn decode(self, content: &[u8], out: &mut Vec<u8>) -> bool {
        let (order, content) = self.order_of(content);
        let mut push = |character: char| {
            let mut bytes = [0; 4];
            out.extend_from_slice(character.encode_utf8(&mut bytes).as_bytes());
        };
        match self.width {
            Width::Sixteen => {
                let units = content.chunks_exact(2);
                let is_whole = units.remainder().is_empty();
                let units = units.map(|unit| order.read(unit) as u16);
                for character in char::decode_utf16(units) {
                    let Ok(character) = character else {
                        return false;
                    };
                    push(character);
                }
                is_whole
            }
            Width::ThirtyTwo => {
                let units = content.chunks_exact(4);
                let is_whole = units.remainder().is_empty();
                for unit in units {
                    let Some(character) = char::from_u32(order.read(unit)) else {
                        return false;
                    };
                    push(character);
                }
                is_whole
            }
        }
    }

    /// The byte order of `content`, and the content after the byte order mark, if any.
    fn order_of(self, content: &[u8]) -> (Order, &[u8]) {
        if self.bom {
            for order in [Order::Little, Order::Big] {
                if let Some(rest) = strip_bom(self.width, order, content) {
                    return (order, rest);
                }
            }
        }
        (self.order, content)
    }
}

/// Whether `content` starts with a byte order mark, in either order.
pub(super) fn has_bom(width: Width, content: &[u8]) -> bool {
    strip_bom(width, Order::Little, content).is_some()
        || strip_bom(width, Order::Big, content).is_some()
}

fn strip_bom(width: Width, order: Order, content: &[u8]) -> Option<&[u8]> {
    match width {
        Width::Sixteen => content.strip_prefix(&order.unit_16(BOM as u16)),
        Width::ThirtyTwo => content.strip_prefix(&order.unit_32(BOM.into())),
    }
}
