//! Placeholders: what git makes of them in an archive.

use crate::fixture::Repo;

const PLACEHOLDERS: [&str; 75] = [
    "H",
    "h",
    "T",
    "t",
    "P",
    "p",
    "an",
    "aN",
    "ae",
    "aE",
    "al",
    "aL",
    "ad",
    "aD",
    "at",
    "ai",
    "aI",
    "as",
    "cn",
    "cN",
    "ce",
    "cE",
    "cl",
    "cL",
    "cd",
    "cD",
    "ct",
    "ci",
    "cI",
    "cs",
    "d",
    "D",
    "S",
    "e",
    "s",
    "f",
    "b",
    "B",
    "N",
    "n",
    "%",
    "m",
    "x41",
    "x00",
    "xzz",
    "x4",
    "x",
    "q",
    "aq",
    "cx",
    "a",
    "",
    "Cred",
    "Creset",
    "C(auto)",
    "Cx",
    "gD",
    "gd",
    "gn",
    "gs",
    "gx",
    "+b",
    "-b",
    " s",
    "+e",
    "-e",
    "+q",
    "-n",
    "(decorate)",
    "H%H",
    "H%%",
    "an <%ae>",
    "n%n%-e|",
    "h\n%t",
    "D%d%D",
];

fn assert_expanded(repo: &Repo, revision: &str) {
    let (ours, _) = repo.by_us(revision);
    let theirs = repo.by_git(revision);
    let content = |listed: &[crate::fixture::Listed]| {
        let file = listed
            .iter()
            .find(|listed| listed.path == b"table")
            .unwrap();
        file.content.clone()
    };
    let (ours, theirs) = (content(&ours), content(&theirs));
    for (ours, theirs) in ours
        .split(|byte| *byte == b'#')
        .zip(theirs.split(|byte| *byte == b'#'))
    {
        let (ours, theirs) = (
            ours.escape_ascii().to_string(),
            theirs.escape_ascii().to_string(),
        );
        assert_eq!(ours, theirs, "{revision}");
    }
    assert!(ours == theirs);
}

#[test]
fn placeholders_stand_for_what_git_says() {
    for format in ["--object-format=sha1", "--object-format=sha256"] {
        let repo = Repo::new(&[format]);
        let mut table = String::from("$Format:unended\n$Format:%H$$Format:$");
        for placeholder in PLACEHOLDERS {
            table.push_str(&format!(
                "#{} = \n\n[$Format:%{placeholder}$]",
                placeholder.len()
            ));
        }
        table.push_str("# $Format:%H");
        repo.write("table", table.as_bytes());
        repo.write(".gitattributes", b"table export-subst\n");
        repo.write(
            ".mailmap",
            b"# comment\nOther Name <A@example.com>\n<new@b> <second@example.com>\n\
              Both <both@b> Third <third@example.com>\n",
        );
        for (message, author) in [
            ("one", "A U Thor <a@example.com>"),
            (
                "Fix ...a: b_c (d)..\ncontinued  \n\n\nbody\n\nmore  \n",
                "Second <second@example.com>",
            ),
            ("  led by spaces\n\n \n\ttab\n", "Third <THIRD@example.com>"),
            ("", "No At <nobody>"),
        ] {
            let author = format!("--author={author}");
            repo.git(&["add", "-A"]);
            repo.git(&[
                "commit",
                "-q",
                "--allow-empty",
                "--allow-empty-message",
                "--cleanup=verbatim",
                "-m",
                message,
                &author,
            ]);
        }
        repo.git(&["tag", "light", "HEAD~1"]);
        repo.git(&["tag", "-a", "-m", "m", "annotated", "HEAD~1"]);
        repo.git(&["branch", "other"]);
        repo.git(&["update-ref", "refs/remotes/origin/x", "HEAD"]);
        repo.git(&["update-ref", "refs/odd/x", "HEAD"]);
        let parents = [
            "commit-tree",
            "-p",
            "HEAD",
            "-p",
            "HEAD~1",
            "-m",
            "merge",
            "HEAD^{tree}",
        ];
        let merge = repo.ask(&parents);
        for revision in ["HEAD", "HEAD~1", "HEAD~2", "HEAD~3", &merge, "annotated"] {
            assert_expanded(&repo, revision);
        }
        repo.git(&["checkout", "-q", "--detach"]);
        assert_expanded(&repo, "HEAD");
        repo.git(&["config", "core.abbrev", "12"]);
        assert_expanded(&repo, "HEAD");
    }
}

#[test]
fn commits_in_other_encodings_and_with_odd_dates_are_shown_as_git_does() {
    let repo = Repo::new(&[]);
    let names = [
        "an", "ae", "ad", "aD", "at", "aI", "as", "cn", "cd", "cI", "e", "s", "b",
    ];
    let table: Vec<String> = names
        .iter()
        .map(|name| format!("#$Format:%{name}$"))
        .collect();
    repo.write("table", table.concat().as_bytes());
    repo.write(".gitattributes", b"table export-subst\n");
    repo.commit("one");
    let tree = repo.ask(&["rev-parse", "HEAD^{tree}"]);
    let lines: [&[u8]; 5] = [
        b"A <a@b> 0 +0000",
        b"A <a@b> 100000 -0030",
        b"A \xfc <\xfc@b> 4102444800 +1400",
        b"  A  <a@b> 1700000000 +0000",
        b"<a@b> 1700000000 -1200",
    ];
    for line in lines {
        for encoding in [&b""[..], b"encoding ISO-8859-1\n", b"encoding nonsense\n"] {
            let commit = [
                format!("tree {tree}\nauthor ").as_bytes(),
                line,
                b"\ncommitter ",
                line,
                b"\n",
                encoding,
                b"\nsubject gr\xfcn\n\nbody \xe9\n",
            ]
            .concat();
            let words = [
                "hash-object",
                "-w",
                "--literally",
                "-t",
                "commit",
                "--stdin",
            ];
            let commit = repo.ask_with(&words, &commit);
            assert_expanded(&repo, &commit);
        }
    }
}
