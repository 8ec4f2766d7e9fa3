//! CRC-32C, the polynomial of Castagnoli.

/// The reversed polynomial.
const POLYNOMIAL: u32 = 0x82f6_3b78;

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            let carry = value & 1 != 0;
            value >>= 1;
            if carry {
                value ^= POLYNOMIAL;
            }
            bit += 1;
        }
        table[byte] = value;
        byte += 1;
    }
    table
}

/// Continues a checksum, which is not inverted at its end.
pub fn crc32c(start: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(start, |value, byte| {
        let index = (value ^ u32::from(*byte)) & 0xff;
        value >> 8 ^ TABLE[index as usize]
    })
}

#[cfg(test)]
mod tests {
    use super::crc32c;

    #[test]
    fn the_known_value_of_nine_digits() {
        assert_eq!(!crc32c(u32::MAX, b"123456789"), 0xe306_9283);
    }
}
