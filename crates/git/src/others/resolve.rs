//! Which of the recorded entries git lists.

use super::scan::{Inner, Record, Search, Treatment};
use super::{IgnoredPaths, Others, Wish};

/// What is known of a record once all records below it are known.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// The strongest treatment of anything in it.
    content: Treatment,
    /// How the directory itself is treated.
    own: Treatment,
}

/// Which of a record's entries are listed.
#[derive(Clone, Copy, Debug)]
struct Shown {
    paths: bool,
    ignored: bool,
}

/// The paths to list, in sorted runs. A record's number is greater than that of the
/// directory above, so one loop upwards finds what directories count as, and one downwards what is
/// shown.
pub(super) fn resolve(records: &[Record], wish: Wish) -> Others {
    let mut known = vec![Known::default(); records.len()];
    for number in (0..records.len()).rev() {
        let record = &records[number];
        let mut content = Treatment::None;
        for entry in &record.entries {
            content = content.max(entry.treatment);
        }
        for inner in &record.inner {
            let below = inner.number as usize;
            known[below].own = own(inner, &records[below], known[below].content, wish);
            content = content.max(known[below].own);
            if known[below].own == Treatment::Entered {
                content = content.max(known[below].content);
            }
        }
        known[number].content = content;
    }
    let mut found = Others::default();
    let all = Shown {
        paths: true,
        ignored: true,
    };
    let mut shown = vec![all; records.len()];
    for (number, record) in records.iter().enumerate() {
        for inner in &record.inner {
            let below = inner.number as usize;
            shown[below] = shown_below(inner, shown[number], known[below], wish);
        }
    }
    let mut order: Vec<usize> = (0..records.len()).collect();
    order.sort_unstable_by_key(|number| &records[*number].path);
    for number in order {
        let (record, shown) = (&records[number], shown[number]);
        list(record, records, &known, shown, wish, &mut found);
    }
    found
}

/// How a directory is treated, given what is in it.
fn own(inner: &Inner, record: &Record, content: Treatment, wish: Wish) -> Treatment {
    let whole = if inner.excluded {
        Treatment::Ignored
    } else {
        Treatment::Untracked
    };
    if record.is_repository {
        let is_skipped = wish.skips_repositories || inner.leads;
        return if is_skipped { Treatment::None } else { whole };
    }
    match inner.search {
        Search::Enter => Treatment::Entered,
        Search::Known(treatment) => treatment,
        Search::Look => {
            // Whatever is in an ignored directory is ignored.
            let stops_early = is_unlisted(wish) && inner.excluded;
            let content = if stops_early {
                content.min(Treatment::Ignored)
            } else {
                content
            };
            match content {
                Treatment::Ignored if wish.ignored == IgnoredPaths::ApartIfMatching => {
                    empty(whole, wish)
                }
                Treatment::None => empty(whole, wish),
                content => content,
            }
        }
    }
}

/// How a directory counts that has nothing in it to list.
fn empty(whole: Treatment, wish: Wish) -> Treatment {
    if wish.hides_empty {
        Treatment::None
    } else {
        whole
    }
}

/// Whether directories are searched only to find out what they count as.
fn is_unlisted(wish: Wish) -> bool {
    wish.hides_empty && !wish.ignored.is_apart()
}

/// Which entries of an inner directory are listed.
fn shown_below(inner: &Inner, above: Shown, known: Known, wish: Wish) -> Shown {
    match inner.search {
        Search::Enter => above,
        Search::Known(_) => Shown {
            paths: false,
            ignored: false,
        },
        Search::Look => {
            let is_only_ignored = known.content == Treatment::Ignored;
            let matching = wish.ignored == IgnoredPaths::ApartIfMatching;
            Shown {
                paths: above.paths
                    && !is_unlisted(wish)
                    && (wish.keeps_contents || !wish.ignored.is_apart()),
                ignored: above.ignored && !is_unlisted(wish) && (matching || !is_only_ignored),
            }
        }
    }
}

fn list(
    record: &Record,
    records: &[Record],
    known: &[Known],
    shown: Shown,
    wish: Wish,
    found: &mut Others,
) {
    let is_alone = wish.ignored == IgnoredPaths::Alone;
    let lists_paths = |treatment| match treatment {
        Treatment::Untracked => shown.paths && !is_alone,
        Treatment::Ignored => shown.paths && is_alone,
        Treatment::None | Treatment::Entered => false,
    };
    let lists_ignored =
        |treatment| treatment == Treatment::Ignored && wish.ignored.is_apart() && shown.ignored;
    for entry in &record.entries {
        if lists_paths(entry.treatment) {
            found.paths.push(record.path_of(entry));
        } else if lists_ignored(entry.treatment) {
            found.ignored.push(record.path_of(entry));
        }
    }
    for inner in &record.inner {
        let (own, path) = (
            known[inner.number as usize].own,
            &records[inner.number as usize].path,
        );
        if lists_paths(own) {
            found.paths.push(path.clone());
        } else if lists_ignored(own) {
            found.ignored.push(path.clone());
        }
    }
}
