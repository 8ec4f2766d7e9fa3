//! The packet lines that git and a filter process exchange (gitprotocol-common(5)), and the
//! exchange itself.

use std::io;

use hedgerow_fs::{FilterProcess, Transfer};

/// Largest payload of a packet, in bytes: 65,520 with the length.
pub(super) const MAX_DATA_BYTES: usize = 65_516;

const MAX_PACKET_BYTES: usize = MAX_DATA_BYTES + 4;

/// Number of packets that content is cut into ahead of sending, so that only a part of it is
/// copied.
const PACKETS_AHEAD: usize = 16;

/// Data to send: lines, and optionally content.
#[derive(Debug, Default)]
pub(super) struct Outgoing<'a> {
    packets: Vec<u8>,
    sent: usize,
    content: Option<&'a [u8]>,
}

impl<'a> Outgoing<'a> {
    /// The given lines and a flush packet.
    ///
    /// # Errors
    /// A line is too long for a packet.
    pub(super) fn lines<I: AsRef<[u8]>>(lines: impl IntoIterator<Item = I>) -> io::Result<Self> {
        let mut packets = Vec::new();
        for line in lines {
            let line = line.as_ref();
            if line.len() >= MAX_DATA_BYTES {
                let reason = "path name too long for external filter";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
            }
            push_length(line.len() + 1, &mut packets);
            packets.extend_from_slice(line);
            packets.push(b'\n');
        }
        packets.extend_from_slice(b"0000");
        Ok(Outgoing {
            packets,
            sent: 0,
            content: None,
        })
    }

    /// Adds content and another flush packet.
    pub(super) fn with_content(self, content: &'a [u8]) -> Self {
        Outgoing {
            content: Some(content),
            ..self
        }
    }

    /// The next bytes to send; empty when everything was sent.
    fn pending(&mut self) -> &[u8] {
        if self.sent == self.packets.len() {
            self.packets.clear();
            self.sent = 0;
            if let Some(content) = self.content.take() {
                let ahead = content.len().min(PACKETS_AHEAD * MAX_DATA_BYTES);
                let (now, later) = content.split_at(ahead);
                for data in now.chunks(MAX_DATA_BYTES) {
                    push_length(data.len(), &mut self.packets);
                    self.packets.extend_from_slice(data);
                }
                if later.is_empty() {
                    self.packets.extend_from_slice(b"0000")
                } else {
                    self.content = Some(later)
                }
            }
        }
        &self.packets[self.sent..]
    }
}

fn push_length(data_bytes: usize, packets: &mut Vec<u8>) {
    packets.extend_from_slice(format!("{:04x}", data_bytes + 4).as_bytes());
}

/// A received packet.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Packet<'a> {
    Flush,
    Data(&'a [u8]),
}

/// A connection to a process.
#[derive(Debug)]
pub(super) struct Conversation {
    process: FilterProcess,
    received: Vec<u8>,
    /// The part of `received` that was not handed out yet.
    start: usize,
    end: usize,
}

impl Conversation {
    pub(super) fn new(process: FilterProcess) -> Conversation {
        Conversation {
            process,
            received: vec![0; 2 * MAX_PACKET_BYTES],
            start: 0,
            end: 0,
        }
    }

    /// Waits for a packet, and sends meanwhile.
    ///
    /// # Errors
    /// The process has ended, or does not send packets.
    pub(super) fn receive(&mut self, outgoing: &mut Outgoing<'_>) -> io::Result<Packet<'_>> {
        loop {
            let received = &self.received[self.start..self.end];
            match parse(received)? {
                Some((Packet::Data([]), length)) => self.start += length,
                Some((_, length)) => {
                    let start = self.start;
                    self.start += length;
                    let whole = &self.received[start..self.start];
                    return Ok(match whole.get(4..) {
                        Some([]) | None => Packet::Flush,
                        Some(data) => Packet::Data(data),
                    });
                }
                None => self.advance(outgoing)?,
            }
        }
    }

    /// Reads or sends some bytes.
    fn advance(&mut self, outgoing: &mut Outgoing<'_>) -> io::Result<()> {
        self.received.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let room = &mut self.received[self.end..];
        match self.process.transfer(outgoing.pending(), room)? {
            Transfer::Read(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Transfer::Read(count) => {
                self.end += count;
                Ok(())
            }
            Transfer::Wrote(count) => {
                outgoing.sent += count;
                Ok(())
            }
        }
    }

    /// Sends the rest of a request that was answered early.
    pub(super) fn send_rest(&mut self, outgoing: &mut Outgoing<'_>) -> io::Result<()> {
        while !outgoing.pending().is_empty() {
            if self.end == self.received.len() && self.start == 0 {
                let reason = "the filter talks before it is asked";
                return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
            }
            self.advance(outgoing)?;
        }
        Ok(())
    }

    /// Reads lines up to a flush packet, without their line feeds.
    pub(super) fn receive_lines(
        &mut self,
        outgoing: &mut Outgoing<'_>,
        mut line: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        while let Packet::Data(data) = self.receive(outgoing)? {
            line(data.strip_suffix(b"\n").unwrap_or(data));
        }
        Ok(())
    }

    /// Tells the process that nothing follows, and waits for it to exit.
    pub(super) fn close(mut self) -> io::Result<()> {
        self.process.wait().map(drop)
    }
}

/// The packet at the start of `received` and its length, if it is complete.
fn parse(received: &[u8]) -> io::Result<Option<(Packet<'_>, usize)>> {
    let Some((digits, rest)) = received.split_at_checked(4) else {
        return Ok(None);
    };
    let mut length = 0;
    for digit in digits {
        let value = char::from(*digit).to_digit(16).ok_or_else(no_packet)?;
        length = length << 4 | value as usize;
    }
    match length {
        0 => Ok(Some((Packet::Flush, 4))),
        4..=MAX_PACKET_BYTES => {
            let data = rest.get(..length - 4);
            Ok(data.map(|data| (Packet::Data(data), length)))
        }
        _ => Err(no_packet()),
    }
}

fn no_packet() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not a packet line")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_parsed_and_garbage_is_not() {
        assert_eq!(parse(b"0000").unwrap(), Some((Packet::Flush, 4)));
        assert_eq!(parse(b"0006ab").unwrap(), Some((Packet::Data(b"ab"), 6)));
        assert_eq!(parse(b"0006a").unwrap(), None);
        assert_eq!(parse(b"000").unwrap(), None);
        for bad in ["0001", "0003", "fff1", "ffff", "+006", "hello"] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn content_is_cut_into_packets() {
        let content = vec![b'x'; MAX_DATA_BYTES * PACKETS_AHEAD + 1];
        let mut outgoing = Outgoing::lines(["a=b"]).unwrap().with_content(&content);
        let mut all = Vec::new();
        while let [_, ..] = outgoing.pending() {
            all.extend_from_slice(outgoing.pending());
            outgoing.sent = outgoing.packets.len();
        }
        assert!(all.starts_with(b"0008a=b\n0000fff0xxx"));
        assert!(all.ends_with(b"x0005x0000"));
        assert_eq!(all.len(), 12 + content.len() + 4 * (PACKETS_AHEAD + 2));
        let long = "x".repeat(MAX_DATA_BYTES);
        assert!(Outgoing::lines([&long]).is_err());
    }
}
