//! The words that say where a walk starts and what it excludes: gitrevisions(7).

use crate::refs::{name_fits, Reference, ReferenceProblem};
use crate::repository::Repository;
use crate::revision::{IndexPaths, Wanted};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_pack::{ObjectId, ObjectKind};
use hedgerow_reach::{merge_bases, NoWalk, Question, Source, Tip};
use std::fmt::Display;
use std::io::BufRead;

/// Upper size limit of a line of input, in bytes.
const LINE_BYTES: usize = 64 << 10;

/// Arguments that name commits and objects, processed in order: git-rev-list(1).
pub struct RevisionArguments<'r> {
    repository: &'r Repository,
    source: Source<'r>,
    index: IndexPaths<'r>,
    /// Whether `--` was given, so that no word can be a file.
    has_end: bool,
    warn: &'r dyn Fn(String),
    /// The objects named so far.
    pub tips: Vec<Tip>,
    /// Whether the meaning of words is inverted (`--not`).
    is_negated: bool,
    /// Reference patterns that the next option excludes.
    excluded: Vec<BString>,
    /// Whether any argument was given that names something, even if it matched no reference.
    pub was_given: bool,
    /// Whether the commits are listed without their ancestors.
    pub no_walk: Option<NoWalk>,
    /// Whether no line is an option but `--not`, as for git-pack-objects(1).
    pub lines_are_revisions: bool,
}

impl<'r> RevisionArguments<'r> {
    /// No arguments yet. `has_end`: no word can be a path. `warn` receives git's warnings.
    pub fn new(
        repository: &'r Repository,
        source: Source<'r>,
        has_end: bool,
        warn: &'r dyn Fn(String),
    ) -> Self {
        RevisionArguments {
            repository,
            source,
            index: IndexPaths::new(repository),
            has_end,
            warn,
            tips: Vec::new(),
            is_negated: false,
            excluded: Vec::new(),
            was_given: false,
            no_walk: None,
            lines_are_revisions: false,
        }
    }

    /// Adds the objects named by a word.
    pub fn add(&mut self, word: &BStr) -> Result<()> {
        self.was_given = true;
        let added = self.try_add(word)?;
        let name = word.strip_prefix(b"^").unwrap_or(word).as_bstr();
        if added && !self.has_end && self.repository.names_file(name)? {
            return Err(fatal(format_args!(
                "ambiguous argument '{name}': both revision and filename\n\
                 Use '--' to separate paths from revisions, like this:\n\
                 'git <command> [<revision>...] -- [<file>...]'"
            )));
        }
        if added {
            return Ok(());
        }
        if self.has_end || word.starts_with(b"^") {
            return Err(fatal(format_args!("bad revision '{word}'")));
        }
        let path = self
            .repository
            .environment()
            .cwd
            .join(word.to_os_str_lossy());
        if hedgerow_fs::exists(&path) {
            return Err(not_built(format_args!(
                "'{word}' is a path, and rev-list does not support paths"
            )));
        }
        Err(fatal(format_args!(
            "ambiguous argument '{word}': unknown revision or path not in the working tree.\n\
             Use '--' to separate paths from revisions, like this:\n\
             'git <command> [<revision>...] -- [<file>...]'"
        )))
    }

    /// What the words name as a question: which objects are reachable and not had.
    pub fn into_question(self, threads: usize) -> Question {
        let (haves, wants): (Vec<Tip>, Vec<Tip>) =
            self.tips.into_iter().partition(|tip| tip.is_uninteresting);
        Question {
            wants: wants.into_iter().map(|tip| tip.id).collect(),
            haves: haves.into_iter().map(|tip| tip.id).collect(),
            threads,
            ..Question::default()
        }
    }

    /// Adds what the lines of `input` name, up to an empty one, as `--stdin` does.
    pub fn add_lines(&mut self, input: impl BufRead) -> Result<()> {
        let is_negated = std::mem::take(&mut self.is_negated);
        let has_end = std::mem::replace(&mut self.has_end, true);
        let mut only_revisions = false;
        let mut lines = input.split(b'\n');
        while let Some(line) = lines.next() {
            let line = line.map_err(fatal)?;
            let word = line.as_bstr();
            if word.len() > LINE_BYTES {
                return Err(fatal("a line of standard input is too long"));
            }
            if word.is_empty() {
                break;
            }
            let is_option = word.starts_with(b"-") && word != "--not";
            if self.lines_are_revisions && is_option {
                return Err(fatal(format_args!("not a rev '{word}'")));
            }
            if word == "--" {
                // Paths would follow.
                match lines.next() {
                    None => break,
                    Some(_) => return Err(not_built("rev-list does not support paths")),
                }
            }
            if only_revisions || !word.starts_with(b"-") {
                self.add(word)?;
            } else if word == "--end-of-options" {
                only_revisions = true;
            } else if !self.option(word, &mut std::iter::empty())? && !self.no_walk(word) {
                let words = format!("invalid option '{word}' in --stdin mode");
                return Err(fatal(words));
            }
        }
        (self.is_negated, self.has_end) = (is_negated, has_end);
        Ok(())
    }

    /// Handles `word` if it is an option that stands for revisions. Returns whether it is one.
    pub fn option<'w>(
        &mut self,
        word: &'w BStr,
        rest: &mut impl Iterator<Item = &'w &'w BStr>,
    ) -> Result<bool> {
        let (name, value) = match word.split_once_str("=") {
            Some((name, value)) => (name, Some(value.as_bstr())),
            None => (word.as_bytes(), None),
        };
        match (name, value) {
            (b"--not", None) => {
                self.is_negated = !self.is_negated;
                return Ok(true);
            }
            (b"--all", None) => {
                let all = self.repository.references_to_follow("refs/".into())?;
                self.add_references(all, 0)?;
                self.add_heads()?;
            }
            (b"--branches" | b"--tags" | b"--remotes", _) => {
                let part = match name {
                    b"--branches" => "refs/heads/",
                    b"--tags" => "refs/tags/",
                    _ => "refs/remotes/",
                };
                let found = match value {
                    None => self.repository.references_to_follow(part.into())?,
                    Some(pattern) => {
                        let pattern = [part.as_bytes(), pattern].concat();
                        self.repository.references_like(pattern.as_bstr())?
                    }
                };
                self.add_references(found, part.len())?;
            }
            (b"--glob", value) => {
                let pattern = required("glob", value, rest)?;
                let found = self.repository.references_like(pattern)?;
                self.add_references(found, 0)?;
            }
            (b"--exclude", value) => {
                let pattern = required("exclude", value, rest)?;
                self.excluded.push(pattern.to_owned());
                return Ok(true);
            }
            // Without alternates and hidden references, which `refuse_unbuilt` made sure of.
            (b"--alternate-refs", None) => {}
            (b"--exclude-hidden", Some(_)) => return Ok(true),
            _ => return Ok(false),
        }
        self.was_given = true;
        self.excluded.clear();
        Ok(true)
    }

    /// Refuses options about references that are not built for this repository, before input is read.
    ///
    /// # Errors
    /// [`Error::NotBuilt`] for `--alternate-refs` in a repository with alternates, and for
    /// `--exclude-hidden` where references are hidden.
    pub fn refuse_unbuilt(&self, words: &[&BStr]) -> Result<()> {
        for word in words {
            if *word == "--alternate-refs" && self.repository.objects().has_alternates() {
                return Err(not_built(
                    "rev-list does not know the references of alternates",
                ));
            }
            let Some(section) = word.strip_prefix(b"--exclude-hidden=") else {
                continue;
            };
            if ![&b"fetch"[..], b"receive", b"uploadpack"].contains(&section) {
                let section = section.as_bstr();
                let words = format!("unsupported section for hidden refs: {section}");
                return Err(fatal(words));
            }
            let config = self.repository.config();
            let section = section.to_str_lossy();
            let hidden = [&section, "transfer"].map(|it| config.strings(&format!("{it}.hideRefs")));
            if hidden.iter().any(|patterns| !patterns.is_empty()) {
                return Err(not_built("rev-list does not know hidden references"));
            }
        }
        Ok(())
    }

    /// Handles `word` if it is an option about following commits. Returns whether it is one.
    pub fn no_walk(&mut self, word: &BStr) -> bool {
        self.no_walk = match word.as_bytes() {
            b"--no-walk" => self.no_walk.or(Some(NoWalk::Sorted)),
            b"--no-walk=sorted" => Some(NoWalk::Sorted),
            b"--no-walk=unsorted" => Some(NoWalk::Unsorted),
            b"--do-walk" => None,
            _ => return false,
        };
        true
    }

    /// Adds references; exclusion patterns are matched without the first `cut` bytes of their
    /// names.
    fn add_references(&mut self, found: Vec<Reference>, cut: usize) -> Result<()> {
        for reference in found {
            let mut name = reference.name;
            let short = name.get(cut..).unwrap_or_default().as_bstr();
            let is_excluded = |pattern: &BString| name_fits(pattern.as_ref(), short);
            if self.excluded.iter().any(is_excluded) {
                continue;
            }
            let Some(id) = reference.id else {
                continue;
            };
            let cut = cut.min(name.len());
            name.drain(..cut);
            let shown = String::from_utf8(name.into());
            let shown = shown.unwrap_or_else(|name| name.as_bytes().to_str_lossy().into_owned());
            // The walk reports missing objects, so that no list is silently incomplete.
            self.push(id, self.is_negated, shown);
        }
        Ok(())
    }

    fn add_heads(&mut self) -> Result<()> {
        let head = match self.repository.head() {
            // As in a repository that is being cloned: it has no `HEAD` yet.
            Err(Error::Reference {
                reason: ReferenceProblem::BadTarget(_) | ReferenceProblem::Absent,
                ..
            }) => None,
            head => head?.id(),
        };
        if let Some(id) = head {
            let is_excluded = |pattern: &BString| name_fits(pattern.as_ref(), "HEAD".into());
            if !self.excluded.iter().any(is_excluded) {
                self.push(id, self.is_negated, "HEAD".to_owned());
            }
        }
        for id in self.repository.worktree_heads()? {
            self.push(id, self.is_negated, "HEAD".to_owned());
        }
        Ok(())
    }

    fn push(&mut self, id: ObjectId, is_uninteresting: bool, name: String) {
        self.add_tip(Tip {
            name,
            ..Tip::new(id, is_uninteresting)
        });
    }

    /// As with git, an excluded tip after `--no-walk` makes the walk follow commits after all.
    fn add_tip(&mut self, tip: Tip) {
        if tip.is_uninteresting {
            self.no_walk = None;
        }
        self.tips.push(tip);
    }

    /// Adds the objects named by `word`; returns whether it names any.
    fn try_add(&mut self, word: &BStr) -> Result<bool> {
        if let Some(at) = word.find(b"..") {
            if self.add_range(word[..at].as_bstr(), word[at + 2..].as_bstr())? {
                return Ok(true);
            }
        }
        if let Some(commit) = word.strip_suffix(b"^@") {
            if self.add_parents(commit.as_bstr(), self.is_negated, None)? {
                return Ok(true);
            }
        }
        // As in git, the following suffixes add the commit itself, too.
        let mut word = word;
        if let Some(commit) = word.strip_suffix(b"^!") {
            if self.add_parents(commit.as_bstr(), !self.is_negated, None)? {
                word = commit.as_bstr();
            }
        }
        if let Some(at) = word.find(b"^-") {
            let number = match word[at + 2..].as_bytes() {
                b"" => Some(1),
                digits => digits.to_str().ok().and_then(|digits| digits.parse().ok()),
            };
            let Some(number) = number.filter(|number: &usize| *number > 0) else {
                return Ok(false);
            };
            let commit = word[..at].as_bstr();
            if self.add_parents(commit, !self.is_negated, Some(number))? {
                word = commit;
            }
        }
        let (name, is_negated) = match word.strip_prefix(b"^") {
            Some(name) => (name.as_bstr(), !self.is_negated),
            None => (word, self.is_negated),
        };
        let Some(id) = self.resolve(name, Wanted::Any)? else {
            return Ok(false);
        };
        self.add_tip(Tip {
            name: name.to_string(),
            path: path_in(name).to_vec(),
            ..Tip::new(id, is_negated)
        });
        Ok(true)
    }

    /// Adds `left..rest`, or `left...` if `rest` starts with a dot (symmetric difference); an empty
    /// side means HEAD. Returns whether both sides name commits.
    fn add_range(&mut self, left: &BStr, rest: &BStr) -> Result<bool> {
        let (is_symmetric, right) = match rest.strip_prefix(b".") {
            Some(right) => (true, right.as_bstr()),
            None => (false, rest),
        };
        // `..` alone may be a path.
        if left.is_empty() && right.is_empty() && !is_symmetric && !self.has_end {
            return Ok(false);
        }
        let name = |side: &BStr| -> BString {
            if side.is_empty() {
                "HEAD".into()
            } else {
                side.to_owned()
            }
        };
        let (left, right) = (name(left), name(right));
        let left_id = self.resolve(left.as_ref(), Wanted::Commit)?;
        let right_id = self.resolve(right.as_ref(), Wanted::Commit)?;
        let (Some(left_id), Some(right_id)) = (left_id, right_id) else {
            return Ok(false);
        };
        if is_symmetric {
            let peel = |id: &ObjectId| self.repository.peel(id, Some(ObjectKind::Commit));
            let (Some(a), Some(b)) = (peel(&left_id)?, peel(&right_id)?) else {
                let words = format!("Invalid symmetric difference expression {left}...{right}");
                return Err(fatal(words));
            };
            for base in merge_bases(self.source, &a, &b)? {
                self.push(base, !self.is_negated, base.to_string());
            }
        }
        self.add_tip(Tip {
            name: left.to_string(),
            is_left: is_symmetric,
            path: path_in(left.as_ref()).to_vec(),
            ..Tip::new(left_id, self.is_negated == is_symmetric)
        });
        self.add_tip(Tip {
            name: right.to_string(),
            path: path_in(right.as_ref()).to_vec(),
            ..Tip::new(right_id, self.is_negated)
        });
        Ok(true)
    }

    /// Adds the parents of the commit `word`, or one of them; returns whether it is a commit.
    fn add_parents(
        &mut self,
        word: &BStr,
        is_uninteresting: bool,
        only: Option<usize>,
    ) -> Result<bool> {
        let (word, is_uninteresting) = match word.strip_prefix(b"^") {
            Some(word) => (word.as_bstr(), !is_uninteresting),
            None => (word, is_uninteresting),
        };
        let Some(id) = self.resolve(word, Wanted::Commit)? else {
            return Ok(false);
        };
        let Some(commit) = self.repository.peel(&id, Some(ObjectKind::Commit))? else {
            return Ok(false);
        };
        let parents = self.repository.commit(&commit)?.parents;
        if only.is_some_and(|only| only > parents.len()) {
            return Ok(false);
        }
        for (parent, number) in parents.into_iter().zip(1..) {
            if only.is_none_or(|only| only == number) {
                self.push(parent, is_uninteresting, word.to_string());
            }
        }
        Ok(true)
    }

    /// The object that `word` names, if any.
    fn resolve(&self, word: &BStr, wanted: Wanted) -> Result<Option<ObjectId>> {
        let words: &[u8] = word;
        if words.len() == self.repository.hash_kind().len_in_hex() {
            if let Ok(id) = ObjectId::from_hex(words) {
                return Ok(Some(id));
            }
        }
        let index = |path: &BStr, stage| self.index.find(path, stage);
        match self.repository.resolve_with(word, wanted, Some(&index)) {
            Ok(found) => {
                let warnings = found.warnings.iter();
                warnings.for_each(|warning| (self.warn)(warning.clone()));
                Ok(Some(found.id))
            }
            Err(crate::Error::Revision { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn fatal(reason: impl Display) -> Error {
    let reason = reason.to_string();
    Error::Setup { reason }
}

fn not_built(reason: impl Display) -> Error {
    let reason = reason.to_string();
    Error::NotBuilt { reason }
}

/// The value of the option `name`, in its own word or the next.
fn required<'w>(
    name: &str,
    value: Option<&'w BStr>,
    rest: &mut impl Iterator<Item = &'w &'w BStr>,
) -> Result<&'w BStr> {
    let value = value.or_else(|| rest.next().copied());
    value.ok_or_else(|| fatal(format_args!("Option '--{name}' requires a value")))
}

/// The path in `REVISION:PATH`, `:PATH` or `:N:PATH`.
fn path_in(word: &BStr) -> &[u8] {
    match word.as_bytes() {
        [b':', b'/', ..] => return &[],
        [b':', b'0'..=b'3', b':', path @ ..] | [b':', path @ ..] => return path,
        _ => {}
    }
    let mut depth = 0_u32;
    for (at, byte) in word.iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && at > 0 => return &word[at + 1..],
            _ => {}
        }
    }
    &[]
}
