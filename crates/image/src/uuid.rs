//! Identifiers that depend on contents alone.

/// An identifier of version 8, which has no meaning, from a hash.
pub fn from_hash(hash: &[u8; 32]) -> [u8; 16] {
    let mut uuid = [0; 16];
    uuid.copy_from_slice(&hash[..16]);
    uuid[6] = uuid[6] & 0x0f | 0x80;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    uuid
}

/// The usual form of an identifier.
pub fn text(uuid: &[u8; 16]) -> String {
    let mut text = String::new();
    for (number, byte) in uuid.iter().enumerate() {
        if matches!(number, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}
