//! What `diff-files`, `diff-index` and `stash show` show of differences: the options of
//! git-diff-index(1).

use super::object_names::digits;
use crate::environment;
use crate::failure::Failure;
use crate::global::{Color, Global};
use bstr::{BString, ByteSlice};
use clap::Args;
use hedgerow::diff::{
    algorithm, colors, Algorithm, Detection, DiffOptions, DiffstatOptions, Digits, Formats,
    KindFilter, Listing, PatchOptions, RenameOptions, Score, Widths,
};
use hedgerow::display::When;
use hedgerow::repository::{Error, Repository};
use hedgerow::Execution;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// The width of a diffstat for programs.
const WIDTH: usize = 80;

/// What is shown of differences.
#[derive(Debug, Default, PartialEq, Eq, Args)]
#[command(args_override_self = true)]
pub struct ShownDifferences {
    /// Exit with 1 if there are differences
    #[arg(long)]
    pub exit_code: bool,
    /// Show the changes of lines
    #[arg(short = 'p', long)]
    pub patch: bool,
    /// Show no output; what is given afterwards counts
    #[arg(short = 's', long, overrides_with_all = ["patch", "stat", "compact_summary", "numstat",
        "shortstat", "summary", "patch_with_stat", "patch_with_raw", "raw", "unified"])]
    pub no_patch: bool,
    /// Show N lines around changes, and the changes
    #[arg(short = 'U', long, value_name = "N", num_args = 0..=1, require_equals = true)]
    pub unified: Option<Option<OsString>>,
    /// Show numbers of lines with a graph, in so many columns: all, names
    #[arg(long, value_name = "WIDTH[,NAMES]", num_args = 0..=1, require_equals = true)]
    pub stat: Option<Option<OsString>>,
    /// The columns of the numbers
    #[arg(long, value_name = "WIDTH")]
    pub stat_width: Option<OsString>,
    /// The columns of their names
    #[arg(long, value_name = "WIDTH")]
    pub stat_name_width: Option<OsString>,
    /// The columns of their graph
    #[arg(long, value_name = "WIDTH")]
    pub stat_graph_width: Option<OsString>,
    /// Show the numbers, and behind names which files come, go or get another mode
    #[arg(long)]
    pub compact_summary: bool,
    /// Show numbers of lines, for programs
    #[arg(long)]
    pub numstat: bool,
    /// Show only the sums of the numbers
    #[arg(long)]
    pub shortstat: bool,
    /// Show files that come, go, move or get another mode
    #[arg(long)]
    pub summary: bool,
    /// Show numbers of lines and the changes
    #[arg(long)]
    pub patch_with_stat: bool,
    /// Show modes, objects, kinds and paths, and the changes of lines
    #[arg(long)]
    pub patch_with_raw: bool,
    /// Show only paths
    #[arg(long)]
    pub name_only: bool,
    /// Show paths, and a letter for the kind of each difference
    #[arg(long)]
    pub name_status: bool,
    /// Show modes, objects, kinds and paths
    #[arg(long)]
    pub raw: bool,
    /// End paths with NUL instead of a newline, and do not quote them
    #[arg(short = 'z', alias = "null")]
    pub null: bool,
    /// Swap the sides
    #[arg(short = 'R', alias = "reverse")]
    pub reverse: bool,
    /// Detect renames, of files at least so similar
    #[arg(short = 'M', long, value_name = "N", num_args = 0..=1, require_equals = true)]
    pub find_renames: Option<Option<OsString>>,
    /// Detect copies, too
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true)]
    pub find_copies: Option<Option<OsString>>,
    /// Detect no renames
    #[arg(long)]
    pub no_renames: bool,
    /// Compare no more than N files with N others to detect renames
    #[arg(long, value_name = "N")]
    pub rename_limit: Option<OsString>,
    /// Show only differences of these kinds: A, C, D, M, R, T, U; in lower case, all others
    #[arg(long, value_name = "KINDS")]
    pub diff_filter: Option<OsString>,
    /// Show at least N digits of the names of objects
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true)]
    pub abbrev: Option<Option<OsString>>,
    /// Show whole names of objects
    #[arg(long)]
    pub no_abbrev: bool,
    /// Show whole names of objects in patches
    #[arg(long)]
    pub full_index: bool,
    /// Take all files for text
    #[arg(short = 'a', long)]
    pub text: bool,
    /// Show changes together that have no more than N lines between what is shown of them
    #[arg(long, value_name = "N")]
    pub inter_hunk_context: Option<OsString>,
    /// What stands before old paths
    #[arg(long, value_name = "PREFIX")]
    pub src_prefix: Option<OsString>,
    /// What stands before new paths
    #[arg(long, value_name = "PREFIX")]
    pub dst_prefix: Option<OsString>,
    /// Nothing stands before paths
    #[arg(long)]
    pub no_prefix: bool,
    /// "a/" and "b/" stand before paths
    #[arg(long)]
    pub default_prefix: bool,
    /// How lines are compared: myers, minimal or histogram
    #[arg(long, value_name = "ALGORITHM")]
    pub diff_algorithm: Option<OsString>,
    /// By Myers' algorithm without shortcuts
    #[arg(long)]
    pub minimal: bool,
    /// By the histogram algorithm
    #[arg(long)]
    pub histogram: bool,
    /// Changes that can be at several places are where the indentation fits best
    #[arg(long)]
    pub indent_heuristic: bool,
    /// They are not
    #[arg(long)]
    pub no_indent_heuristic: bool,
    /// Show no colors
    #[arg(long)]
    pub no_color: bool,
    /// Which submodule changes to ignore: none, untracked, dirty or all; without WHEN, all
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true,
        default_missing_value = "all")]
    pub ignore_submodules: Option<OsString>,
}

/// Which settings count besides the options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settings {
    /// Those that change the meaning of differences for everybody.
    Plumbing,
    /// Those of users, too.
    User,
}

impl ShownDifferences {
    /// What is to be shown; `None` if no option says it.
    pub fn formats(&self) -> Result<Option<Formats>, Failure> {
        let lists = [self.name_only, self.name_status, self.no_patch];
        if lists.iter().filter(|is_given| **is_given).count() > 1 {
            return Err(Failure::fatal(
                "options '--name-only', '--name-status', '--check', and '-s' cannot be used together",
            ));
        }
        let is_raw = self.raw || self.patch_with_raw;
        let shown = Formats {
            listing: is_raw.then_some(Listing::Raw),
            numstat: self.numstat,
            stat: self.stat.is_some()
                || self.patch_with_stat
                || self.compact_summary
                || self.has_widths(),
            shortstat: self.shortstat,
            summary: self.summary,
            patch: self.patch
                || self.patch_with_raw
                || self.patch_with_stat
                || self.unified.is_some(),
        };
        let others = shown != Formats::default();
        if self.no_patch && others {
            return Err(Failure::usage("-s cannot be used with other formats here"));
        }
        // A list of paths turns the other formats off.
        let listing = match (self.name_only, self.name_status) {
            (true, _) => Some(Listing::Names),
            (false, true) => Some(Listing::Kinds),
            (false, false) => None,
        };
        if listing.is_some() {
            return Ok(Some(Formats {
                listing,
                ..Formats::default()
            }));
        }
        Ok((others || self.no_patch).then_some(shown))
    }

    fn has_widths(&self) -> bool {
        let widths = [
            &self.stat_width,
            &self.stat_name_width,
            &self.stat_graph_width,
        ];
        widths.iter().any(|width| width.is_some())
    }

    /// All options.
    pub fn options(
        &self,
        repository: &Repository,
        formats: Formats,
        settings: Settings,
        global: &Global,
        execution: &Execution,
    ) -> Result<DiffOptions, Failure> {
        let config = repository.config();
        let filter = self.diff_filter.as_ref().map(|kinds| kinds.as_bytes());
        let is_colored = !self.no_color && is_colored(repository, settings, global)?;
        if is_colored && formats.patch && global.color == Color::Always {
            return Err(Failure {
                hint: Some("git has it: git diff --color".to_owned()),
                ..Failure::usage("patches have no colors here")
            });
        }
        if settings == Settings::User {
            refuse_settings(repository)?;
        }
        Ok(DiffOptions {
            formats,
            null: self.null,
            reverse: self.reverse,
            filter: KindFilter::parse(filter.unwrap_or_default())?,
            digits: match &self.abbrev {
                Some(value) if !self.no_abbrev => digits(value.as_deref())?,
                _ if self.no_abbrev || settings == Settings::Plumbing => Digits::All,
                _ => Digits::Configured,
            },
            renames: self.renames(repository, settings)?,
            algorithm: self.algorithm(repository, settings)?,
            patch: self.patch_options(repository, settings)?,
            stat: DiffstatOptions {
                compact: self.compact_summary,
                widths: self.widths()?,
                colors: is_colored.then(|| colors(config)).transpose()?,
                execution: execution.clone(),
            },
        })
    }

    fn renames(
        &self,
        repository: &Repository,
        settings: Settings,
    ) -> Result<RenameOptions, Failure> {
        let mut options = RenameOptions::of_diff(repository.config())?;
        if settings == Settings::Plumbing {
            options.detection = Detection::Off;
        }
        let minimum = |value: &Option<OsString>| match value {
            Some(value) => Score::from_words(value.as_bytes()),
            None => Score::DEFAULT,
        };
        if let Some(value) = &self.find_renames {
            (options.detection, options.minimum) = (Detection::Renames, minimum(value));
        }
        if let Some(value) = &self.find_copies {
            (options.detection, options.minimum) = (Detection::Copies, minimum(value));
        }
        if self.no_renames {
            options.detection = Detection::Off;
        }
        if let Some(limit) = number("l", self.rename_limit.as_ref())? {
            options.limit = u32::try_from(limit).ok().filter(|limit| *limit > 0);
        }
        Ok(options)
    }

    fn algorithm(
        &self,
        repository: &Repository,
        settings: Settings,
    ) -> Result<Option<Algorithm>, Failure> {
        let configured = match settings {
            Settings::Plumbing => None,
            Settings::User => repository.config().string("diff.algorithm"),
        };
        let Some(word) = &self.diff_algorithm else {
            match (self.histogram, self.minimal) {
                (true, _) => return Ok(Some(Algorithm::Histogram)),
                (false, true) => return Ok(Some(Algorithm::Minimal)),
                (false, false) => {}
            }
            let configured = configured.map(|word| algorithm(word.as_bstr()));
            return Ok(configured.transpose()?);
        };
        match algorithm(word.as_bytes().as_bstr()) {
            Err(Error::Config { .. }) => Err(Failure::usage(
                "option diff-algorithm accepts \"myers\", \"minimal\", \"patience\" and \
                 \"histogram\"",
            )),
            other => Ok(Some(other?)),
        }
    }

    fn patch_options(
        &self,
        repository: &Repository,
        settings: Settings,
    ) -> Result<PatchOptions, Failure> {
        let config = repository.config();
        let mut options = PatchOptions {
            full_ids: self.full_index,
            text: self.text,
            bare_blanks: config.bool("diff.suppressBlankEmpty")?.unwrap_or(false),
            ..PatchOptions::default()
        };
        let configured = config.bool("diff.indentHeuristic")?.unwrap_or(true);
        options.indent = !self.no_indent_heuristic && (self.indent_heuristic || configured);
        let prefix = |word: &OsString| BString::from(word.as_bytes());
        if settings == Settings::User {
            for (key, place) in [
                ("diff.context", &mut options.context),
                ("diff.interHunkContext", &mut options.between),
            ] {
                if let Some(lines) = config.integer(key)? {
                    *place = usize::try_from(lines).map_err(|_| {
                        Failure::fatal(format_args!("bad config variable '{}'", key.to_lowercase()))
                    })?;
                }
            }
            for (key, place) in ["diff.srcPrefix", "diff.dstPrefix"]
                .iter()
                .zip(&mut options.prefixes)
            {
                *place = config.text(key)?.unwrap_or(place.clone());
            }
            if config.bool("diff.noPrefix")?.unwrap_or(false) {
                options.prefixes = ["".into(), "".into()];
            }
        }
        if self.default_prefix {
            options.prefixes = PatchOptions::default().prefixes;
        }
        if self.no_prefix {
            options.prefixes = ["".into(), "".into()];
        }
        for (word, place) in [&self.src_prefix, &self.dst_prefix]
            .iter()
            .zip(&mut options.prefixes)
        {
            *place = word.as_ref().map_or(place.clone(), prefix);
        }
        let lines = self.unified.as_ref().and_then(Option::as_ref);
        options.context = number("unified", lines)?.unwrap_or(options.context);
        let between = self.inter_hunk_context.as_ref();
        options.between = number("inter-hunk-context", between)?.unwrap_or(options.between);
        Ok(options)
    }

    fn widths(&self) -> Result<Widths, Failure> {
        let mut widths = Widths {
            line: WIDTH,
            ..Widths::default()
        };
        let given = self.stat.as_ref().and_then(Option::as_ref);
        let given: Vec<OsString> = given.map_or_else(Vec::new, |words| {
            let words = words.as_bytes().split(|byte| *byte == b',');
            words
                .map(|word| std::ffi::OsStr::from_bytes(word).to_owned())
                .collect()
        });
        if given.len() > 2 {
            return Err(Failure {
                hint: Some("git has it: git diff --stat=WIDTH,NAMES,COUNT".to_owned()),
                ..Failure::usage("--stat takes no number of files here")
            });
        }
        let width = |name, word: Option<&OsString>| -> Result<Option<usize>, Failure> {
            Ok(number(name, word)?.filter(|width| *width > 0))
        };
        let line = width("stat", given.first())?;
        widths.line = line
            .or(width("stat-width", self.stat_width.as_ref())?)
            .unwrap_or(widths.line);
        let name = width("stat", given.get(1))?;
        widths.name = name
            .or(width("stat-name-width", self.stat_name_width.as_ref())?)
            .or(widths.name);
        let graph = width("stat-graph-width", self.stat_graph_width.as_ref())?;
        widths.graph = graph.or(widths.graph);
        Ok(widths)
    }
}

/// Settings of users that change what is shown, and are not followed here.
fn refuse_settings(repository: &Repository) -> Result<(), Failure> {
    let config = repository.config();
    let word = |key: &str| config.string(key);
    let refused = if word("diff.orderFile").is_some() {
        Some("diff.orderFile")
    } else if config.bool("diff.relative")?.unwrap_or(false) {
        Some("diff.relative")
    } else if word("diff.submodule").is_some_and(|how| how != "short") {
        Some("diff.submodule")
    } else {
        None
    };
    match refused {
        None => Ok(()),
        Some(key) => Err(Failure::usage(format_args!("{key} is not followed here"))),
    }
}

/// The colors that `color.diff` asks for; programs get none.
fn is_colored(
    repository: &Repository,
    settings: Settings,
    global: &Global,
) -> Result<bool, Failure> {
    let config = repository.config();
    match global.color {
        Color::Always => Ok(true),
        Color::Never => Ok(false),
        Color::Auto if settings == Settings::Plumbing => Ok(false),
        Color::Auto => {
            let mut when = None;
            for key in ["color.diff", "diff.color", "color.ui"] {
                when = when.or(When::of_key(config, key)?);
            }
            let paged = config.bool("color.pager")?.unwrap_or(true);
            let takes_colors = environment::output_takes_colors(paged);
            Ok(when.unwrap_or(When::Auto).applies(takes_colors))
        }
    }
}

/// The number that an option has.
fn number(option: &str, word: Option<&OsString>) -> Result<Option<usize>, Failure> {
    let Some(word) = word else {
        return Ok(None);
    };
    let number = word.to_str().and_then(|word| word.parse().ok());
    let expected = || Failure::usage(format_args!("{option} expects a numerical value"));
    number.map(Some).ok_or_else(expected)
}
