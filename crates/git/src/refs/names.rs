//! Names of references: git-check-ref-format(1), gitrevisions(7) under `<refname>`.

use bstr::BStr;

/// What a short name may stand for, in git's order: the first that exists wins.
pub(crate) const NAME_RULES: [(&str, &str); 6] = [
    ("", ""),
    ("refs/", ""),
    ("refs/tags/", ""),
    ("refs/heads/", ""),
    ("refs/remotes/", ""),
    ("refs/remotes/", "/HEAD"),
];

/// Whether `name` is well-formed; such a name has no part that leads out of the directory.
pub(crate) fn is_safe_name(name: &BStr) -> bool {
    <&gix_ref::PartialNameRef>::try_from(name).is_ok()
}

/// Whether `name` fits `pattern`, whose `*` fits slashes too.
pub fn name_fits(pattern: &BStr, name: &BStr) -> bool {
    gix_glob::wildmatch(pattern, name, gix_glob::wildmatch::Mode::empty())
}
