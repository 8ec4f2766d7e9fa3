use super::ResponseKey;

/// Length of the header before the response, in bytes.
pub(super) const HEADER_BYTES: u64 = 128;
const MAGIC: [u8; 8] = *b"HRSP\0\0\0\x02";
/// In the place of the header's first bytes: nothing more will be written.
pub(super) const GIVEN_UP: [u8; 8] = *b"HRSPstop";
const DIGEST_AT: usize = 88;
const DIGEST_BYTES: usize = blake3::OUT_LEN;

/// The header before a response. Until the response is complete, it consists of zeros; if it will never be,
/// it begins with [`GIVEN_UP`].
///
/// | bytes | |
/// |---|---|
/// | 8 | `HRSP`, and the version of the format as a 32-bit number |
/// | 32 | the key of the request |
/// | 32 | the hash that identifies the repository |
/// | 8 | length of the response in bytes |
/// | 8 | length of the list of sources in bytes, which follows the response |
/// | 32 | BLAKE3 of the response, the list of sources and the 88 header bytes before |
/// | 8 | zeros |
///
/// Numbers are big-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub key: ResponseKey,
    /// BLAKE3 hash of what identifies the repository.
    pub repository: [u8; 32],
    pub response_bytes: u64,
    pub source_bytes: u64,
    digest: [u8; DIGEST_BYTES],
}

impl Header {
    /// The header of a response; `content` is the hasher after the response and the list of
    /// sources.
    pub fn new(
        (key, repository): (ResponseKey, [u8; 32]),
        (response_bytes, source_bytes): (u64, u64),
        content: blake3::Hasher,
    ) -> Self {
        let mut header = Header {
            key,
            repository,
            response_bytes,
            source_bytes,
            digest: [0; DIGEST_BYTES],
        };
        header.digest = header.digest(content);
        header
    }

    /// Whether the digest matches `content`, the hasher after the response and the list of sources.
    pub fn is_digest_right(&self, content: blake3::Hasher) -> bool {
        self.digest == self.digest(content)
    }

    /// `None` if this is not a header of this version.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let (magic, rest) = bytes.split_first_chunk()?;
        let (key, rest) = rest.split_first_chunk()?;
        let (repository, rest) = rest.split_first_chunk()?;
        let (response_bytes, rest) = rest.split_first_chunk()?;
        let (source_bytes, rest) = rest.split_first_chunk()?;
        let (digest, rest) = rest.split_first_chunk()?;
        (*magic == MAGIC && *rest == [0; 8]).then(|| Header {
            key: ResponseKey(*key),
            repository: *repository,
            response_bytes: u64::from_be_bytes(*response_bytes),
            source_bytes: u64::from_be_bytes(*source_bytes),
            digest: *digest,
        })
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        [&self.front(), self.digest.as_slice(), &[0; 8]].concat()
    }

    /// The total length of the file in bytes.
    pub fn file_bytes(&self) -> Option<u64> {
        let content = self.response_bytes.checked_add(self.source_bytes)?;
        content.checked_add(HEADER_BYTES)
    }

    fn digest(&self, mut content: blake3::Hasher) -> [u8; DIGEST_BYTES] {
        content.update(&self.front());
        *content.finalize().as_bytes()
    }

    fn front(&self) -> [u8; DIGEST_AT] {
        let mut front = [0; DIGEST_AT];
        let fields = [
            MAGIC.as_slice(),
            &self.key.0,
            &self.repository,
            &self.response_bytes.to_be_bytes(),
            &self.source_bytes.to_be_bytes(),
        ];
        front.copy_from_slice(&fields.concat());
        front
    }
}
