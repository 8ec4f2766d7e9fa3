//! What newer gits say of branches than the one that is installed may.

use crate::scene::Scene;
use crate::states::{with, FOUR, ORIGIN};

/// git has had `status.compareBranches` since 2.54: what it says is written down here.
#[test]
fn branches_are_compared_with_those_that_are_wanted() {
    let scene = Scene::new(&with(
        ORIGIN,
        "git clone -q --bare ../origin.git ../fork; git remote add fork ../fork; git fetch -q fork
        git checkout -q -b own --track origin/main; git commit -q --allow-empty -m own
        git push -q fork own; git commit -q --allow-empty -m more
        git config remote.pushDefault fork; git config push.default current",
    ));
    let words = |wanted: &[&str]| {
        let values = wanted.iter().enumerate();
        let mut more = vec![("GIT_CONFIG_COUNT".to_owned(), wanted.len().to_string())];
        for (number, value) in values {
            let key = "status.compareBranches".to_owned();
            more.push((format!("GIT_CONFIG_KEY_{number}"), key));
            more.push((format!("GIT_CONFIG_VALUE_{number}"), value.to_string()));
        }
        let more: Vec<(&str, &str)> = more.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let answer = scene.hedgerow("", &[], &more);
        let text = String::from_utf8(answer.text).unwrap();
        let error = String::from_utf8(answer.error).unwrap();
        let text = text.strip_prefix("On branch own\n").unwrap();
        let text = text.strip_suffix("nothing to commit, working tree clean\n");
        (text.unwrap().to_owned(), error)
    };
    let upstream = "Your branch is ahead of 'origin/main' by 2 commits.\n\n";
    let push = "Your branch is ahead of 'fork/own' by 1 commit.\n  \
                (use \"git push\" to publish your local commits)\n\n";
    let none = String::new();
    assert_eq!(words(&["@{upstream}"]), (upstream.into(), none.clone()));
    assert_eq!(words(&["@{PUSH}"]), (push.into(), none.clone()));
    let both = (format!("{upstream}{push}"), none.clone());
    assert_eq!(words(&["@{upstream}  @{push} @{upstream}"]), both);
    let warning =
        "warning: ignoring value 'main' for status.compareBranches, only @{upstream} and \
                   @{push} are supported\n";
    assert_eq!(words(&["@{push} main"]), (push.into(), warning.into()));
    scene.run("git reset -q --hard HEAD~2");
    let behind = "Your branch is behind 'fork/own' by 1 commit, and can be fast-forwarded.\n  \
                  (use \"git pull fork own\" to update your local branch)\n\n";
    assert_eq!(words(&["@{push}"]), (behind.into(), none.clone()));
    scene.run("git commit -q --allow-empty -m other");
    let diverged = "Your branch and 'fork/own' have diverged,\nand have 1 and 1 different commits \
                    each, respectively.\n\n";
    assert_eq!(words(&["@{push}"]), (diverged.into(), none));
}

#[test]
fn ids_of_detached_heads_may_end_in_dots() {
    let scene = Scene::new(FOUR);
    scene.run("git config advice.detachedHead false");
    let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
    hedgerow_testkit::isolate(&mut command);
    command
        .args(["checkout", "--detach", "main"])
        .current_dir(scene.top());
    command.env("GIT_PRINT_SHA1_ELLIPSIS", "Yes");
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.starts_with("HEAD is now at ") && said.contains("... "),
        "{said}"
    );
}
