//! How `hedgerow submodule update` receives what is not here: git does.

use super::clone::jobs;
use crate::failure::Failure;
use crate::git_options::GitOption;
use crate::global::{Global, Workers};
use clap::Args;
use hedgerow::clone::AssistedGit;
use hedgerow::submodule::Transport;
use std::ffi::OsString;
use std::num::NonZeroUsize;

const fn switch(name: &'static str) -> GitOption {
    GitOption::switch(None, name)
}

pub const OPTIONS: [GitOption; 8] = [
    switch("require-init"),
    switch("depth").with_value(),
    switch("recommend-shallow").or_not(),
    switch("filter").with_value(),
    switch("single-branch").or_not(),
    switch("reference").with_value(),
    switch("dissociate"),
    switch("ref-format").with_value(),
];

#[derive(Debug, Default, Args)]
pub struct Receiving {
    /// Clone only into empty directories; register first, as --init
    #[arg(long)]
    pub require_init: bool,
    /// Receive only the newest N commits
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub depth: Option<i64>,
    /// Clone one commit where .gitmodules recommends that
    #[arg(long)]
    pub recommend_shallow: bool,
    #[arg(long, hide = true, overrides_with = "recommend_shallow")]
    pub no_recommend_shallow: bool,
    /// Clone in part, such as blob:none
    #[arg(long, value_name = "FILTER")]
    pub filter: Option<OsString>,
    /// Clone only one branch
    #[arg(long)]
    pub single_branch: bool,
    #[arg(long, hide = true, overrides_with = "single_branch")]
    pub no_single_branch: bool,
    /// Use the objects of this repository, too
    #[arg(long, value_name = "REPOSITORY")]
    pub reference: Vec<OsString>,
    /// Copy what --reference gave
    #[arg(long)]
    pub dissociate: bool,
    /// How the references of clones are stored
    #[arg(long, value_name = "FORMAT")]
    pub ref_format: Option<OsString>,
}

impl Receiving {
    /// Refuses what git refuses; `inits`: submodules are registered first.
    pub fn check(&self, inits: bool) -> Result<(), Failure> {
        if self.filter.is_some() && !inits && !self.require_init {
            return Err(Failure::usage("--filter needs --init"));
        }
        Ok(())
    }

    /// Without a number above zero, there is no limit.
    fn depth(&self) -> Option<NonZeroUsize> {
        usize::try_from(self.depth?)
            .ok()
            .and_then(NonZeroUsize::new)
    }

    /// How `git` receives.
    pub fn transport(&self, git: &AssistedGit, global: &Global) -> Transport {
        let (program, variables) = git.command();
        Transport {
            git: program.to_owned(),
            variables: variables.to_owned(),
            clone_words: self.words(),
            depth: self.depth(),
            recommend_shallow: !self.no_recommend_shallow,
            jobs: match global.jobs {
                Some(Workers::Count(count)) => Some(count),
                _ => None,
            },
            quiet: global.quiet,
        }
    }

    /// The words with which git updates the submodules of a new clone.
    pub fn words_for_git(&self, is_remote: bool, global: &Global) -> Vec<OsString> {
        let words = ["submodule", "update", "--require-init", "--recursive"];
        let mut words: Vec<OsString> = words.map(OsString::from).into();
        words.extend(self.depth().map(|depth| format!("--depth={depth}").into()));
        words.extend(jobs(global));
        words.extend(global.quiet.then(|| "--quiet".into()));
        if is_remote {
            words.extend(["--remote".into(), "--no-fetch".into()]);
        }
        words.extend(self.words());
        words
    }

    /// The words for each clone.
    fn words(&self) -> Vec<OsString> {
        let mut words = Vec::new();
        let mut add = |name: &str, value: &OsString| {
            let mut word = OsString::from(format!("--{name}="));
            word.push(value);
            words.push(word);
        };
        self.reference.iter().for_each(|it| add("reference", it));
        self.filter.iter().for_each(|it| add("filter", it));
        self.ref_format.iter().for_each(|it| add("ref-format", it));
        let switches = [
            (self.dissociate, "--dissociate"),
            (self.single_branch, "--single-branch"),
            (self.no_single_branch, "--no-single-branch"),
        ];
        let given = switches.iter().filter(|(is_given, _)| *is_given);
        words.extend(given.map(|(_, word)| word.into()));
        words
    }
}
