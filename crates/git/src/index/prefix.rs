/// Length of the common prefix of `a` and `b`, in bytes.
///
/// Neighbours in an index share most of their path, so eight bytes are compared at a time.
pub(crate) fn common_len(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 8;
    let mut common = 0;
    for (a, b) in a.chunks_exact(STEP).zip(b.chunks_exact(STEP)) {
        if a != b {
            break;
        }
        common += STEP;
    }
    let rest = a.iter().zip(b).skip(common);
    common + rest.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_counted() {
        let whole = b"abcdefghijklmnopqrstuvwxyz";
        for len in 0..whole.len() {
            assert_eq!(common_len(whole, &whole[..len]), len);
            let mut changed = *whole;
            changed[len] = b'-';
            assert_eq!(common_len(whole, &changed), len);
        }
        assert_eq!(common_len(b"", b"a"), 0);
    }
}
