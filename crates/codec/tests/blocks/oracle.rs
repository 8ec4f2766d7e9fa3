//! Other programs read what we write, and we read what they write.

use crate::samples::*;
use hedgerow_codec::block::{BlockCompressor, Compressor, Settings};
use std::io::Write;
use std::process::{Command, Stdio};

/// Reads blocks and writes their contents, or the other way round; an argument tells which. Each is
/// preceded by its length.
const PYTHON: &str = r#"
import ctypes, lzma, sys, zlib
rest = sys.stdin.buffer.read()
bound = 1 << 21
def lzo(name, *more):
    library = ctypes.CDLL('liblzo2.so.2')
    output, length = ctypes.create_string_buffer(bound), ctypes.c_size_t(bound)
    memory = ctypes.create_string_buffer(1 << 20)
    code = getattr(library, name)(
        data, ctypes.c_size_t(len(data)), output, ctypes.byref(length), memory, *more)
    assert code == 0, code
    return output.raw[:length.value]
def whole(decoder):
    content = decoder.decompress(data)
    assert decoder.eof and not decoder.unused_data
    return content
level8 = (None, ctypes.c_size_t(0), None, 8)
lzma1 = [{'id': lzma.FILTER_LZMA1, 'preset': 6, 'dict_size': 1 << 17}]
x86 = [{'id': lzma.FILTER_X86}, {'id': lzma.FILTER_LZMA2, 'preset': 6, 'dict_size': 1 << 17}]
tasks = {
    'gunzip': lambda: whole(zlib.decompressobj()),
    'gzip': lambda: zlib.compress(data, 9),
    'gzip3': lambda: zlib.compress(data, 3),
    'unlzma': lambda: whole(lzma.LZMADecompressor(lzma.FORMAT_ALONE)),
    'lzma': lambda: lzma.compress(data, lzma.FORMAT_ALONE, filters=lzma1),
    'unxz': lambda: whole(lzma.LZMADecompressor(lzma.FORMAT_XZ)),
    'xz': lambda: lzma.compress(data, lzma.FORMAT_XZ, check=lzma.CHECK_CRC64, filters=x86),
    'unlzo': lambda: lzo('lzo1x_decompress_safe'),
    'lzo1': lambda: lzo('lzo1x_1_compress'),
    'lzo999': lambda: lzo('lzo1x_999_compress_level', *level8),
}
while rest:
    end = 4 + int.from_bytes(rest[:4], 'little')
    data, rest = rest[4:end], rest[end:]
    answer = tasks[sys.argv[1]]()
    sys.stdout.buffer.write(len(answer).to_bytes(4, 'little') + answer)
"#;

/// What a program makes of its input, or why there is no such program.
fn ask(program: &str, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, String> {
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.map_err(|error| format!("{program}: {error}"))?;
    let mut pipe = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || pipe.write_all(input));
        child.wait_with_output().unwrap()
    });
    let words = String::from_utf8_lossy(&output.stderr);
    // A machine may lack a library, but then it says so.
    if words.contains("liblzo2.so.2: cannot open") || words.contains("No module named") {
        return Err(words.lines().last().unwrap_or_default().to_owned());
    }
    assert!(
        output.status.success(),
        "{program} {}: {words}",
        arguments.join(" ")
    );
    Ok(output.stdout)
}

fn python<T: AsRef<[u8]>>(task: &str, inputs: &[T]) -> Result<Vec<Vec<u8>>, String> {
    let mut framed = Vec::new();
    for input in inputs {
        framed.extend((input.as_ref().len() as u32).to_le_bytes());
        framed.extend(input.as_ref());
    }
    let answers = ask("python3", &["-c", PYTHON, task], &framed)?;
    let mut rest = answers.as_slice();
    let mut split = Vec::new();
    while let Some((length, tail)) = rest.split_first_chunk() {
        let (answer, tail) = tail.split_at(u32::from_le_bytes(*length) as usize);
        split.push(answer.to_vec());
        rest = tail;
    }
    assert_eq!(split.len(), inputs.len());
    Ok(split)
}

/// Ends the test, saying why, where a program is missing.
macro_rules! or_skip {
    ($answer:expr) => {
        match $answer {
            Ok(answer) => answer,
            Err(reason) => return hedgerow_testkit::skip(&reason.to_string()),
        }
    };
}

fn blocks(compressor: Compressor) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut blocks = Vec::new();
    let name = format!("{compressor} ");
    for words in SETTINGS
        .iter()
        .filter(|words| format!("{words} ").starts_with(&name))
    {
        let mut compressor = BlockCompressor::new(&parse(words, BLOCK)).unwrap();
        for content in contents() {
            if let Some(block) = compress(&mut compressor, &content) {
                blocks.push((content, block));
            }
        }
    }
    blocks
}

fn python_reads(compressor: Compressor, task: &str) -> Result<(), String> {
    let (contents, blocks): (Vec<_>, Vec<_>) = blocks(compressor).into_iter().unzip();
    assert!(python(task, &blocks)? == contents, "{task}");
    Ok(())
}

fn we_read_python(compressor: Compressor, task: &str) -> Result<(), String> {
    let contents = contents();
    for (content, block) in contents.iter().zip(python(task, &contents)?) {
        assert!(
            decompress(compressor, &block, content.len()) == *content,
            "{task}"
        );
    }
    Ok(())
}

#[test]
fn zlib_of_python() {
    or_skip!(python_reads(Compressor::Gzip, "gunzip"));
    or_skip!(we_read_python(Compressor::Gzip, "gzip"));
}

#[test]
fn the_profile_zlib_gives_the_bytes_of_zlib() {
    for (words, task) in [
        ("gzip profile=zlib", "gzip"),
        ("gzip profile=zlib level=3", "gzip3"),
    ] {
        let mut compressor = BlockCompressor::new(&parse(words, BLOCK)).unwrap();
        let contents = contents();
        let theirs = or_skip!(python(task, &contents));
        for (content, theirs) in contents.iter().zip(theirs) {
            if let Some(ours) = compress(&mut compressor, content) {
                assert!(ours == theirs, "{words}");
            }
        }
    }
}

#[test]
fn lzma_of_python() {
    or_skip!(python_reads(Compressor::Lzma, "unlzma"));
    // Without the length in the header, and with a mark at the end.
    or_skip!(we_read_python(Compressor::Lzma, "lzma"));
}

#[test]
fn an_lzma_block_may_have_both_a_length_and_an_end_mark() {
    let content = text(1, 5000);
    let mut blocks = or_skip!(python("lzma", &[&content]));
    let mut block = blocks.remove(0);
    // So write packers that fill in the length afterwards.
    block[5..13].copy_from_slice(&5000_u64.to_le_bytes());
    assert!(decompress(Compressor::Lzma, &block, 5000) == content);
}

#[test]
fn xz_of_python() {
    for (content, block) in blocks(Compressor::Xz) {
        // The program may be older than the last two filters.
        if ![0x0a, 0x0b].contains(&block[14]) {
            assert!(or_skip!(ask("xz", &["-dc"], &block)) == content);
        }
    }
    or_skip!(we_read_python(Compressor::Xz, "xz"));
}

#[test]
fn lzo_of_its_library() {
    or_skip!(python_reads(Compressor::Lzo, "unlzo"));
    or_skip!(we_read_python(Compressor::Lzo, "lzo1"));
    or_skip!(we_read_python(Compressor::Lzo, "lzo999"));
}

#[test]
fn zstd_of_its_program() {
    for (content, block) in blocks(Compressor::Zstd) {
        assert!(or_skip!(ask("zstd", &["-dcq"], &block)) == content);
    }
    for level in ["-1", "-9", "-19"] {
        for content in contents() {
            let block = or_skip!(ask("zstd", &["-cq", level], &content));
            assert!(decompress(Compressor::Zstd, &block, content.len()) == content);
        }
    }
}

/// Frames of the program `lz4`, old kind: a magic number, the length of a block and the block.
#[test]
fn lz4_of_its_program() {
    const MAGIC: [u8; 4] = [0x02, 0x21, 0x4c, 0x18];
    for (content, block) in blocks(Compressor::Lz4) {
        let length = (block.len() as u32).to_le_bytes();
        let frame = [&MAGIC, &length, block.as_slice()].concat();
        assert!(or_skip!(ask("lz4", &["-dcq"], &frame)) == content);
    }
    for content in contents() {
        let frame = or_skip!(ask("lz4", &["-lcq", "-9"], &content));
        assert_eq!(frame[..4], MAGIC);
        assert!(decompress(Compressor::Lz4, &frame[8..], content.len()) == content);
    }
}

#[test]
fn which_blocks_hold_a_checksum() {
    for (compressor, expected) in Compressor::ALL.into_iter().zip([1, 0, 0, 1, 0, 1]) {
        for (_, block) in blocks(compressor) {
            let without = compressor == Compressor::Zstd && block[4] & 4 == 0;
            assert_eq!(compressor.has_checksum(&block), expected == 1 && !without);
        }
        assert_eq!(compressor.has_checksum(&[]), compressor == Compressor::Gzip);
    }
    let block = or_skip!(ask("xz", &["-c", "--check=none"], b"content"));
    assert!(!Compressor::Xz.has_checksum(&block));
    let block = or_skip!(ask("zstd", &["-cq", "--no-check"], b"content"));
    assert!(!Compressor::Zstd.has_checksum(&block));
}

/// The kernel takes no other check, and no dictionary larger than the option block says.
#[test]
fn xz_blocks_are_what_the_kernel_reads() {
    for words in SETTINGS.iter().filter(|words| words.starts_with("xz")) {
        let settings = parse(words, BLOCK);
        let dictionary = match settings.option_block(BLOCK) {
            Some(block) => u32::from_le_bytes(*block.first_chunk().unwrap()),
            None => BLOCK,
        };
        let mut compressor = BlockCompressor::new(&settings).unwrap();
        for content in contents() {
            let Some(block) = compress(&mut compressor, &content) else {
                continue;
            };
            assert_eq!(block[6..8], [0, 1], "CRC32");
            // After the stream header of 12 bytes: length, number of filters, and each filter.
            let filters = usize::from(block[13] & 3) + 1;
            let lzma2 = &block[14 + (filters - 1) * 2..];
            assert_eq!(lzma2[..2], [0x21, 1], "{words}");
            let bits = u32::from(lzma2[2]);
            let named = (2 | (bits & 1)) << (bits / 2 + 11);
            assert!(named <= dictionary, "{words}: {named}");
        }
    }
}

/// The kernel has memory for a window of the block size, and no more.
#[test]
fn zstd_windows_are_no_larger_than_the_block() {
    for level in [1, 3, 5, 9, 13, 15, 19, 22] {
        for block_size in [4096, 128 << 10, 1 << 20] {
            let level = level.to_string();
            let settings = Settings::parse(Compressor::Zstd, block_size, Some(&level), []).unwrap();
            let mut compressor = BlockCompressor::new(&settings).unwrap();
            for length in [300, 4096, block_size as usize] {
                let block = compress(&mut compressor, &text(1, length)).unwrap();
                let single_segment = block[4] & 0x20 != 0;
                // Then the window is the content.
                let window = if single_segment {
                    length as u64
                } else {
                    let exponent = 10 + u32::from(block[5] >> 3);
                    (1_u64 << exponent) + (1 << exponent) / 8 * u64::from(block[5] & 7)
                };
                assert!(
                    window <= u64::from(block_size.max(8192)),
                    "{level} {length} {window}"
                );
                assert_eq!(block[4] & 4, 4, "a checksum");
            }
        }
    }
}
