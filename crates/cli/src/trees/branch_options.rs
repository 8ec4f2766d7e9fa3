//! The options of `checkout` and `switch` about branches.

use super::advice;
use super::run::Run;
use crate::failure::Failure;
use bstr::BString;
use clap::Args;
use hedgerow::checkout::{Form, Request, RequestOptions, StartKind, Track};
use hedgerow::repository::Error;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// Options about branches.
#[derive(Debug, Args)]
pub struct BranchOptions {
    /// Detach HEAD at the commit even if a branch is named
    #[arg(short, long)]
    pub detach: bool,
    /// Set the start point as upstream of the new branch, which is named after it unless named
    /// otherwise
    #[arg(short, long, value_name = "direct|inherit", num_args = 0..=1, require_equals = true)]
    pub track: Option<Option<OsString>>,
    /// Do not set an upstream
    #[arg(long)]
    pub no_track: bool,
    /// Create a branch without commits and switch to it
    #[arg(long, value_name = "BRANCH")]
    pub orphan: Option<OsString>,
    /// Create a branch from the remote branch of the same name, regardless of checkout.guess
    #[arg(long)]
    pub guess: bool,
    /// Do not create a branch from a remote branch
    #[arg(long)]
    pub no_guess: bool,
    /// Refuse to overwrite ignored files
    #[arg(long)]
    pub no_overwrite_ignore: bool,
    /// Check out a branch even if another working tree uses it
    #[arg(long)]
    pub ignore_other_worktrees: bool,
}

impl BranchOptions {
    /// The branch to create: one of `named`, whose options are given, or `--orphan`.
    pub fn started(
        &self,
        named: [(&str, StartKind, &Option<OsString>); 2],
    ) -> Result<Option<(StartKind, BString)>, Failure> {
        let orphan = ("--orphan", StartKind::Orphan, &self.orphan);
        let [first, second] = named;
        let all = [first, second, orphan];
        let given = all.iter().filter_map(|(_, kind, name)| {
            let name = name.as_ref()?;
            Some((*kind, BString::from(name.as_bytes())))
        });
        let given: Vec<_> = given.collect();
        if given.len() > 1 {
            let [(a, ..), (b, ..), (c, ..)] = all;
            return Err(Failure::fatal(format_args!(
                "options '{a}', '{b}', and '{c}' cannot be used together"
            )));
        }
        if let Some(Some(mode)) = &self.track {
            if mode != "direct" && mode != "inherit" {
                return Err(Failure::usage(
                    "option `--track' expects \"direct\" or \"inherit\"",
                ));
            }
        }
        Ok(given.into_iter().next())
    }

    /// What they say about the meaning of the words.
    pub fn request(&self, form: Form) -> RequestOptions {
        RequestOptions {
            form,
            detach: self.detach,
            guess: match (self.guess, self.no_guess) {
                (true, _) => Some(true),
                (false, true) => Some(false),
                (false, false) => None,
            },
            track: match (&self.track, self.no_track) {
                (Some(Some(mode)), _) if mode == "inherit" => Some(Track::Inherit),
                (Some(_), _) => Some(Track::Explicit),
                (None, true) => Some(Track::Never),
                (None, false) => None,
            },
            ignore_other_worktrees: self.ignore_other_worktrees,
            ..RequestOptions::default()
        }
    }

    /// Interprets the words of the command line.
    pub fn parsed(
        &self,
        run: &Run<'_>,
        words: &[BString],
        options: &RequestOptions,
    ) -> Result<Request, Failure> {
        let repository = &run.repository;
        let request = Request::parse(repository, words, options, &mut |it| run.output.warn(it));
        request.map_err(|error| {
            if let Error::AmbiguousRemoteBranch { .. } = error {
                advice::about_remotes(repository, options.form, run.output);
            }
            advice::failure(repository, error)
        })
    }
}
