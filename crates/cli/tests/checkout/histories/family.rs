//! The rest of the family: stashes, fast-forwards, lists of differences, and in some of the histories
//! linked working trees, sparse checkouts, or a submodule.

use super::{answer, History};
use crate::support::{Pair, Repository};

/// What a history has besides files and branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    Plain,
    Worktrees,
    Sparse,
    Submodule,
}

impl Theme {
    pub fn of_seed(seed: u64) -> Theme {
        let themes = [
            Theme::Plain,
            Theme::Worktrees,
            Theme::Sparse,
            Theme::Submodule,
        ];
        themes[(seed / 2 % 4) as usize]
    }

    pub fn set_up(self, pair: &mut Pair, origin: &Repository) {
        if self != Theme::Submodule {
            return;
        }
        let module = Repository::at(origin.root.with_file_name("module"));
        std::fs::create_dir(&module.root).unwrap();
        let format = origin.ask(&["rev-parse", "--show-object-format"]);
        let format = format!("--object-format={format}");
        module.git(&["init", "-q", "-b", "main", &format]);
        module.commit_files(&[("file", "one\n")], "one");
        module.commit_files(&[("file", "two\n"), ("more/file", "more\n")], "two");
        let url = module.root.to_str().unwrap().to_owned();
        pair.each("add a submodule", |repository| {
            repository.git(&["config", "protocol.file.allow", "always"]);
            let allow = ["-c", "protocol.file.allow=always"];
            let add = ["submodule", "--quiet", "add", "--force", &url, "submodule"];
            repository.git(&[&allow[..], &add].concat());
            // It would run in the background.
            repository.git(&["-C", "submodule", "config", "maintenance.auto", "false"]);
            repository.git(&["commit", "-qm", "with a submodule"]);
            repository.git(&["branch", "modular"]);
            repository.git(&["-C", "submodule", "checkout", "-q", "HEAD~1"]);
            repository.git(&["commit", "-qam", "an older submodule"]);
        });
    }
}

impl History<'_> {
    pub fn family(&mut self) {
        match self.random.below(8) {
            0 | 1 => self.stash(),
            2 => self.fast_forward(),
            3 => self.differences(),
            4 => self.read_tree(),
            _ => match self.theme {
                Theme::Plain => self.stash(),
                Theme::Worktrees => self.worktree(),
                Theme::Sparse => self.sparse(),
                Theme::Submodule => self.submodule(),
            },
        }
    }

    fn stash(&mut self) {
        let mut words: Vec<Vec<u8>> = Vec::new();
        match self.random.below(8) {
            0..=2 => {
                words.push(b"push".to_vec());
                words.extend(self.some(&[
                    ("-k", 20),
                    ("-u", 20),
                    ("-a", 5),
                    ("-S", 10),
                    ("-q", 10),
                ]));
                if self.random.chance(20) {
                    words.extend([b"-m".to_vec(), b"words".to_vec()]);
                }
                if self.random.chance(25) {
                    words.extend([b"--".to_vec(), self.path()]);
                }
            }
            3..=5 => {
                words.push(self.random.pick(&["pop", "apply"]).as_bytes().to_vec());
                words.extend(self.some(&[("--index", 30), ("-q", 10)]));
            }
            6 => words.push(b"drop".to_vec()),
            _ => words.push(b"list".to_vec()),
        }
        self.play("stash", &words);
    }

    fn fast_forward(&mut self) {
        let mut words = vec![b"--ff-only".to_vec()];
        words.extend(self.some(&[("-q", 10), ("--no-stat", 30)]));
        words.push(self.revision().into_bytes());
        self.play("merge", &words);
    }

    fn differences(&mut self) {
        let mut words = self.some(&[
            ("--exit-code", 20),
            ("--name-status", 30),
            ("-z", 20),
            ("-R", 10),
            ("--abbrev", 10),
        ]);
        let name = if self.random.chance(50) {
            "diff-files"
        } else {
            words.extend(self.some(&[("--cached", 30), ("-m", 10)]));
            words.push(self.branch().into_bytes());
            "diff-index"
        };
        if self.random.chance(30) {
            words.extend([b"--".to_vec(), self.path()]);
        }
        self.play(name, &words);
    }

    fn read_tree(&mut self) {
        let mut words = self.some(&[("-n", 10)]);
        let mode = *self.random.pick(&["-m", "--reset"]);
        words.push(mode.as_bytes().to_vec());
        words.extend(self.some(&[("-u", 80)]));
        if mode == "-m" && self.random.chance(60) {
            words.push(b"HEAD".to_vec());
        }
        words.push(self.branch().into_bytes());
        self.play("read-tree", &words);
    }

    fn worktree(&mut self) {
        let place = |number: usize| format!("worktree{number}").into_bytes();
        let some = place(self.random.below(3));
        let mut words: Vec<Vec<u8>> = Vec::new();
        match self.random.below(8) {
            0..=2 => {
                words.push(b"add".to_vec());
                words.extend(self.some(&[
                    ("-f", 20),
                    ("--detach", 20),
                    ("--no-checkout", 5),
                    ("--lock", 5),
                    ("-q", 10),
                ]));
                if self.random.chance(30) {
                    // For a branch that is there, git ends with 255.
                    self.created += 1;
                    let branch = format!("new{}", self.created - 1);
                    words.extend([b"-b".to_vec(), branch.into_bytes()]);
                }
                words.push(some);
                if self.random.chance(80) {
                    words.push(self.revision().into_bytes());
                }
            }
            3 | 4 => {
                words.push(b"remove".to_vec());
                words.extend(self.some(&[("-f", 50)]));
                words.push(some);
            }
            5 => {
                words.push(b"move".to_vec());
                words.extend([some, place(self.random.below(3))]);
            }
            6 => words.extend([b"list".to_vec(), b"--porcelain".to_vec()]),
            _ => words.extend([b"prune".to_vec(), b"-v".to_vec()]),
        }
        self.play("worktree", &words);
    }

    fn sparse(&mut self) {
        let mut words: Vec<Vec<u8>> = Vec::new();
        match self.random.below(8) {
            0..=2 => {
                words.push(b"set".to_vec());
                words.extend(self.some(&[
                    ("--cone", 50),
                    ("--sparse-index", 20),
                    ("--no-sparse-index", 10),
                ]));
                words.push(b"--".to_vec());
                words.extend(self.sparse_directories());
            }
            3 => {
                words.extend([b"add".to_vec(), b"--".to_vec()]);
                words.extend(self.sparse_directories());
            }
            4 => {
                words.push(b"init".to_vec());
                words.extend(self.some(&[("--cone", 70), ("--sparse-index", 30)]));
            }
            5 => words.push(b"reapply".to_vec()),
            6 => words.push(b"disable".to_vec()),
            _ => words.push(b"list".to_vec()),
        }
        self.play("sparse-checkout", &words);
    }

    fn sparse_directories(&mut self) -> Vec<Vec<u8>> {
        // Rules are lines, so a newline in a name makes two of one in git, too.
        let directories = self.generated.directories.iter();
        let mut directories = directories.filter(|name| !name.contains(&b'\n'));
        let count = self.random.below(4);
        let mut chosen = Vec::new();
        for _ in 0..count {
            let skipped = self.random.below(4);
            chosen.extend(directories.nth(skipped).cloned());
        }
        chosen
    }

    fn submodule(&mut self) {
        let words: &[&[u8]] = match self.random.below(8) {
            0 | 1 => &[b"update", b"--init"],
            2 => &[b"update"],
            3 => &[b"status"],
            4 => {
                let revision = *self.random.pick(&["main", "main~1"]);
                self.pair.each("move the submodule", |repository| {
                    if repository.path("submodule/.git").exists() {
                        let words = ["-C", "submodule", "checkout", "-q", "-f", revision];
                        answer(repository, &words.map(str::as_bytes));
                    }
                });
                return;
            }
            5 => {
                self.pair
                    .each_edited("work in the submodule", |pair, repository| {
                        if repository.path("submodule/.git").exists() {
                            pair.edit(repository, b"submodule/file", b"changed\n");
                        }
                    });
                return;
            }
            6 => &[b"update", b"--force"],
            _ => {
                self.play("checkout", &[b"modular".to_vec()]);
                return;
            }
        };
        let words: Vec<Vec<u8>> = words.iter().map(|word| word.to_vec()).collect();
        self.play("submodule", &words);
    }
}
