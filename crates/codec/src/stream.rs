use crate::{Error, Result};
use flate2::{Decompress, FlushDecompress, Status};

/// Inflates a zlib stream in pieces, in constant memory. Use one per thread for all streams, with a
/// [`StreamInflater::reset`] between them.
#[derive(Debug)]
pub struct StreamInflater {
    /// Its 50 KiB are allocated when there is something to inflate: most objects are inflated whole.
    raw: Option<Decompress>,
}

/// The result of [`StreamInflater::step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Number of input bytes consumed.
    pub consumed: usize,
    /// Number of output bytes written.
    pub written: usize,
    /// Whether the stream has ended and its checksum is correct.
    pub finished: bool,
}

impl StreamInflater {
    /// A new inflater at the start of a stream.
    pub fn new() -> Self {
        StreamInflater { raw: None }
    }

    /// Prepares for another stream.
    pub fn reset(&mut self) {
        if let Some(raw) = &mut self.raw {
            raw.reset(true);
        }
    }

    /// Inflates from `input` to `output` until one of them is used up or the stream ends. If a step
    /// neither consumed nor wrote anything, is not finished and had room for output, it needs more
    /// input.
    pub fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step> {
        let raw = self.raw.get_or_insert_with(|| Decompress::new(true));
        let (before_in, before_out) = (raw.total_in(), raw.total_out());
        let status = raw
            .decompress(input, output, FlushDecompress::None)
            .map_err(|_| Error::Corrupt)?;
        Ok(Step {
            consumed: (raw.total_in() - before_in) as usize,
            written: (raw.total_out() - before_out) as usize,
            finished: status == Status::StreamEnd,
        })
    }

    /// Resets, then inflates the stream at the start of `input` until `output` is full. Returns the
    /// number of bytes written, which is less than the length of `output` only if the content is
    /// shorter.
    pub fn prefix(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        match self.leading(input, output)? {
            (written, true) => Ok(written),
            (_, false) => Err(Error::Truncated),
        }
    }

    /// As [`StreamInflater::prefix`], also of a stream that is cut off before `output` is full: then with
    /// `false`.
    pub fn leading(&mut self, input: &[u8], output: &mut [u8]) -> Result<(usize, bool)> {
        self.reset();
        let (mut consumed, mut written) = (0, 0);
        while written < output.len() {
            let rest = input.get(consumed..).unwrap_or_default();
            let step = self.step(rest, &mut output[written..])?;
            consumed += step.consumed;
            written += step.written;
            if step.finished {
                break;
            }
            if step.consumed == 0 && step.written == 0 {
                return Ok((written, false));
            }
        }
        Ok((written, true))
    }
}

impl Default for StreamInflater {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    fn deflate(content: &[u8]) -> Vec<u8> {
        let mut encoder =
            flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_prefix_is_the_start_of_the_content_or_all_of_it() {
        let stream = deflate(b"blob 5\0hello");
        let mut inflater = StreamInflater::new();
        let mut short = [0; 6];
        assert_eq!(inflater.prefix(&stream, &mut short), Ok(6));
        assert_eq!(&short, b"blob 5");
        let mut long = [0; 64];
        assert_eq!(inflater.prefix(&stream, &mut long), Ok(12));
        let cut = &stream[..stream.len() - 1];
        assert_eq!(inflater.leading(cut, &mut long), Ok((12, false)));
        assert_eq!(inflater.leading(&stream, &mut long), Ok((12, true)));
        assert_eq!(&long[..12], b"blob 5\0hello");
        assert_eq!(
            inflater.prefix(&stream[..stream.len() - 6], &mut long),
            Err(Error::Truncated)
        );
    }

    proptest! {
        #[test]
        fn pieces_of_any_size_make_the_whole(
            content in prop::collection::vec(any::<u8>(), 0..5000),
            size_in in 1_usize..70, size_out in 1_usize..70,
        ) {
            let mut stream = deflate(&content);
            let length = stream.len();
            stream.extend_from_slice(b"rest");
            let mut inflater = StreamInflater::new();
            let (mut got, mut at) = (Vec::new(), 0);
            let mut output = vec![0; size_out];
            loop {
                let end = (at + size_in).min(stream.len());
                let step = inflater.step(&stream[at..end], &mut output).unwrap();
                got.extend_from_slice(&output[..step.written]);
                at += step.consumed;
                if step.finished {
                    break;
                }
            }
            prop_assert_eq!(at, length);
            prop_assert_eq!(got, content);
        }

        #[test]
        fn random_input_never_panics(input in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut output = [0; 100];
            let _ = StreamInflater::new().prefix(&input, &mut output);
        }
    }
}
