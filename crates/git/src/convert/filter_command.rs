//! A filter program that runs once for each file.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;

use bstr::{BStr, BString, ByteSlice, ByteVec};
use hedgerow_fs::{FilterCancel, FilterProcess, Transfer};

use super::lane::FilterContext;

/// Runs `command` on `content`. The inner error is what git says when a filter
/// fails, a sentence each.
///
/// # Errors
/// It was cancelled.
pub(super) fn run(
    command: &BStr,
    path: &BStr,
    content: &[u8],
    context: &FilterContext,
    cancel: &FilterCancel,
) -> io::Result<Result<Vec<u8>, Vec<String>>> {
    let failed = || format!("external filter '{command}' failed");
    let substituted = substitute(command, path);
    let mut process = match start(substituted.as_bstr(), context, cancel) {
        Ok(process) => process,
        Err(error) => {
            let forked = format!("cannot fork to run external filter '{command}'");
            let first = unstarted(substituted.as_bstr(), &error);
            return Ok(Err(vec![first, forked, failed()]));
        }
    };
    let outcome = exchange(&mut process, content).and_then(|out| Ok((out, process.wait()?)));
    match outcome {
        Ok((out, None)) => Ok(Ok(out)),
        Ok((_, Some(code))) => Ok(Err(vec![format!("{} {code}", failed()), failed()])),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
        Err(_) => Ok(Err(vec![format!(
            "read from external filter '{command}' failed"
        )])),
    }
}

/// What git says of a command that cannot be started.
pub(super) fn unstarted(command: &BStr, error: &io::Error) -> String {
    format!("cannot run {command}: {}", hedgerow_fs::reason(error))
}

/// Starts a filter program in the directory and with the environment that git uses.
pub(super) fn start(
    command: &BStr,
    context: &FilterContext,
    cancel: &FilterCancel,
) -> io::Result<FilterProcess> {
    let programs = context.git_programs.as_ref();
    let programs = programs.map(|programs| programs.variables());
    let environment: Vec<_> = programs
        .iter()
        .flatten()
        .chain(&context.environment)
        .map(|(name, value)| (name.as_os_str(), value.as_deref()))
        .collect();
    let command = OsStr::from_bytes(command);
    FilterProcess::spawn(command, &context.directory, &environment, cancel.clone())
}

/// Returns the program's whole output. The program need not read its input.
fn exchange(process: &mut FilterProcess, mut content: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(content.len());
    let mut buffer = vec![0; 64 * 1024];
    loop {
        if content.is_empty() {
            process.close_input();
        }
        match process.transfer(content, &mut buffer)? {
            Transfer::Read(0) => return Ok(out),
            Transfer::Read(count) => out.extend_from_slice(&buffer[..count]),
            Transfer::Wrote(count) => content = &content[count..],
        }
    }
}

/// Replaces `%f` in the command by the path, quoted for the shell, and `%%` by a percent sign.
fn substitute(command: &BStr, path: &BStr) -> BString {
    let mut out = BString::default();
    let mut rest = command.as_bytes();
    while let Some(at) = rest.find_byte(b'%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.first() {
            Some(b'f') => {
                quote(path, &mut out);
                rest = &rest[1..];
            }
            Some(b'%') => {
                out.push(b'%');
                rest = &rest[1..];
            }
            _ => out.push(b'%'),
        }
    }
    out.push_str(rest);
    out
}

/// Quotes for the shell.
pub(crate) fn shell_quoted(text: &BStr) -> BString {
    let mut out = BString::default();
    quote(text, &mut out);
    out
}

/// Quotes for the shell. Exclamation marks are put outside the quotes because of csh.
fn quote(path: &BStr, out: &mut BString) {
    out.push(b'\'');
    for &byte in path.as_bytes() {
        match byte {
            b'\'' | b'!' => out.extend_from_slice(&[b'\'', b'\\', byte, b'\'']),
            _ => out.push(byte),
        }
    }
    out.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_quoted_for_the_shell() {
        let command = |command: &str, path: &str| substitute(command.into(), path.into());
        assert_eq!(command("a %f b", "x y"), "a 'x y' b");
        assert_eq!(command("%f%f", "it's!"), r"'it'\''s'\!'''it'\''s'\!''");
        assert_eq!(command("100%% %x %", "p"), "100% %x %");
    }
}
