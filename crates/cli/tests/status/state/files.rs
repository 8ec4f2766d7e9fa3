//! Things done to the working tree by hand. Where one cannot be done, nothing happens.

use super::{shown, State};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Long ago, so that an index is surely newer.
pub fn long_ago(state: &mut State) -> SystemTime {
    let seconds = 1_500_000_000 + state.random.below(100_000) as u64;
    SystemTime::UNIX_EPOCH + Duration::new(seconds, state.random.below(1_000_000_000) as u32)
}

/// Lines of text, of which no two files have the same.
pub fn text(state: &mut State) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..state.random.below(24) {
        let number = state.random.below(100_000);
        text.extend_from_slice(format!("line {number}\n").as_bytes());
    }
    text
}

/// Whether it is a file, and no link to one.
pub fn is_file(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|stat| stat.is_file())
}

/// Whether it is a directory, and no link to one.
pub fn is_directory(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|stat| stat.is_dir())
}

/// Writes a file; whether it could.
pub fn write(state: &mut State, path: &[u8], content: &[u8]) -> bool {
    let place = state.place(path);
    let made = std::fs::create_dir_all(place.parent().unwrap()).is_ok();
    // Not through a link, nor into a pipe.
    let free = std::fs::symlink_metadata(&place).map_or(true, |stat| stat.is_file());
    let done = made && free && std::fs::write(&place, content).is_ok();
    if done {
        state.note(format!("write {} ({} bytes)", shown(path), content.len()));
    }
    done
}

/// Makes a link; whether it could.
pub fn link(state: &mut State, path: &[u8], target: &[u8]) -> bool {
    let place = state.place(path);
    let made = std::fs::create_dir_all(place.parent().unwrap()).is_ok();
    let done = made && std::os::unix::fs::symlink(OsStr::from_bytes(target), place).is_ok();
    if done {
        state.note(format!("link {} to {}", shown(path), shown(target)));
    }
    done
}

/// Makes a directory; whether it could.
pub fn directory(state: &mut State, path: &[u8]) -> bool {
    let done = std::fs::create_dir_all(state.place(path)).is_ok();
    if done {
        state.note(format!("mkdir {}", shown(path)));
    }
    done
}

/// Removes whatever is there.
pub fn remove(state: &mut State, path: &[u8]) {
    if std::fs::symlink_metadata(state.place(path)).is_ok() {
        state.repository.remove(path);
        state.note(format!("remove {}", shown(path)));
    }
}

/// Renames; whether it could.
pub fn rename(state: &mut State, from: &[u8], to: &[u8]) -> bool {
    let target = state.place(to);
    let made = std::fs::create_dir_all(target.parent().unwrap()).is_ok();
    let free = std::fs::symlink_metadata(&target).is_err();
    let done = made && free && std::fs::rename(state.place(from), target).is_ok();
    if done {
        state.note(format!("rename {} to {}", shown(from), shown(to)));
    }
    done
}

/// Changes what a file holds, if it is one; whether it did.
pub fn change(state: &mut State, path: &[u8], what: &str, by: impl Fn(&mut Vec<u8>)) -> bool {
    let place = state.place(path);
    if !is_file(&place) {
        return false;
    }
    let mut content = std::fs::read(&place).unwrap();
    by(&mut content);
    std::fs::write(&place, content).unwrap();
    state.note(format!("{what} {}", shown(path)));
    true
}

/// Changes one byte, or nothing of an empty file.
pub fn flip(content: &mut [u8]) {
    if let Some(byte) = content.iter_mut().find(|byte| byte.is_ascii_digit()) {
        *byte = b'0' + (*byte - b'0' + 1) % 10;
    }
}

/// Sets the time of the last change of a file.
pub fn set_time(state: &mut State, path: &[u8], time: SystemTime) {
    let place = state.place(path);
    if is_file(&place) {
        let file = std::fs::OpenOptions::new().write(true).open(&place);
        file.unwrap().set_modified(time).unwrap();
        state.note(format!("set the time of {}", shown(path)));
    }
}

/// Takes or gives the right to execute.
pub fn toggle_executable(state: &mut State, path: &[u8]) {
    let place = state.place(path);
    if is_file(&place) {
        let mode = std::fs::metadata(&place).unwrap().permissions().mode() ^ 0o111;
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(mode)).unwrap();
        state.note(format!("chmod {mode:o} {}", shown(path)));
    }
}

/// Makes a pipe or a socket.
pub fn special(state: &mut State, path: &[u8]) {
    let place = state.place(path);
    // Git would wait for someone to write patterns into the pipe.
    if path.windows(4).any(|part| part == b".git") {
        return;
    }
    if std::fs::create_dir_all(place.parent().unwrap()).is_err() {
        return;
    }
    if state.random.chance(50) {
        let made = std::os::unix::net::UnixListener::bind(&place).is_ok();
        state.note(format!("socket {}: {made}", shown(path)));
    } else {
        let mut command = std::process::Command::new("mkfifo");
        let outcome = command.arg("--").arg(&place).output().unwrap();
        state.note(format!("pipe {}: {}", shown(path), outcome.status));
    }
}
