//! Decodes the first bytes of a zlib stream (RFC 1950, 1951) without building all tables that
//! inflating needs: if only a few bytes are of interest, building the tables of a whole block would
//! be most of the work.

/// Maximum length of a code in bits.
const MAX_BITS: usize = 15;
/// The order in which the code lengths of the code length alphabet are stored.
const LENGTH_ORDER: [u8; 19] = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
];
/// Maximum number of symbols: literals, the end of the block, and match lengths.
const MAX_SYMBOLS: usize = 288;
/// The first symbol that is not a literal: the end of the block.
const END: usize = 256;
/// Codes of up to this many bits are decoded with a lookup table.
const TABLE_BITS: usize = 8;
/// The minimum number of wanted literals for which a table is built.
const TABLE_FROM: usize = 16;

/// Decodes the literals at the start of the stream `zlib` into `output`, up to the first match or
/// the end of the block. Returns their number, which is 0 if the stream is malformed or uses
/// features not supported here. Whatever follows these literals is not checked.
pub fn leading_literals(zlib: &[u8], output: &mut [u8]) -> usize {
    let Some((&[method, flags], rest)) = zlib.split_first_chunk() else {
        return 0;
    };
    let is_zlib = method & 0xf == 8 && u16::from_be_bytes([method, flags]) % 31 == 0;
    if !is_zlib || flags & 0x20 != 0 {
        return 0;
    }
    let mut bits = Bits::new(rest);
    match bits.take(3).map(|header| header >> 1) {
        Some(0b00) => stored(&mut bits, output),
        Some(0b01) => literals(&mut bits, &fixed(), output),
        Some(0b10) => match dynamic(&mut bits) {
            Some(codes) => literals(&mut bits, &codes, output),
            None => 0,
        },
        _ => 0,
    }
}

/// Copies the bytes of a stored block, whose header starts at the next byte boundary.
fn stored(bits: &mut Bits<'_>, output: &mut [u8]) -> usize {
    let length = bits.skip(bits.count % 8).and_then(|()| bits.take(16));
    let (Some(length), Some(check)) = (length, bits.take(16)) else {
        return 0;
    };
    if check != length ^ 0xffff {
        return 0;
    }
    let wanted = output.iter_mut().take(length as usize);
    let slots = wanted.map_while(|slot| {
        *slot = bits.take(8)? as u8;
        Some(())
    });
    slots.count()
}

fn literals(bits: &mut Bits<'_>, codes: &Codes, output: &mut [u8]) -> usize {
    let table = (output.len() >= TABLE_FROM).then(|| codes.table());
    for (count, slot) in output.iter_mut().enumerate() {
        if let Some(table) = &table {
            let (width, literal) = table[bits.peek() as usize % table.len()];
            if width != 0 {
                if bits.skip(usize::from(width)).is_none() {
                    return count;
                }
                *slot = literal;
                continue;
            }
        }
        match codes.decode(bits).map(u8::try_from) {
            Some(Ok(literal)) => *slot = literal,
            _ => return count,
        }
    }
    output.len()
}

/// The fixed codes of RFC 1951.
fn fixed() -> Codes {
    let mut codes = Codes::default();
    for (length, count) in [(8, 144), (9, 112), (7, 24), (8, 8)] {
        // Adding cannot fail: there is room for all symbols.
        let _ = codes.add(length, count);
    }
    codes
}

/// Reads the literal codes of a block with dynamic codes.
fn dynamic(bits: &mut Bits<'_>) -> Option<Codes> {
    let literal_count = bits.take(5)? as usize + 257;
    let distance_count = bits.take(5)? as usize + 1;
    let length_count = bits.take(4)? as usize + 4;
    if literal_count > 286 || distance_count > 30 {
        return None;
    }
    let mut lengths = [0; 19];
    for place in LENGTH_ORDER.iter().take(length_count) {
        lengths[usize::from(*place)] = bits.take(3)? as u8;
    }
    let table = length_table(&lengths)?;
    let mut codes = Codes::default();
    let (mut total, mut last) = (literal_count + distance_count, None);
    while total > 0 {
        let (width, symbol) = *table.get(bits.peek() as usize % table.len())?;
        if width == 0 {
            return None;
        }
        bits.skip(usize::from(width))?;
        let (length, repeat) = match symbol {
            16 => (last?, 3 + bits.take(2)? as usize),
            17 => (0, 3 + bits.take(3)? as usize),
            18 => (0, 11 + bits.take(7)? as usize),
            length => (length, 1),
        };
        total = total.checked_sub(repeat)?;
        last = Some(length);
        // The distance codes follow; literals do not need them.
        codes.add(length, repeat.min(literal_count - codes.symbols))?;
    }
    codes.is_possible().then_some(codes)
}

/// For each value of the next seven bits, the length of the code at their start, and its symbol;
/// length 0 if there is no such code. `None` if the code is oversubscribed.
fn length_table(lengths: &[u8; 19]) -> Option<[(u8, u8); 128]> {
    let mut table = [(0, 0); 128];
    let mut code = 0_u32;
    for width in 1..=7_u8 {
        for (symbol, _) in (0..).zip(lengths).filter(|(_, length)| **length == width) {
            if code >> width != 0 {
                return None;
            }
            // Codes are stored with their highest bit first.
            let first = (code as u8).reverse_bits() >> (8 - width);
            let places = table.iter_mut().skip(usize::from(first));
            places
                .step_by(1 << width)
                .for_each(|place| *place = (width, symbol));
            code += 1;
        }
        code <<= 1;
    }
    Some(table)
}

/// A canonical code: codes of the same length are consecutive numbers in the order of their
/// symbols.
struct Codes {
    /// Number of codes of each length.
    counts: [u16; MAX_BITS + 1],
    /// Length of the code of each symbol; 0 if it has none.
    lengths: [u8; MAX_SYMBOLS],
    /// Number of symbols.
    symbols: usize,
}

impl Default for Codes {
    fn default() -> Self {
        Codes {
            counts: [0; MAX_BITS + 1],
            lengths: [0; MAX_SYMBOLS],
            symbols: 0,
        }
    }
}

impl Codes {
    /// Adds the next `count` symbols with codes of `length` bits, or without codes if it is 0.
    fn add(&mut self, length: u8, count: usize) -> Option<()> {
        if length != 0 {
            let lengths = self.lengths.get_mut(self.symbols..self.symbols + count)?;
            lengths.fill(length);
            *self.counts.get_mut(usize::from(length))? += count as u16;
        }
        self.symbols += count;
        Some(())
    }

    /// Whether the code has an end of block and is not oversubscribed.
    fn is_possible(&self) -> bool {
        let mut free = 1_i32;
        self.lengths[END] != 0
            && self.counts.iter().skip(1).all(|count| {
                free = (free << 1) - i32::from(*count);
                free >= 0
            })
    }

    /// The symbol with index `number`, from 0, among those with codes of this length.
    fn symbol(&self, length: u8, mut number: usize) -> Option<usize> {
        const ROW: usize = 32;
        for (row, lengths) in self.lengths.chunks(ROW).enumerate() {
            let count = lengths.iter().map(|other| u8::from(*other == length));
            let count = usize::from(count.sum::<u8>());
            if number < count {
                let mut places = (row * ROW..).zip(lengths);
                let places = places.by_ref().filter(|(_, other)| **other == length);
                return places.map(|(symbol, _)| symbol).nth(number);
            }
            number -= count;
        }
        None
    }

    /// For each value of the next bits, the length of the literal's code at their start, and the
    /// literal; length 0 if the code is longer or not that of a literal.
    fn table(&self) -> [(u8, u8); 1 << TABLE_BITS] {
        let mut table = [(0, 0); 1 << TABLE_BITS];
        let mut next = [0_u32; MAX_BITS + 1];
        for (length, count) in self.counts.iter().enumerate().take(MAX_BITS) {
            next[length + 1] = (next[length] + u32::from(*count)) << 1;
        }
        for (literal, length) in (0..=u8::MAX).zip(&self.lengths) {
            let width = usize::from(*length);
            if width == 0 || width > TABLE_BITS {
                continue;
            }
            // Codes are stored with their highest bit first.
            let first = (next[width] as u8).reverse_bits() >> (8 - width);
            next[width] += 1;
            let mut place = usize::from(first);
            while let Some(slot) = table.get_mut(place) {
                *slot = (*length, literal);
                place += 1 << width;
            }
        }
        table
    }

    /// Decodes the next symbol.
    fn decode(&self, bits: &mut Bits<'_>) -> Option<usize> {
        let window = bits.peek();
        let (mut code, mut first) = (0_u32, 0_u32);
        for (length, count) in self.counts.iter().enumerate().skip(1) {
            code = code << 1 | (window >> (length - 1)) as u32 & 1;
            first <<= 1;
            let count = u32::from(*count);
            if code < first + count {
                bits.skip(length)?;
                return self.symbol(length as u8, (code - first) as usize);
            }
            first += count;
        }
        None
    }
}

/// Reads bits, starting with the lowest one of each byte.
struct Bits<'d> {
    data: &'d [u8],
    /// Bits read from `data` and not taken yet; `count` is their number.
    held: u64,
    count: usize,
}

impl<'d> Bits<'d> {
    fn new(data: &'d [u8]) -> Self {
        Bits {
            data,
            held: 0,
            count: 0,
        }
    }

    /// The next bits: at least 32, unless fewer are left.
    fn peek(&mut self) -> u64 {
        if self.count < 32 {
            match self.data.split_first_chunk() {
                Some((chunk, rest)) => {
                    self.held |= u64::from(u32::from_le_bytes(*chunk)) << self.count;
                    self.count += 32;
                    self.data = rest;
                }
                None => {
                    for byte in self.data {
                        self.held |= u64::from(*byte) << self.count;
                        self.count += 8;
                    }
                    self.data = &[];
                }
            }
        }
        self.held
    }

    /// Skips `count` bits, which were peeked before; `None` if fewer are left.
    fn skip(&mut self, count: usize) -> Option<()> {
        self.count = self.count.checked_sub(count)?;
        self.held >>= count;
        Some(())
    }

    /// Takes up to 16 bits.
    fn take(&mut self, count: usize) -> Option<u32> {
        let value = self.peek() & ((1 << count) - 1);
        self.skip(count)?;
        Some(value as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StreamInflater;
    use proptest::prelude::*;
    use std::io::Write;

    fn deflate(content: &[u8], level: u32) -> Vec<u8> {
        let level = flate2::Compression::new(level);
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn each_kind_of_block_is_read() {
        let mut output = [0; 16];
        let text =
            b"all good things are three, and each of them is a block of its own kind: 0123456789";
        let varied: Vec<u8> = (0..2000_u32).map(|n| (n * n % 251) as u8).collect();
        for (content, level) in [
            (&text[..], 0),
            (&text[..4], 9),
            (&text[..], 9),
            (&varied[..], 6),
        ] {
            let stream = deflate(content, level);
            let count = leading_literals(&stream, &mut output);
            assert!(count >= 4, "{count} {level}");
            assert_eq!(output[..count], content[..count]);
        }
    }

    #[test]
    fn what_is_no_stream_has_none() {
        let stream = deflate(b"something", 6);
        let mut output = [0; 8];
        for (at, flip) in [(0, 1), (1, 0x20), (2, 6)] {
            let mut broken = stream.clone();
            broken[at] ^= flip;
            assert_eq!(leading_literals(&broken, &mut output), 0, "{at}");
        }
        assert_eq!(leading_literals(&[], &mut output), 0);
        assert_eq!(leading_literals(&stream[..2], &mut output), 0);
    }

    proptest! {
        #[test]
        fn they_are_what_an_inflater_finds(
            content in prop::collection::vec(0_u8..40, 0..400), level in 0_u32..10, asked in 0_usize..60,
        ) {
            let stream = deflate(&content, level);
            let mut output = [0; 60];
            let count = leading_literals(&stream, &mut output[..asked]);
            prop_assert!(count <= asked);
            prop_assert_eq!(&output[..count], &content[..count]);
        }

        #[test]
        fn random_bytes_are_read_like_by_an_inflater(
            rest in prop::collection::vec(any::<u8>(), 0..200), asked in 0_usize..60,
        ) {
            let stream = [&[0x78, 0x9c], &rest[..]].concat();
            let (mut output, mut expected) = ([0; 60], [0; 60]);
            let output = &mut output[..asked];
            let expected = &mut expected[..asked];
            let count = leading_literals(&stream, output);
            if StreamInflater::new().prefix(&stream, expected).is_ok() {
                prop_assert_eq!(&output[..count], &expected[..count]);
            }
        }
    }
}
