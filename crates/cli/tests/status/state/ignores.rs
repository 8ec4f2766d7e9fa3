//! Patterns at several levels, and things that they hit and miss.

use super::names::{directory, parent};
use super::{files, State};

const PATTERNS: &[&str] = &[
    "*.o",
    "!keep.o",
    "/build/",
    "build",
    "logs/",
    "!logs/",
    "**/tmp",
    "a/**/x.o",
    "doc/**",
    "[abc].txt",
    "[!a-m]*.md",
    "[[:upper:]]*",
    "trail\\ ",
    "trail   ",
    "\\#hash",
    "\\!bang",
    "*",
    "!keep",
    "!*/",
    "# a remark",
    "",
    "d?c",
    "/a",
    "src/deep/*",
    "src/*",
    "!src/lib",
    "**",
    "/*",
    "!/src/",
    "x**o",
    "back\\\\slash",
    "\\",
    "out/\r",
    "new?line",
    "*.[oO]",
    "/**/logs",
    "lib/**/",
    ".cfg/",
    "repo*",
    "*/inner",
    "dot.",
    "n\u{e4}me",
    "*\\",
    "sub",
    "[",
    "[a",
    "~",
];

/// Names that patterns are about.
const NAMES: &[&[u8]] = &[
    b"x.o",
    b"keep.o",
    b"keep",
    b"build",
    b"a",
    b"b.txt",
    b"c.txt",
    b"zz.md",
    b"README",
    b"trail ",
    b"#hash",
    b"!bang",
    b"back\\slash",
    b"new\nline",
    b"x1o",
    b"dot.",
    b"inner",
    b"tmp",
    b"logs",
    "n\u{e4}me".as_bytes(),
    b"~",
    b"plain",
];

/// Writes the patterns, and files for them.
pub fn write(state: &mut State) {
    for _ in 0..1 + state.random.below(3) {
        let content = patterns(state);
        let mut place = match state.random.below(3) {
            0 => Vec::new(),
            1 => parent(&state.path()),
            _ => [directory(state), b"/"].concat(),
        };
        place.extend_from_slice(b".gitignore");
        match state.random.below(30) {
            0 => drop(files::link(state, &place, b"elsewhere")),
            1 => drop(files::directory(state, &place)),
            _ => {
                if files::write(state, &place, content.as_bytes()) {
                    state.note(format!("  which is {content:?}"));
                }
            }
        }
    }
    if state.random.chance(25) {
        let info = state.git_common_dir().join("info");
        let content = patterns(state);
        std::fs::create_dir_all(&info).unwrap();
        std::fs::write(info.join("exclude"), &content).unwrap();
        state.note(format!("info/exclude {content:?}"));
    }
    if state.random.chance(20) {
        let path = state.git_common_dir().join("patterns");
        let content = patterns(state);
        std::fs::write(&path, &content).unwrap();
        state.note(format!("core.excludesFile {content:?}"));
        let name = std::fs::canonicalize(path).unwrap();
        state.configure(&format!("[core]\n\texcludesFile = {}\n", name.display()));
    }
    for _ in 0..3 + state.random.below(14) {
        something(state);
    }
}

fn patterns(state: &mut State) -> String {
    let mut content = String::new();
    if state.random.chance(5) {
        content.push('\u{feff}');
    }
    let end = if state.random.chance(6) { "\r\n" } else { "\n" };
    for _ in 0..1 + state.random.below(5) {
        content += *state.random.pick(PATTERNS);
        content += end;
    }
    if state.random.chance(15) {
        content.truncate(content.trim_end().len());
    }
    content
}

/// Something untracked that a pattern may hit.
fn something(state: &mut State) {
    let mut path = match state.random.below(3) {
        0 => parent(&state.path()),
        _ => Vec::new(),
    };
    for _ in 0..state.random.below(4) {
        path.extend_from_slice(directory(state));
        path.push(b'/');
    }
    match state.random.below(12) {
        0 => {
            path.extend_from_slice(b"hollow/inner");
            files::directory(state, &path);
        }
        1 => {
            // Tracked inside of what is ignored.
            path.extend_from_slice(state.random.pick::<&[u8]>(NAMES));
            if files::write(state, &path, b"forced\n") {
                state.git(&[&b"add"[..], b"-f", b"--", &super::edits::literal(&path)]);
            }
        }
        _ => {
            path.extend_from_slice(state.random.pick::<&[u8]>(NAMES));
            files::write(state, &path, b"?\n");
        }
    }
}
