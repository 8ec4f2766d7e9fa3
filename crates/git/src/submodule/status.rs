//! The states of submodules: git-submodule(1) under `status`.

use super::modules::{refuse_links, Modules};
use super::{displayed, in_parallel, listed, read_index, Listed, DEPTH_LIMIT};
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use hedgerow_fs::{Exit, Process};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The longest name that git may give a commit, in bytes.
const NAME_LIMIT_BYTES: u64 = 64 << 10;

/// Options of a status of submodules.
#[derive(Clone, Debug, Default)]
pub struct SubmoduleStatusOptions {
    /// Only these; all without any.
    pub pathspecs: Vec<BString>,
    /// Tell the commit of the index, not that which is checked out.
    pub cached: bool,
    /// Submodules of submodules, too.
    pub recursive: bool,
    /// Leave out how the commits may be named.
    pub unnamed: bool,
    /// How to run.
    pub execution: Execution,
}

/// The state of a submodule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmoduleLine {
    /// `' '`, `'-'`: not populated, `'+'`: another commit is checked out, `'U'`: in conflict.
    pub state: char,
    /// The commit.
    pub id: ObjectId,
    /// The submodule, as the user may name it.
    pub path: BString,
    /// A name of the commit, if there is one.
    pub name: Option<BString>,
}

/// What is known of submodules.
#[derive(Debug, Default)]
pub struct SubmoduleStates {
    /// A line for each in the order of the index, as far as none before it failed.
    pub lines: Vec<SubmoduleLine>,
    /// Why the next one could not be examined, in git's words: it has no entry in `.gitmodules`, is
    /// reached through a link, or is damaged.
    pub failure: Option<Error>,
}

impl SubmoduleStates {
    fn failed(error: Error) -> Self {
        SubmoduleStates {
            lines: Vec::new(),
            failure: Some(error),
        }
    }

    /// Adds those that come next, and whether they were the last ones.
    fn append(&mut self, next: SubmoduleStates) -> bool {
        self.lines.extend(next.lines);
        self.failure = next.failure;
        self.failure.is_none()
    }
}

/// The states of submodules, several examined at a time, in the order of the index. `warn` is told
/// of what git would ignore in `.gitmodules`.
///
/// # Errors
/// If the index or `.gitmodules` cannot be read, or a path names no submodule.
pub fn submodule_status(
    repository: &Repository,
    options: &SubmoduleStatusOptions,
    warn: &mut dyn FnMut(String),
) -> Result<SubmoduleStates> {
    below(repository, options, ("".into(), 0), warn)
}

fn below(
    repository: &Repository,
    options: &SubmoduleStatusOptions,
    (above, depth): (&BStr, usize),
    warn: &mut dyn FnMut(String),
) -> Result<SubmoduleStates> {
    if depth > DEPTH_LIMIT {
        return Err(Error::Setup {
            reason: format!("submodules are nested more than {DEPTH_LIMIT} deep"),
        });
    }
    let index = read_index(repository)?;
    let modules = Modules::read(repository, &index)?;
    modules.warnings.iter().cloned().for_each(warn);
    let all = listed(repository, &index, &options.pathspecs)?;
    let examined = Examined {
        environment: repository.environment().clone(),
        top: repository.require_work_tree()?,
        options,
        depth,
    };
    let mut tasks = Vec::with_capacity(all.len());
    let mut failure = None;
    for one in all {
        let path = one.path.as_bstr();
        let shown = displayed(repository, above, path);
        let checked = refuse_links(examined.top, path).and_then(|()| match modules.at(path) {
            Some(_) => modules.is_active(repository, path),
            None => Err(Error::Setup {
                reason: format!("no submodule mapping found in .gitmodules for path '{path}'"),
            }),
        });
        let is_active = match checked {
            Ok(is_active) => is_active,
            Err(error) => {
                failure = Some(error);
                break;
            }
        };
        let dot_git = examined.top.join(OsStr::from_bytes(path)).join(".git");
        let others = repository.other_repositories();
        let is_there = if is_active {
            others.has_submodule(&dot_git, &format!("{path}/.git"))
        } else {
            Ok(false)
        };
        let is_there = match is_there {
            Ok(is_there) => is_there,
            Err(error) => {
                failure = Some(error);
                break;
            }
        };
        tasks.push((one, shown, is_there));
    }
    let examined = in_parallel(&options.execution, &tasks, |(one, shown, is_there)| {
        let states = examined.states(one, shown, *is_there);
        Ok(states.unwrap_or_else(SubmoduleStates::failed))
    })?;
    let mut states = SubmoduleStates::default();
    if examined.into_iter().all(|next| states.append(next)) {
        states.failure = failure;
    }
    Ok(states)
}

struct Examined<'a> {
    environment: crate::config::Environment,
    top: &'a Path,
    options: &'a SubmoduleStatusOptions,
    depth: usize,
}

impl Examined<'_> {
    fn states(&self, one: &Listed, shown: &BString, is_there: bool) -> Result<SubmoduleStates> {
        let line = |state, id| SubmoduleLine {
            state,
            id,
            path: shown.clone(),
            name: None,
        };
        let alone = |line| SubmoduleStates {
            lines: vec![line],
            failure: None,
        };
        if one.is_unmerged {
            return Ok(alone(line('U', ObjectId::null(one.id.kind()))));
        }
        if !is_there {
            return Ok(alone(line('-', one.id)));
        }
        let directory = self.top.join(OsStr::from_bytes(&one.path));
        let submodule = Repository::open_submodule(&directory, &self.environment)?;
        let head = submodule.head()?.id();
        let mut own = match head {
            Some(head) if head != one.id && self.options.cached => line('+', one.id),
            Some(head) if head != one.id => line('+', head),
            _ => line(' ', one.id),
        };
        if !self.options.unnamed {
            own.name = name_of(&directory, &own.id)?;
        }
        let mut states = alone(own);
        if self.options.recursive {
            let options = SubmoduleStatusOptions {
                pathspecs: Vec::new(),
                ..self.options.clone()
            };
            let above = BString::from([&shown[..], b"/"].concat());
            let place = (above.as_bstr(), self.depth + 1);
            let inner = below(&submodule, &options, place, &mut |_| {});
            states.append(inner.unwrap_or_else(SubmoduleStates::failed));
        }
        Ok(states)
    }
}

/// What git-describe(1) calls a commit, in one of the ways in which git asks for it.
fn name_of(directory: &Path, id: &ObjectId) -> Result<Option<BString>> {
    const WAYS: [&[&str]; 4] = [&[], &["--tags"], &["--contains"], &["--all", "--always"]];
    for way in WAYS {
        let id = id.to_string();
        let words = ["describe"].iter().chain(way).copied().chain([id.as_str()]);
        let git = Process {
            program: "git".into(),
            arguments: words.map(Into::into).collect(),
            directory: Some(directory.to_owned()),
            variables: crate::status::variables_of_submodule(),
            output_to_error: false,
            ..Process::default()
        };
        let (name, answer) = git.output(NAME_LIMIT_BYTES)?;
        if answer.exit == Exit::Status(0) {
            let name = name.strip_suffix(b"\n").unwrap_or(&name);
            return Ok(Some(name.into()));
        }
    }
    Ok(None)
}
