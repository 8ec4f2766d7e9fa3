use std::ffi::CString;
use std::io;

/// A conversion between two character encodings by the C library's `iconv`.
///
/// git converts with it, so the output is the same as git's for every encoding, including those
/// whose tables differ between libraries (SHIFT-JIS has several). No other library promises that.
#[derive(Debug)]
pub struct Iconv {
    handle: libc::iconv_t,
}

// SAFETY: a conversion descriptor is not tied to a thread; POSIX only forbids concurrent use, which
// `&mut self` rules out.
#[allow(unsafe_code)]
unsafe impl Send for Iconv {}

#[allow(unsafe_code)]
impl Iconv {
    /// Prepares to convert `from` one encoding `to` another; `None` if the system does not support
    /// them.
    pub fn open(to: &[u8], from: &[u8]) -> Option<Iconv> {
        let to = CString::new(to).ok()?;
        let from = CString::new(from).ok()?;
        // SAFETY: both are C strings that live over the call.
        let handle = unsafe { libc::iconv_open(to.as_ptr(), from.as_ptr()) };
        (handle as isize != -1).then_some(Iconv { handle })
    }

    /// Converts `input` and appends it to `out`. After an error, `out` contains a part of it.
    ///
    /// Omits the final sequence that resets a stateful encoding to its initial state, as git does.
    ///
    /// # Errors
    /// Input that is malformed, truncated, or has a character that the other encoding lacks.
    pub fn convert(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        let null = std::ptr::null_mut();
        // SAFETY: null pointers request a reset to the initial state.
        unsafe { libc::iconv(self.handle, null, null.cast(), null, null.cast()) };
        let mut from = input.as_ptr().cast::<libc::c_char>().cast_mut();
        let mut left = input.len();
        loop {
            out.reserve(left.saturating_mul(2).max(64));
            let room = out.spare_capacity_mut();
            let mut to = room.as_mut_ptr().cast::<libc::c_char>();
            let mut room_left = room.len();
            let room_before = room_left;
            // SAFETY: `from` and `left` are the unread rest of `input`, which iconv does not write
            // to; `to` and `room_left` are the spare capacity of `out`.
            let converted =
                unsafe { libc::iconv(self.handle, &mut from, &mut left, &mut to, &mut room_left) };
            let error = io::Error::last_os_error();
            // SAFETY: iconv has written this many bytes of the spare capacity.
            unsafe { out.set_len(out.len() + (room_before - room_left)) };
            if converted != usize::MAX {
                return Ok(());
            }
            if error.raw_os_error() != Some(libc::E2BIG) {
                return Err(error);
            }
        }
    }
}

impl Drop for Iconv {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: the handle was opened and is closed once.
        unsafe { libc::iconv_close(self.handle) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_there_and_back() {
        let text = "Äpfel €".repeat(1000);
        let mut there = Vec::new();
        let mut iconv = Iconv::open(b"ISO-8859-15", b"UTF-8").unwrap();
        iconv.convert(text.as_bytes(), &mut there).unwrap();
        assert_eq!(there.len(), 7000);
        assert_eq!(there[..7], *b"\xc4pfel \xa4");
        let mut back = Vec::new();
        let mut iconv = Iconv::open(b"UTF-8", b"ISO-8859-15").unwrap();
        iconv.convert(&there, &mut back).unwrap();
        assert_eq!(back, text.as_bytes());
    }

    #[test]
    fn what_cannot_be_converted_is_an_error() {
        assert!(Iconv::open(b"no such thing", b"UTF-8").is_none());
        assert!(Iconv::open(b"UTF-8\0", b"UTF-8").is_none());
        let mut iconv = Iconv::open(b"ISO-8859-1", b"UTF-8").unwrap();
        let mut out = Vec::new();
        assert!(iconv.convert("€".as_bytes(), &mut out).is_err());
        assert!(iconv.convert(b"\xff", &mut out).is_err());
        assert!(iconv.convert(b"\xc3", &mut out).is_err());
        out.clear();
        iconv.convert("ä".as_bytes(), &mut out).unwrap();
        assert_eq!(out, b"\xe4");
    }
}
