use super::fixture::Scratch;
use crate::Error;
use std::os::unix::fs::PermissionsExt;

const CONFIG: &str = "r/.git/config";

/// Sets two values and returns the file, having asked git that it reads them.
fn edited(scratch: &Scratch, before: &str) -> String {
    scratch.write(CONFIG, before);
    let settings = [
        ("workers", "48".into()),
        ("thresholdForParallelism", "20".into()),
    ];
    let repository = scratch.open("r");
    repository.set_config("checkout", &settings).unwrap();
    let read = |key| scratch.ask("r", &["config", "--local", "--get", key]);
    assert_eq!(read("checkout.workers").trim(), "48", "{before}");
    assert_eq!(
        read("checkout.thresholdForParallelism").trim(),
        "20",
        "{before}"
    );
    assert!(!scratch.path("r/.git/config.lock").exists());
    scratch.read(CONFIG)
}

#[test]
fn what_is_not_set_stays_byte_for_byte() {
    let scratch = Scratch::with_history();
    let odd = "# first\n[core]\n\trepositoryformatversion = 0 ; why\n  bare=false\n\n\n\
               [alias]   \n\tx = \"a \\\" b\" # c\n\ty = one \\\n  two\n; last";
    for before in [odd.to_owned(), format!("{odd}\n"), format!("{odd}\r\n")] {
        let after = edited(&scratch, &before);
        assert!(after.starts_with(&before), "{after}");
        let added: Vec<&str> = after[before.len()..].split_whitespace().collect();
        let expected = "[checkout] workers = 48 thresholdForParallelism = 20";
        assert_eq!(added.join(" "), expected);
    }
}

#[test]
fn what_is_set_is_replaced_in_its_place() {
    let scratch = Scratch::with_history();
    let before = "[core]\n\tbare = false\n[Checkout]\n\t# how many\n\tWORKERS = 3 ; too few\n\
                  \tthresholdForParallelism = 9\n[core]\n\tfilemode = true\n[checkout]\n\
                  \tguess = true\n";
    // The name in the spelling that was asked for, as git does it.
    let expected = before.replace("WORKERS = 3", "workers = 48");
    let expected = expected.replace("Parallelism = 9", "Parallelism = 20");
    assert_eq!(edited(&scratch, before), expected);
    // Setting the same again changes nothing.
    assert_eq!(edited(&scratch, &expected), expected);
}

#[test]
fn a_new_setting_joins_its_section() {
    let scratch = Scratch::with_history();
    let before = "[checkout]\n\tguess = true\n# end\n[core]\n\tbare = false\n";
    let after = edited(&scratch, before);
    assert_eq!(after.matches("[checkout]").count(), 1);
    let without: String = after
        .lines()
        .filter(|line| !line.contains("48") && !line.contains("20"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(without, before);
}

#[test]
fn a_lock_of_somebody_else_and_a_broken_file_are_left_alone() {
    let scratch = Scratch::with_history();
    let repository = scratch.open("r");
    let before = scratch.read(CONFIG);
    let settings = [("workers", "2".into())];
    scratch.write("r/.git/config.lock", "held");
    let error = repository.set_config("checkout", &settings).unwrap_err();
    assert!(
        matches!(&error, Error::Fs(error) if error.kind() == std::io::ErrorKind::AlreadyExists),
        "{error}"
    );
    assert_eq!(scratch.read("r/.git/config.lock"), "held");
    std::fs::remove_file(scratch.path("r/.git/config.lock")).unwrap();
    assert_eq!(scratch.read(CONFIG), before);

    scratch.write(CONFIG, "[core\n");
    repository.set_config("checkout", &settings).unwrap_err();
    assert_eq!(scratch.read(CONFIG), "[core\n");
    assert!(!scratch.path("r/.git/config.lock").exists());
}

#[test]
fn permissions_stay() {
    let scratch = Scratch::with_history();
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(scratch.path(CONFIG), private).unwrap();
    edited(&scratch, &scratch.read(CONFIG));
    let after = std::fs::metadata(scratch.path(CONFIG)).unwrap();
    assert_eq!(after.permissions().mode() & 0o777, 0o600);
}
