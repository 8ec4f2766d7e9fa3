use super::report::Reports;
use super::severity::Rule;
use super::Findings;
use gix_hash::{oid, Kind};
use hedgerow_object::{mode_of_digits, RawTreeEntries};
use hedgerow_tree::{is_any_dot_git, is_dot_file, DotFile};

const TYPE_BITS: u32 = 0o170_000;
const DIRECTORY: u32 = 0o040_000;
const LINK: u32 = 0o120_000;
/// No file system takes a longer name.
const NAME_BYTES: usize = 4096;

/// One entry of a tree.
#[derive(Clone, Copy)]
struct Entry<'t> {
    /// The octal digits.
    pub digits: &'t [u8],
    /// Their number: its last 16 bits.
    pub mode: u32,
    pub name: &'t [u8],
    pub id: &'t oid,
}

/// The entries of a tree; `None` for what cannot be parsed as one, also if a name is empty.
fn entries(content: &[u8], hash: Kind) -> impl Iterator<Item = Option<Entry<'_>>> {
    RawTreeEntries::new(content, hash).map(|raw| {
        let raw = raw.ok().filter(|raw| !raw.name.is_empty())?;
        Some(Entry {
            digits: raw.mode,
            mode: mode_of_digits(raw.mode)?,
            name: raw.name,
            id: raw.id,
        })
    })
}

/// What is wrong with any of the entries; told once each.
#[derive(Default)]
struct Faults {
    list: Vec<(Rule, &'static str)>,
}

impl Faults {
    fn note(&mut self, is_wrong: bool, rule: Rule, words: &'static str) {
        if is_wrong && self.list.iter().all(|(known, _)| *known != rule) {
            self.list.push((rule, words));
        }
    }
}

/// Checks a tree.
pub(super) fn check(
    content: &[u8],
    hash: Kind,
    reports: &mut Reports<'_>,
    findings: &mut Findings,
) {
    let mut faults = Faults::default();
    let mut before: Option<Entry<'_>> = None;
    let mut candidates = Vec::new();
    for entry in entries(content, hash) {
        let Some(entry) = entry else {
            reports.add(Rule::BadTree, "cannot be parsed as a tree");
            break;
        };
        check_entry(&entry, &mut faults);
        check_special(&entry, reports, findings);
        if let Some(before) = before {
            check_order(&before, &entry, &mut candidates, &mut faults);
        }
        before = Some(entry);
    }
    // In the order that git tells them.
    faults.list.sort_by_key(|(rule, _)| rank(*rule));
    for (rule, words) in faults.list {
        reports.add(rule, words);
    }
}

fn rank(rule: Rule) -> usize {
    const ORDER: [Rule; 11] = [
        Rule::NullSha1,
        Rule::FullPathname,
        Rule::EmptyName,
        Rule::HasDot,
        Rule::HasDotdot,
        Rule::HasDotgit,
        Rule::ZeroPaddedFilemode,
        Rule::BadFilemode,
        Rule::DuplicateEntries,
        Rule::TreeNotSorted,
        Rule::LargePathname,
    ];
    ORDER
        .iter()
        .position(|known| *known == rule)
        .unwrap_or(ORDER.len())
}

fn check_entry(entry: &Entry<'_>, faults: &mut Faults) {
    let name = entry.name;
    let is_null = entry.id.is_null();
    faults.note(
        is_null,
        Rule::NullSha1,
        "contains entries pointing to null sha1",
    );
    faults.note(
        name.contains(&b'/'),
        Rule::FullPathname,
        "contains full pathnames",
    );
    faults.note(name == b".", Rule::HasDot, "contains '.'");
    faults.note(name == b"..", Rule::HasDotdot, "contains '..'");
    faults.note(is_any_dot_git(name), Rule::HasDotgit, "contains '.git'");
    let is_padded = entry.digits.first() == Some(&b'0');
    faults.note(
        is_padded,
        Rule::ZeroPaddedFilemode,
        "contains zero-padded file modes",
    );
    let is_usual = matches!(
        entry.mode,
        0o100_755 | 0o100_644 | LINK | DIRECTORY | 0o160_000
    );
    faults.note(!is_usual, Rule::BadFilemode, "contains bad file modes");
    let is_long = name.len() > NAME_BYTES;
    faults.note(
        is_long,
        Rule::LargePathname,
        "contains excessively large pathname",
    );
}

/// Names that git gives a meaning to must be those of files.
fn check_special(entry: &Entry<'_>, reports: &mut Reports<'_>, findings: &mut Findings) {
    let is_link = entry.mode & TYPE_BITS == LINK;
    let mut parts = entry.name.split(|byte| *byte == b'\\');
    if parts.any(|part| is_dot_file(part, DotFile::Modules)) {
        if is_link {
            reports.add(Rule::GitmodulesSymlink, ".gitmodules is a symbolic link");
        } else {
            findings.modules.insert(entry.id.to_owned());
        }
    }
    if is_dot_file(entry.name, DotFile::Attributes) {
        if is_link {
            reports.add(Rule::GitattributesSymlink, ".gitattributes is a symlink");
        } else {
            findings.attributes.insert(entry.id.to_owned());
        }
    }
    if is_link && is_dot_file(entry.name, DotFile::Ignore) {
        reports.add(Rule::GitignoreSymlink, ".gitignore is a symlink");
    }
    if is_link && is_dot_file(entry.name, DotFile::Mailmap) {
        reports.add(Rule::MailmapSymlink, ".mailmap is a symlink");
    }
}

/// Checks that `second` may follow `first`. A directory sorts as if a slash ended its name, so
/// names that could still come again as one are kept in `candidates`.
fn check_order<'t>(
    first: &Entry<'t>,
    second: &Entry<'t>,
    candidates: &mut Vec<&'t [u8]>,
    faults: &mut Faults,
) {
    const TWICE: &str = "contains duplicate file entries";
    let length = first.name.len().min(second.name.len());
    let order = first.name.get(..length).cmp(&second.name.get(..length));
    let mut is_unordered = order.is_gt();
    if order.is_eq() {
        let after = |entry: &Entry<'_>| match entry.name.get(length) {
            Some(byte) => *byte,
            None if entry.mode & TYPE_BITS == DIRECTORY => b'/',
            None => 0,
        };
        if first.name.len() == second.name.len() {
            faults.note(true, Rule::DuplicateEntries, TWICE);
            return;
        }
        let (one, two) = (after(first), after(second));
        let is_before_slash = |byte: u8| 0 < byte && byte < b'/';
        if one == 0 && is_before_slash(two) {
            candidates.push(first.name);
        } else if two == b'/' && is_before_slash(one) {
            faults.note(
                comes_again(second.name, candidates),
                Rule::DuplicateEntries,
                TWICE,
            );
        }
        is_unordered = one >= two;
    }
    faults.note(is_unordered, Rule::TreeNotSorted, "not properly sorted");
}

/// Whether the directory `name` is also one of the files in `candidates`; drops those that can no
/// longer come again.
fn comes_again(name: &[u8], candidates: &mut Vec<&[u8]>) -> bool {
    while let Some(candidate) = candidates.pop() {
        match name.strip_prefix(candidate) {
            Some([]) => return true,
            Some([next, ..]) if 0 < *next && *next < b'/' => {
                candidates.push(candidate);
                return false;
            }
            _ => {}
        }
    }
    false
}
