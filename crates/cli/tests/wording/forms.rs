//! Every state in every form.

use crate::scene::Scene;
use crate::states;
use hedgerow_testkit::{git_is_at_least, sample};

const FORMS: &[&[&str]] = &[
    &[],
    &["--long"],
    &["-s"],
    &["-sb"],
    &["-s", "-z"],
    &["-z", "-b"],
    &["--porcelain"],
    &["--porcelain=v1", "-b"],
    &["--porcelain=2"],
    &["--porcelain=v2", "--branch", "--show-stash"],
    &["--porcelain=v2", "-b", "-z"],
    &["-uno"],
    &["-u"],
    &["-suno", "--branch"],
    &["--ignored"],
    &["-s", "--ignored=matching", "-uall"],
    &["--no-ahead-behind"],
    &["-sb", "--no-ahead-behind"],
    &["--porcelain=v2", "-b", "--no-ahead-behind"],
    &["--show-stash"],
    &["--no-renames"],
    &["--ignore-submodules"],
    &["--ignore-submodules=dirty", "-s"],
    &["--", "file", "a", "dir"],
];

/// Settings for `git -c`, as the environment carries them.
const SETTINGS: &[&[(&str, &str)]] = &[
    &[("advice.statusHints", "false")],
    &[("status.displayCommentPrefix", "true")],
    &[
        ("status.displayCommentPrefix", "true"),
        ("core.commentChar", "%"),
        ("color.ui", "always"),
    ],
    &[("status.relativePaths", "false")],
    &[("status.short", "true"), ("status.branch", "true")],
    &[("status.showStash", "true")],
    &[("status.aheadBehind", "false")],
    &[("status.showUntrackedFiles", "no")],
    &[
        ("status.showUntrackedFiles", "all"),
        ("advice.statusHints", "false"),
    ],
    &[("color.status", "always")],
    &[
        ("color.status", "always"),
        ("status.short", "true"),
        ("status.branch", "true"),
    ],
    &[
        ("color.ui", "always"),
        ("color.status.header", "bold blue"),
        ("color.status.added", "green ul"),
        ("color.status.branch", "magenta"),
        ("color.status.nobranch", "reset red white"),
        ("color.status.untracked", "#ff8800"),
        ("color.status.localbranch", "brightcyan"),
        ("color.status.remoteBranch", "200 nobold"),
        ("color.status.unmerged", ""),
        ("color.status.changed", "normal"),
    ],
    &[("column.ui", "always")],
    &[
        ("column.status", "row,dense"),
        ("color.ui", "always"),
        ("status.displayCommentPrefix", "1"),
    ],
    &[("column.ui", "auto"), ("column.status", "plain always")],
];

fn environment(settings: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut variables = vec![("GIT_CONFIG_COUNT".into(), settings.len().to_string())];
    for (number, (key, value)) in settings.iter().enumerate() {
        variables.push((format!("GIT_CONFIG_KEY_{number}"), (*key).into()));
        variables.push((format!("GIT_CONFIG_VALUE_{number}"), (*value).into()));
    }
    variables
}

/// The directories of a state that status is asked for in.
fn places(scene: &Scene) -> Vec<&'static str> {
    let candidates = ["", "dir", "a b", "linked"];
    let exists = |place: &&str| scene.top().join(place).is_dir();
    candidates.into_iter().filter(exists).collect()
}

fn compare_all(states: &[(&str, String)]) {
    let only = std::env::var("ONLY_STATE").ok();
    let colors_all = git_is_at_least(2, 55, "colors of untracked paths with -z");
    let mut different = Vec::new();
    for (number, (name, script)) in states.iter().enumerate() {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let scene = Scene::new(script);
        let mut look = |place: &str, words: &[&str], more: &[(&str, &str)]| {
            let difference = scene.difference(place, words, more);
            different.extend(difference.map(|difference| format!("{name}: {difference}")));
        };
        for place in places(&scene) {
            FORMS.iter().for_each(|words| look(place, words, &[]));
        }
        for settings in sample(SETTINGS, number) {
            let variables = environment(settings);
            let more: Vec<(&str, &str)> = variables
                .iter()
                .map(|(key, value)| (&key[..], &value[..]))
                .collect();
            for words in [
                &[][..],
                &["--porcelain=v2", "-b"],
                &["-sb"],
                &["-sz"],
                &["-z"],
            ] {
                let is_colored = settings.iter().any(|(key, _)| key.starts_with("color."));
                let is_terminated = words.iter().any(|word| word.ends_with('z'));
                if colors_all || !is_colored || !is_terminated {
                    look("", words, &more);
                }
            }
        }
    }
    if let Some(file) = std::env::var_os("DIFFERENCES") {
        let mut text = std::fs::read(&file).unwrap_or_default();
        text.extend(different.concat().into_bytes());
        std::fs::write(file, text).unwrap();
    }
    let first = different.first().cloned().unwrap_or_default();
    let count = different.len();
    assert!(different.is_empty(), "{count} differ, the first:\n{first}");
}

/// The states are shared out, so that they are made at the same time.
fn part(number: usize) {
    let mut states = states::all();
    if !git_is_at_least(2, 55, "abbreviated ids in the lists of a rebase") {
        let newer = ["fixups", "failed command", "lists of other things"];
        states.retain(|(name, _)| !newer.contains(name));
    }
    assert!(states.len() >= 100, "{}", states.len());
    let own: Vec<_> = states.into_iter().skip(number).step_by(4).collect();
    compare_all(&own);
}

#[test]
fn every_state_is_told_in_gits_words_1() {
    part(0);
}

#[test]
fn every_state_is_told_in_gits_words_2() {
    part(1);
}

#[test]
fn every_state_is_told_in_gits_words_3() {
    part(2);
}

#[test]
fn every_state_is_told_in_gits_words_4() {
    part(3);
}
