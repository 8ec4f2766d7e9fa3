//! Attributes x configuration x content, both ways.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_git::convert::{
    AttributeSources, Attributes, AutoCrlf, Buffers, ConvertOptions, Converter, Eol, ToGit,
};

use crate::repository::{stage, Numbers};
use hedgerow_testkit::{blob_id, Repository};

/// The assignments of a line, each for a directory of its own.
const ATTRIBUTES: &[&str] = &[
    "",
    "text",
    "-text",
    "!text",
    "text=auto",
    "text=unknown",
    "text=input",
    "text eol=lf",
    "text eol=crlf",
    "text=auto eol=lf",
    "text=auto eol=crlf",
    "eol=lf",
    "eol=crlf",
    "eol=CRLF",
    "-text eol=crlf",
    "text eol",
    "crlf",
    "-crlf",
    "crlf=input",
    "crlf=auto",
    "-text crlf",
    "!text crlf=input",
    "ident",
    "-ident",
    "ident=yes",
    "ident text eol=crlf",
    "ident text=auto eol=crlf",
    "ident text=auto",
    "ident -text",
    "binary",
    "binary text",
    "text binary",
    "-binary text=auto",
    "!binary eol=crlf",
    "mine",
    "outer",
    "outer -mine",
    "loop",
    "filter=nobody",
    "filter",
    "working-tree-encoding=UTF-8",
    "working-tree-encoding=",
    "-text working-tree-encoding=utf8",
    "working-tree-encoding=UTF-16",
    "text working-tree-encoding=utf16",
    "text eol=crlf working-tree-encoding=UTF-16",
    "ident text eol=crlf working-tree-encoding=UTF-16LE-BOM",
    "text working-tree-encoding=UTF-16BE-BOM",
    "text=auto eol=crlf working-tree-encoding=UTF-16LE",
    "working-tree-encoding=utf16be",
    "working-tree-encoding=UTF-32",
    "working-tree-encoding=UTF-32LE",
    "working-tree-encoding=UTF-32BE",
    "working-tree-encoding=UTF-7",
    "working-tree-encoding=ISO-8859-1",
    "working-tree-encoding=latin-1",
    "text eol=crlf working-tree-encoding=SHIFT-JIS",
    "working-tree-encoding=windows-1252",
    "working-tree-encoding=ISO-2022-JP",
    "working-tree-encoding=EUC-JP",
    "working-tree-encoding=ASCII//TRANSLIT",
    "text eol=crlf working-tree-encoding=no-such-encoding",
];

/// Macros that the cases above use.
const MACROS: &str = "[attr]mine text eol=crlf\n[attr]outer ident mine -diff\n\
    [attr]loop text loop eol=crlf\n[attr]mine text eol=crlf ident\n";

fn contents() -> Vec<Vec<u8>> {
    let mut contents: Vec<Vec<u8>> = [
        &b""[..],
        b"\n",
        b"\r\n",
        b"\r",
        b"one\ntwo\n",
        b"one\r\ntwo\r\n",
        b"one\ntwo\r\nthree\n",
        b"one\rtwo\n",
        b"one\rtwo\r\n",
        b"one\r\r\ntwo\n",
        b"no end",
        b"one\nno end",
        b"one\r\nends with cr\r",
        b"nul\0nul\n",
        b"nul\0nul\r\n",
        b"control \x01\x02 characters\n",
        b"dos\n\x1a",
        b"$Id$\n",
        b"$Id$",
        b"$Id",
        b"$I",
        b"$",
        b"$$Id$\n",
        b"$Id:$\n",
        b"$Id: $\n",
        b"$Id:  $\n",
        b"$Id: 0123456789abcdef $ and $Id$\r\n",
        b"$Id: a b $\n$Id$\n",
        b"$Id: a b$Id$\n",
        b"$Id:a b$Id$\n",
        b"$Id: a\tb $\n",
        b"$Id: line\nbreak $ $Id$\n",
        b"$Id: no end",
        b"$Id: no end\n$Id: still $ $Id: none",
        b"$Id\0$Id$ \n$Id$\n",
        b"$Id: nul\0 in it $\n",
        b"$IdX$Id$ $Id $Id$\n",
        b"$Id:x$$Id:$$Id$\n",
        b"$Id: trailing space  $\n",
        b"\xff\xfe\n",
        b"\xfe\xffbe\n",
        b"\xff\xfel\0e\0\n\0",
        b"\xfe\xff\0b\0e\0\n",
        b"l\0e\0\r\0\n\0",
        b"\xff\xfe\0\0a\0\0\0\n\0\0\0",
        b"\0\0\xfe\xff\0\0\0a",
        b"\xff\xfea",
        b"\xff\xfe\x00\xd8",
        b"\xff\xfe\x34\xd8\x1e\xdd",
        b"\xed\xa0\x80 surrogate\n",
        b"\xf4\x90\x80\x80 too high\n",
        b"cut \xc3",
    ]
    .map(<[u8]>::to_vec)
    .to_vec();
    for text in [
        "\u{feff}bom\n",
        "\u{feff}",
        "Äpfel und Öl\n",
        "Äpfel\r\nund Öl\r\n",
        "5 € “quoted”\n",
        "日本語 〜 ～ ￥ ¥ ‾ \\ ~\n",
        "𝄞 clef\n",
        "\u{ffff} noncharacter\n",
    ] {
        contents.push(text.as_bytes().to_vec());
    }
    contents.push(b"\x93\xfa\x96\x7b \x81\x60 \\ ~\r\n".to_vec());
    contents.push(b"\xc4pfel \x80\n".to_vec());
    let parts = [
        "$", "Id", ":", " ", "\r", "\n", "\0", "a", "$Id$", "$Id: ", "é", "\t",
    ];
    let mut numbers = Numbers(1);
    for _ in 0..40 {
        let length = 1 + numbers.below(14);
        let content = (0..length).map(|_| parts[numbers.below(parts.len())]);
        contents.push(content.collect::<String>().into_bytes());
    }
    contents.push("long line of text\n".repeat(5_000).into_bytes());
    contents.push("long line $Id$ of text\r\n".repeat(3_000).into_bytes());
    contents
}

struct Case {
    repository: Repository,
    files: BTreeMap<String, Vec<u8>>,
    ids: BTreeMap<String, gix_hash::ObjectId>,
    attributes: String,
    options: ConvertOptions,
}

impl Case {
    fn new(auto_crlf: AutoCrlf, eol: Option<Eol>) -> Case {
        let repository = Repository::init(&[]);
        let auto = match auto_crlf {
            AutoCrlf::False => "false",
            AutoCrlf::True => "true",
            AutoCrlf::Input => "input",
        };
        repository.git(&["config", "core.autocrlf", auto]);
        match eol {
            Some(Eol::Lf) => repository.git(&["config", "core.eol", "lf"]),
            Some(Eol::CrLf) => repository.git(&["config", "core.eol", "crlf"]),
            None => Vec::new(),
        };
        let mut attributes = MACROS.to_owned();
        let mut files = BTreeMap::new();
        let contents = contents();
        for (row, line) in ATTRIBUTES.iter().enumerate() {
            attributes.push_str(&format!("/a{row}/** {line}\n"));
            for (column, content) in contents.iter().enumerate() {
                files.insert(format!("a{row}/c{column}"), content.clone());
            }
        }
        files.insert(".gitattributes".into(), attributes.clone().into_bytes());
        let ids = stage(&repository, &files);
        files.remove(".gitattributes");
        Case {
            repository,
            files,
            ids,
            attributes,
            options: ConvertOptions {
                auto_crlf,
                eol: eol.unwrap_or_default(),
                ..ConvertOptions::default()
            },
        }
    }

    fn converter(&self) -> Converter {
        let attributes = Attributes::new(&AttributeSources {
            directories: vec![("".into(), self.attributes.as_bytes())],
            ..AttributeSources::default()
        });
        assert_eq!(attributes.messages(), &[] as &[String]);
        Converter::new(self.options.clone(), attributes)
    }

    fn describe(&self, path: &str) -> String {
        let content = &self.files[path];
        let start = &content[..content.len().min(60)];
        format!(
            "{path} ({:?}) {:?} of {:?}",
            line_of(path),
            String::from_utf8_lossy(start),
            self.options.auto_crlf
        )
    }

    fn check_checkout(&self) {
        let output = self.repository.run(&["checkout-index", "-a"], b"");
        assert_eq!(output.code, 0, "{}", output.stderr);
        let converter = self.converter();
        let mut buffers = Buffers::default();
        let mut messages = Vec::new();
        let mut wrong = Vec::new();
        for (path, content) in &self.files {
            let conversion = converter.conversion(path.as_str().into());
            let id = &self.ids[path];
            let converted = converter
                .to_worktree(&mut buffers, conversion, path.as_str().into(), id, content)
                .unwrap();
            messages.extend(converted.message.map(|message| format!("error: {message}")));
            let expected = self.repository.read(path);
            if converted.content != expected {
                wrong.push(self.describe(path));
            }
            if let Some(mut stream) = converter.stream_to_worktree(conversion, id) {
                for size in [1, 7] {
                    let mut out = Vec::new();
                    for piece in content.chunks(size) {
                        stream.push(piece, &mut out);
                    }
                    stream.finish(&mut out);
                    assert_eq!(out, expected, "stream: {}", self.describe(path));
                    stream = converter.stream_to_worktree(conversion, id).unwrap();
                }
            }
        }
        assert!(
            wrong.is_empty(),
            "{} wrong:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
        assert_same_lines(messages, &output.stderr);
    }

    /// Puts the blobs' contents, unconverted, where the files are.
    fn write_files(&self) {
        for (path, content) in &self.files {
            self.repository.write(path, content);
        }
    }

    /// `hash-object` does not look into the index.
    fn check_hash_object(&self) {
        self.write_files();
        let mut paths = self.files.keys().cloned().collect::<Vec<_>>().join("\n");
        paths.push('\n');
        let output = (self.repository).run(&["hash-object", "--stdin-paths"], paths.as_bytes());
        assert_eq!(output.code, 0, "{}", output.stderr);
        let ids = String::from_utf8(output.stdout).unwrap();
        let expected = self
            .files
            .keys()
            .cloned()
            .zip(ids.lines().map(str::to_owned))
            .collect();
        self.compare_to_git(&expected, &output.stderr, "error", false, |_| None);
    }

    /// `add` looks into the index, and complains about what will not come back.
    fn check_add(&mut self, renormalize: bool) {
        self.files.retain(|path, _| {
            let keep = !line_of(path).contains("encoding");
            if !keep {
                let _ = std::fs::remove_file(self.repository.root.join(path));
            }
            keep
        });
        std::fs::remove_file(self.repository.root.join(".git/index")).unwrap();
        let mut indexed = self.files.clone();
        // The index has CRs where the file has none, too, and the other way round.
        for (path, content) in &mut indexed {
            match path.as_str() {
                path if path.ends_with("c4") => *content = b"one\r\ntwo\r\n".to_vec(),
                path if path.ends_with("c5") => *content = b"one\ntwo\n".to_vec(),
                _ => {}
            }
        }
        stage(&self.repository, &indexed);
        self.write_files();
        let args: &[&str] = if renormalize {
            &["add", "--renormalize", "."]
        } else {
            &["add", "."]
        };
        let output = self.repository.run(args, b"");
        assert_eq!(output.code, 0, "{}", output.stderr);
        let list = String::from_utf8(self.repository.git(&["ls-files", "-s"])).unwrap();
        let mut expected = BTreeMap::new();
        for line in list.lines() {
            let (entry, path) = line.split_once('\t').unwrap();
            let id = entry.split(' ').nth(1).unwrap();
            expected.insert(path.to_owned(), id.to_owned());
        }
        let index = |path: &str| Some(indexed[path].clone());
        self.compare_to_git(&expected, &output.stderr, "warning", renormalize, index);
    }

    fn compare_to_git(
        &self,
        expected: &BTreeMap<String, String>,
        stderr: &str,
        severity: &str,
        renormalize: bool,
        index: impl Fn(&str) -> Option<Vec<u8>>,
    ) {
        let converter = self.converter();
        let mut buffers = Buffers::default();
        let mut messages = Vec::new();
        let mut wrong = Vec::new();
        for (path, content) in &self.files {
            let conversion = converter.conversion(path.as_str().into());
            let request = ToGit {
                write_object: severity == "warning",
                tell_line_ends: false,
                renormalize,
                index_content: &mut || Ok(index(path)),
            };
            let converted = converter
                .to_git(
                    &mut buffers,
                    conversion,
                    path.as_str().into(),
                    content,
                    request,
                )
                .unwrap();
            messages.extend(
                converted
                    .message
                    .or(converted.line_ends)
                    .map(|message| format!("{severity}: {message}")),
            );
            let id = blob_id(converted.content).to_string();
            if id != expected[path] {
                wrong.push(self.describe(path));
            }
        }
        assert!(
            wrong.is_empty(),
            "{} wrong:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
        assert_same_lines(messages, stderr);
    }
}

/// Messages come in any order; only what differs is worth reading. Hints are the CLI's.
fn assert_same_lines(ours: Vec<String>, git: &str) {
    let lines = git.lines().filter(|line| !line.starts_with("hint: "));
    let git: BTreeSet<_> = lines.map(str::to_owned).collect();
    let ours: BTreeSet<_> = ours.into_iter().collect();
    let differences: Vec<_> = ours.symmetric_difference(&git).collect();
    assert!(differences.is_empty(), "{differences:#?}");
}

/// The assignments that hold for a path of a case.
fn line_of(path: &str) -> &'static str {
    let row: usize = path[1..path.find('/').unwrap()].parse().unwrap();
    ATTRIBUTES[row]
}

fn check(auto_crlf: AutoCrlf, eol: Option<Eol>) {
    let mut case = Case::new(auto_crlf, eol);
    case.check_checkout();
    case.check_hash_object();
    case.check_add(false);
    case.check_add(true);
}

#[test]
fn without_configuration() {
    check(AutoCrlf::False, None);
}

#[test]
fn eol_lf() {
    check(AutoCrlf::False, Some(Eol::Lf));
}

#[test]
fn eol_crlf() {
    check(AutoCrlf::False, Some(Eol::CrLf));
}

#[test]
fn autocrlf() {
    check(AutoCrlf::True, None);
}

#[test]
fn autocrlf_input() {
    check(AutoCrlf::Input, None);
}

#[test]
fn autocrlf_overrules_eol() {
    check(AutoCrlf::True, Some(Eol::Lf));
}
