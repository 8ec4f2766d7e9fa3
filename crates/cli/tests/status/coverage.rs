//! What the generated states have shown, so that none of it goes missing unnoticed.

use hedgerow_testkit::Outcome;
use std::collections::BTreeMap;

/// How many invocations showed each thing.
#[derive(Default)]
pub struct Coverage {
    counts: BTreeMap<String, usize>,
}

impl Coverage {
    /// Notes what an output shows, whatever its format.
    pub fn observe(&mut self, outcome: &Outcome) {
        let mut seen = std::collections::BTreeSet::new();
        let text = String::from_utf8_lossy(&outcome.stdout);
        for line in text.split(['\n', '\0']) {
            seen.extend(of_line(line));
        }
        if !outcome.stderr.is_empty() {
            seen.insert(match outcome.code {
                0 => "warning".to_owned(),
                _ => "refusal".to_owned(),
            });
        }
        for what in seen {
            *self.counts.entry(what).or_default() += 1;
        }
    }

    pub fn add(&mut self, other: &Coverage) {
        for (what, count) in &other.counts {
            *self.counts.entry(what.clone()).or_default() += count;
        }
    }

    /// Everything that must have been seen has been.
    pub fn assert_complete(&self) {
        let required = PHRASES.iter().chain(REQUIRED);
        let missing: Vec<&&str> = required
            .filter(|what| !self.counts.contains_key(**what))
            .collect();
        assert!(missing.is_empty(), "no state has shown {missing:?}");
    }
}

impl std::fmt::Display for Coverage {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (what, count) in &self.counts {
            writeln!(out, "{count:5} {what}")?;
        }
        Ok(())
    }
}

fn of_line(line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["1" | "2" | "u", letters, submodule, ..] if letters.len() == 2 => {
            let pair = format!("{} {letters}", words[0]);
            let mut seen = vec![pair];
            if submodule.starts_with('S') {
                seen.push(format!("submodule {submodule}"));
            }
            seen
        }
        ["?" | "!", ..] => vec![if line.ends_with('/') {
            format!("{} directory", words[0])
        } else {
            format!("{} file", words[0])
        }],
        _ if line.starts_with("# branch.ab") => {
            let zero = |word: &str| word.ends_with('0');
            vec![format!(
                "ahead {} behind {}",
                !zero(words[2]),
                !zero(words[3])
            )]
        }
        _ => {
            let phrases = PHRASES.iter().filter(|phrase| line.contains(**phrase));
            phrases.map(|phrase| (*phrase).to_owned()).collect()
        }
    }
}

/// Parts of sentences of the long format, and of the headers of the short one.
const PHRASES: &[&str] = &[
    "On branch",
    "HEAD detached at",
    "HEAD detached from",
    "No commits yet",
    "Your branch is up to date",
    "Your branch is ahead",
    "Your branch is behind",
    "have diverged",
    "but the upstream is gone",
    "[gone]",
    "[ahead",
    "[behind",
    ", behind",
    "You have unmerged paths",
    "All conflicts fixed but you are still merging",
    "You are currently rebasing branch",
    "You are currently editing a commit",
    "You are currently splitting a commit",
    "rebase in progress",
    "Next command",
    "Last command",
    "in the middle of an am session",
    "cherry-picking commit",
    "Cherry-pick currently in progress",
    "reverting commit",
    "currently bisecting",
    "sparse checkout with",
    "in a sparse checkout.",
    "Changes to be committed",
    "Changes not staged for commit",
    "Unmerged paths",
    "Untracked files:",
    "Ignored files:",
    "Untracked files not listed",
    "both deleted:",
    "added by us:",
    "deleted by them:",
    "added by them:",
    "deleted by us:",
    "both added:",
    "both modified:",
    "typechange:",
    "renamed:",
    "copied:",
    "(new commits)",
    "(modified content)",
    "(untracked content)",
    "(new commits, modified content, untracked content)",
    "nothing to commit, working tree clean",
    "nothing added to commit but untracked",
    "no changes added to commit",
    "Your stash currently has",
];

/// Beside the phrases: pairs of letters, submodules, kinds of untracked and ignored paths.
const REQUIRED: &[&str] = &[
    "1 .A",
    "1 .D",
    "1 .M",
    "1 .T",
    "1 A.",
    "1 AD",
    "1 AM",
    "1 AT",
    "1 D.",
    "1 M.",
    "1 MD",
    "1 MM",
    "1 MT",
    "1 T.",
    "1 TD",
    "1 TM",
    "1 TT",
    "2 .R",
    "2 C.",
    "2 R.",
    "2 RD",
    "2 RM",
    "2 RT",
    "u AA",
    "u AU",
    "u DD",
    "u DU",
    "u UA",
    "u UD",
    "u UU",
    "submodule S..U",
    "submodule S.M.",
    "submodule S.MU",
    "submodule SC..",
    "submodule SC.U",
    "submodule SCM.",
    "submodule SCMU",
    "? directory",
    "? file",
    "! directory",
    "! file",
    "ahead true behind true",
    "ahead false behind false",
    "warning",
    "refusal",
];
