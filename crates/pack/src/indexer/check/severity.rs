use gix_hash::ObjectId;
use std::collections::HashSet;

/// The consequence of a broken rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// None.
    Ignore,
    /// A warning.
    Warn,
    /// The object is refused.
    Error,
}

/// The severity of each rule of git-fsck (section "FSCK MESSAGES").
#[derive(Clone, Debug)]
pub struct Severities {
    levels: [Severity; Rule::ALL.len()],
    skipped: HashSet<ObjectId>,
}

impl Default for Severities {
    /// The severities for a received pack: warnings of git-fsck are errors.
    fn default() -> Self {
        let level = |rule: (Rule, &str, Class)| match rule.2 {
            Class::Fatal | Class::Error | Class::Warn => Severity::Error,
            Class::Info => Severity::Warn,
            Class::Ignore => Severity::Ignore,
        };
        Severities {
            levels: Rule::ALL.map(level),
            skipped: HashSet::new(),
        }
    }
}

impl Severities {
    /// Sets the severity of the rule called `name`, ignoring case: `error`, `warn` or `ignore`. The
    /// error is git's message for the reason.
    pub fn set(&mut self, name: &str, level: &str) -> Result<(), String> {
        let found = Rule::ALL
            .iter()
            .find(|(_, known, _)| known.eq_ignore_ascii_case(name));
        let Some((rule, known, class)) = found else {
            let name = name.to_lowercase();
            return Err(format!("Unhandled message id: {name}"));
        };
        let severity = match level {
            "error" => Severity::Error,
            "warn" => Severity::Warn,
            "ignore" => Severity::Ignore,
            other => return Err(format!("Unknown fsck message type: '{other}'")),
        };
        if *class == Class::Fatal && severity != Severity::Error {
            return Err(format!("Cannot demote {} to {level}", known.to_lowercase()));
        }
        self.levels[*rule as usize] = severity;
        Ok(())
    }

    /// Ignores the rules for the object `id`.
    pub fn skip(&mut self, id: ObjectId) {
        self.skipped.insert(id);
    }

    pub(super) fn of(&self, rule: Rule) -> Severity {
        self.levels[rule as usize]
    }

    pub(super) fn skips(&self, id: &ObjectId) -> bool {
        self.skipped.contains(id)
    }
}

/// The default classification of a rule in git-fsck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Fatal,
    Error,
    Warn,
    Info,
    Ignore,
}

macro_rules! rules {
    ($($rule:ident $name:literal $class:ident,)*) => {
        /// A rule of git-fsck for objects.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Rule { $($rule,)* }

        impl Rule {
            const ALL: [(Rule, &'static str, Class); [$(Rule::$rule),*].len()] =
                [$((Rule::$rule, $name, Class::$class),)*];
        }
    };
}

impl Rule {
    pub fn name(self) -> &'static str {
        Rule::ALL[self as usize].1
    }
}

rules! {
    NulInHeader "nulInHeader" Fatal,
    UnterminatedHeader "unterminatedHeader" Fatal,
    BadHeaderContinuation "badHeaderContinuation" Error,
    BadDate "badDate" Error,
    BadDateOverflow "badDateOverflow" Error,
    BadEmail "badEmail" Error,
    BadGpgsig "badGpgsig" Error,
    BadName "badName" Error,
    BadObjectSha1 "badObjectSha1" Error,
    BadParentSha1 "badParentSha1" Error,
    BadTimezone "badTimezone" Error,
    BadTree "badTree" Error,
    BadTreeSha1 "badTreeSha1" Error,
    BadType "badType" Error,
    DuplicateEntries "duplicateEntries" Error,
    GitattributesBlob "gitattributesBlob" Error,
    GitattributesLarge "gitattributesLarge" Error,
    GitattributesLineLength "gitattributesLineLength" Error,
    GitattributesMissing "gitattributesMissing" Error,
    GitmodulesBlob "gitmodulesBlob" Error,
    GitmodulesLarge "gitmodulesLarge" Error,
    GitmodulesMissing "gitmodulesMissing" Error,
    GitmodulesName "gitmodulesName" Error,
    GitmodulesPath "gitmodulesPath" Error,
    GitmodulesSymlink "gitmodulesSymlink" Error,
    GitmodulesUpdate "gitmodulesUpdate" Error,
    GitmodulesUrl "gitmodulesUrl" Error,
    MissingAuthor "missingAuthor" Error,
    MissingCommitter "missingCommitter" Error,
    MissingEmail "missingEmail" Error,
    MissingNameBeforeEmail "missingNameBeforeEmail" Error,
    MissingObject "missingObject" Error,
    MissingSpaceBeforeDate "missingSpaceBeforeDate" Error,
    MissingSpaceBeforeEmail "missingSpaceBeforeEmail" Error,
    MissingTag "missingTag" Error,
    MissingTagEntry "missingTagEntry" Error,
    MissingTree "missingTree" Error,
    MissingType "missingType" Error,
    MissingTypeEntry "missingTypeEntry" Error,
    MultipleAuthors "multipleAuthors" Error,
    TreeNotSorted "treeNotSorted" Error,
    UnknownType "unknownType" Error,
    ZeroPaddedDate "zeroPaddedDate" Error,
    EmptyName "emptyName" Warn,
    FullPathname "fullPathname" Warn,
    HasDot "hasDot" Warn,
    HasDotdot "hasDotdot" Warn,
    HasDotgit "hasDotgit" Warn,
    LargePathname "largePathname" Warn,
    NullSha1 "nullSha1" Warn,
    NulInCommit "nulInCommit" Warn,
    ZeroPaddedFilemode "zeroPaddedFilemode" Warn,
    BadFilemode "badFilemode" Info,
    BadTagName "badTagName" Info,
    GitattributesSymlink "gitattributesSymlink" Info,
    GitignoreSymlink "gitignoreSymlink" Info,
    GitmodulesParse "gitmodulesParse" Info,
    MailmapSymlink "mailmapSymlink" Info,
    MissingTaggerEntry "missingTaggerEntry" Info,
    ExtraHeaderEntry "extraHeaderEntry" Ignore,
}
