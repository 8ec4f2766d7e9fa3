//! Permissions that are set or changed, in octal or in the symbolic form of chmod(1).

use super::RuleError;

const ALL: u16 = 0o7777;
/// The bits that each of `u`, `g` and `o` can change, with setuid, setgid and the sticky bit.
const USER: u16 = 0o4700;
const GROUP: u16 = 0o2070;
const OTHERS: u16 = 0o1007;

/// A change of permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeChange(Vec<Step>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    /// The bits that may change.
    whose: u16,
    operation: u8,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// These bits; with `executable`, those of `x` too for directories and files that have one.
    Bits { bits: u16, executable: bool },
    /// What the owner, the group or the others have: the shift of their bits.
    Copy(u16),
}

impl ModeChange {
    /// Parses an octal number, or clauses with commas between them: any of `ugoa`, then `+`, `-` or
    /// `=` with any of `rwxXst` or one of `ugo`, the latter repeated.
    ///
    /// # Errors
    /// The word is neither.
    pub fn parse(word: &str) -> Result<Self, RuleError> {
        let wrong = || {
            RuleError::new(format_args!(
                "'{word}' is neither an octal nor a symbolic mode"
            ))
        };
        if word.bytes().all(|byte| matches!(byte, b'0'..=b'7')) && !word.is_empty() {
            let bits = u16::from_str_radix(word, 8)
                .ok()
                .filter(|bits| *bits <= ALL);
            let bits = bits.ok_or_else(wrong)?;
            return Ok(ModeChange(vec![Step {
                whose: ALL,
                operation: b'=',
                what: What::Bits {
                    bits,
                    executable: false,
                },
            }]));
        }
        let mut steps = Vec::new();
        for clause in word.split(',') {
            clause_steps(clause.as_bytes(), &mut steps).ok_or_else(wrong)?;
        }
        Ok(ModeChange(steps))
    }

    /// The permissions after the change.
    pub fn applied(&self, mode: u16, is_directory: bool) -> u16 {
        self.0
            .iter()
            .fold(mode & ALL, |mode, step| step.applied(mode, is_directory))
    }
}

fn clause_steps(clause: &[u8], steps: &mut Vec<Step>) -> Option<()> {
    let count = clause
        .iter()
        .take_while(|byte| b"ugoa".contains(byte))
        .count();
    let (who, mut rest) = clause.split_at(count);
    let whose = who.iter().fold(0, |bits, byte| {
        bits | match byte {
            b'u' => USER,
            b'g' => GROUP,
            b'o' => OTHERS,
            _ => ALL,
        }
    });
    let whose = if who.is_empty() { ALL } else { whose };
    if rest.is_empty() {
        return None;
    }
    while let Some((operation, after)) = rest.split_first() {
        let operation = *b"+-=".iter().find(|sign| *sign == operation)?;
        let count = after
            .iter()
            .take_while(|byte| !b"+-=".contains(byte))
            .count();
        let (letters, behind) = after.split_at(count);
        let what = match letters {
            b"u" => What::Copy(6),
            b"g" => What::Copy(3),
            b"o" => What::Copy(0),
            letters => permissions(letters)?,
        };
        steps.push(Step {
            whose,
            operation,
            what,
        });
        rest = behind;
    }
    Some(())
}

fn permissions(letters: &[u8]) -> Option<What> {
    let (mut bits, mut executable) = (0, false);
    for letter in letters {
        match letter {
            b'r' => bits |= 0o444,
            b'w' => bits |= 0o222,
            b'x' => bits |= 0o111,
            b's' => bits |= 0o6000,
            b't' => bits |= 0o1000,
            b'X' => executable = true,
            _ => return None,
        }
    }
    Some(What::Bits { bits, executable })
}

impl Step {
    fn applied(self, mode: u16, is_directory: bool) -> u16 {
        let bits = match self.what {
            What::Bits { bits, executable } => {
                let is_executable = is_directory || mode & 0o111 != 0;
                bits | if executable && is_executable {
                    0o111
                } else {
                    0
                }
            }
            What::Copy(shift) => {
                let bits = mode >> shift & 0o7;
                bits << 6 | bits << 3 | bits
            }
        };
        let bits = bits & self.whose;
        match self.operation {
            b'+' => mode | bits,
            b'-' => mode & !bits,
            _ => mode & !self.whose | bits,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests look at files")]

    use super::ModeChange;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    #[test]
    fn modes_change_as_chmod_changes_them() {
        let home = tempfile::tempdir().unwrap();
        let (file, directory) = (home.path().join("file"), home.path().join("directory"));
        fs::write(&file, "").unwrap();
        fs::create_dir(&directory).unwrap();
        for change in [
            "u+x",
            "g-w,o=r",
            "a=rX",
            "ug=rw,o=",
            "u=rwx,go=u",
            "o=g-w",
            "+x",
            "a-x+X",
            "u+s",
            "g+s",
            "+t",
            "o+t",
            "u+t",
            "o+s",
            "=",
            "g=o+x",
            "u=g,o-r",
        ] {
            for mode in [0o644_u16, 0o755, 0o600, 0o4711, 0o1777, 0o2750] {
                for (path, is_directory) in [(&file, false), (&directory, true)] {
                    fs::set_permissions(path, fs::Permissions::from_mode(mode.into())).unwrap();
                    let mut chmod = Command::new("chmod");
                    // Without letters for whom, chmod would respect the umask.
                    let all = change.split(',').map(|clause| match clause.as_bytes() {
                        [b'+' | b'-' | b'=', ..] => format!("a{clause}"),
                        _ => clause.to_owned(),
                    });
                    let all: Vec<String> = all.collect();
                    let done = chmod.arg(all.join(",")).arg(path).status().unwrap();
                    assert!(done.success());
                    let changed = fs::metadata(path).unwrap().permissions().mode() as u16 & 0o7777;
                    // chmod keeps setuid and setgid of directories unless they are named.
                    if is_directory && mode & 0o6000 != 0 {
                        continue;
                    }
                    let parsed = ModeChange::parse(change).unwrap();
                    let found = parsed.applied(mode, is_directory);
                    assert_eq!(
                        found, changed,
                        "{change} {mode:o} {is_directory}: {found:o}"
                    );
                }
            }
        }
        let octal = ModeChange::parse("4711").unwrap();
        assert_eq!(octal.applied(0o1777, true), 0o4711);
        for wrong in ["", "u", "8", "77777", "x+u", "u+q", "u+ug", "u+x,", "u*x"] {
            assert!(ModeChange::parse(wrong).is_err(), "{wrong}");
        }
    }
}
