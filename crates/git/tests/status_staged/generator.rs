//! Pairs of trees, made of a seed, whose files are like one another in many ways.

use std::collections::BTreeMap;

/// What is at a path: a mode as `git fast-import` writes it, and the content.
#[derive(Clone, PartialEq, Eq)]
pub struct Item {
    pub mode: &'static str,
    pub content: Vec<u8>,
}

pub type Tree = BTreeMap<String, Item>;

pub struct Generator {
    state: u64,
    /// Whether contents may end without a line end.
    pub cut_off: bool,
}

impl Generator {
    pub fn new(seed: u64, cut_off: bool) -> Self {
        let state = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Generator { state, cut_off }
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as usize % limit
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn line(&mut self, end: &str) -> String {
        match self.below(5) {
            0 => format!("}}{end}"),
            1 => format!("return {};{end}", self.below(5)),
            _ => {
                let words: Vec<String> = (0..1 + self.below(9))
                    .map(|_| format!("w{}", self.below(300)))
                    .collect();
                format!("{}{end}", words.join(" "))
            }
        }
    }

    pub fn content(&mut self) -> Vec<u8> {
        let mut content = Vec::new();
        match self.below(12) {
            0 => {}
            1 => {
                // Binary.
                for _ in 0..self.below(3000) {
                    content.push(self.below(256) as u8);
                }
                content.push(0);
                content.extend(b"\r\n\r\n");
            }
            2 => {
                for _ in 0..self.below(40) {
                    content.extend(self.line("\r\n").bytes());
                }
            }
            3 => {
                for _ in 0..self.below(400) {
                    content.extend(self.line(" ").bytes());
                }
            }
            4 => {
                // A NUL where it does not make the content binary any more.
                while content.len() < 8000 {
                    content.extend(self.line("\r\n").bytes());
                }
                content.push(0);
            }
            5 => {
                for _ in 0..self.below(40) {
                    let end = ["\r", "\n", "\r\n", "\r\r\n"][self.below(4)];
                    content.extend(self.line(end).bytes());
                }
            }
            _ => {
                for _ in 0..self.below(60) {
                    content.extend(self.line("\n").bytes());
                }
            }
        }
        self.end(content)
    }

    fn end(&mut self, mut content: Vec<u8>) -> Vec<u8> {
        let has_end = content.is_empty() || content.ends_with(b"\n");
        if self.cut_off && self.chance(15) {
            content.pop();
        } else if !self.cut_off && !has_end {
            content.push(b'\n');
        }
        content
    }

    /// A content that keeps about so many percent of the lines.
    fn edited(&mut self, content: &[u8], percent: usize) -> Vec<u8> {
        let mut edited = Vec::new();
        let end = if content.contains(&b'\n') {
            b'\n'
        } else {
            b' '
        };
        for line in content.split_inclusive(|byte| *byte == end) {
            if self.chance(percent) {
                edited.extend_from_slice(line);
            } else if self.chance(60) {
                edited.extend(self.line("\n").bytes());
            }
        }
        if self.chance(5) {
            edited.reverse();
        }
        if self.chance(10) {
            let text = String::from_utf8_lossy(&edited).replace('\n', "\r\n");
            edited = text.into_bytes();
        }
        self.end(edited)
    }

    fn path(&mut self) -> String {
        let directory = ["", "a/", "a/b/", "lib/", "src/", "src/x/y/"][self.below(6)];
        let name = ["Makefile", "mod.rs", "a.c", "b.c", "README"][self.below(5)];
        match self.below(3) {
            0 => format!("{directory}{name}"),
            _ => format!("{directory}f{}.c", self.below(60)),
        }
    }

    fn item(&mut self) -> Item {
        match self.below(14) {
            0 => Item {
                mode: "120000",
                content: self.path().into_bytes(),
            },
            1 => Item {
                mode: "160000",
                content: format!("{:040x}", 1 + self.below(4)).into_bytes(),
            },
            2 | 3 => Item {
                mode: "100755",
                content: self.content(),
            },
            _ => Item {
                mode: "100644",
                content: self.content(),
            },
        }
    }

    /// An old and a new tree.
    pub fn trees(&mut self) -> (Tree, Tree) {
        let mut old = Tree::new();
        for _ in 0..1 + self.below(24) {
            let (path, item) = (self.path(), self.item());
            old.insert(path, item.clone());
            while self.chance(15) {
                old.insert(self.path(), item.clone());
            }
        }
        let mut new = Tree::new();
        for (path, item) in &old {
            if self.chance(35) {
                new.insert(path.clone(), item.clone());
                if self.chance(70) {
                    continue;
                }
            }
            for _ in 0..self.below(4) {
                let made = self.made_from(item);
                let name = path.rsplit('/').next().unwrap();
                let path = match self.below(6) {
                    0 => path.clone(),
                    1 | 2 => format!("moved{}/{name}", self.below(2)),
                    _ => self.path(),
                };
                new.insert(path, made);
            }
        }
        for _ in 0..self.below(4) {
            let (path, item) = (self.path(), self.item());
            new.insert(path, item);
        }
        (old, new)
    }

    fn made_from(&mut self, item: &Item) -> Item {
        let mut made = item.clone();
        if self.chance(85) && item.mode.starts_with("100") {
            let percent = 30 + self.below(70);
            made.content = self.edited(&item.content, percent);
        }
        if self.chance(10) {
            made.mode = match item.mode {
                "100644" => ["100755", "120000"][self.below(2)],
                "100755" => "100644",
                mode => mode,
            };
            if made.mode == "120000" {
                made.content.retain(|byte| *byte != 0);
                made.content.truncate(60);
            }
        }
        made
    }
}

/// Writes `tree` as the commit of a branch, for `git fast-import`.
pub fn export(tree: &Tree, branch: &str, out: &mut Vec<u8>) {
    out.extend(format!("commit refs/heads/{branch}\ncommitter n <e> 1 +0000\n").bytes());
    out.extend(b"data 0\n\ndeleteall\n");
    for (path, Item { mode, content }) in tree {
        if *mode == "160000" {
            let id = String::from_utf8_lossy(content);
            out.extend(format!("M 160000 {id} {path}\n").bytes());
            continue;
        }
        out.extend(format!("M {mode} inline {path}\ndata {}\n", content.len()).bytes());
        out.extend_from_slice(content);
        out.push(b'\n');
    }
    out.push(b'\n');
}
