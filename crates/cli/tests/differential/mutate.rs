//! Changes of a file that keep it close to a sound one.

use hedgerow_testkit::Random;

/// Changes a few places, or cuts, doubles or moves a span; then, half of the time, makes the SHA-1 at
/// the end fit.
pub fn mutate(sound: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = sound.to_vec();
    for _ in 0..1 + random.below(3) {
        change(&mut bytes, random);
    }
    if random.chance(50) {
        seal(&mut bytes);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    if bytes.len() < 24 {
        return;
    }
    let place = random.below(bytes.len());
    let span = place..(place + 1 + random.below(40)).min(bytes.len());
    match random.below(8) {
        0 | 1 => bytes[place] ^= 1 << random.below(8),
        2 => bytes[place] = *random.pick(&[0, 1, 0x7f, 0x80, 0xff, b'/', b'.']),
        3 => {
            let word = *random.pick(&[0, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX]);
            let place = place.min(bytes.len() - 4);
            bytes[place..place + 4].copy_from_slice(&word.to_be_bytes());
        }
        4 => bytes.truncate(place),
        5 => {
            let copy = bytes[span].to_vec();
            bytes.splice(place..place, copy);
        }
        6 => {
            bytes.drain(span);
        }
        _ => {
            let other = random.below(bytes.len() - 1);
            bytes.swap(place, other);
        }
    }
}

/// Makes the hash at the end that of what comes before.
fn seal(bytes: &mut [u8]) {
    let Some(end) = bytes.len().checked_sub(20) else {
        return;
    };
    let mut hasher = gix_hash::hasher(gix_hash::Kind::Sha1);
    hasher.update(&bytes[..end]);
    if let Ok(id) = hasher.try_finalize() {
        bytes[end..].copy_from_slice(id.as_slice());
    }
}
