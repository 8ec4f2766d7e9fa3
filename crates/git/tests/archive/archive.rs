//! A second reader of tar, for the archives that git writes and no others: ustar with pax headers.

use crate::fixture::{Kind, Listed};

pub fn read(mut archive: &[u8]) -> Vec<Listed> {
    let mut listed = Vec::new();
    let (mut path, mut link, mut size) = (None, None, None);
    while archive.len() >= 512 && archive[0] != 0 {
        let (header, rest) = archive.split_at(512);
        let kind = header[156];
        let length = size.take().unwrap_or_else(|| octal(&header[124..136]));
        let (content, padded) = rest.split_at(length as usize);
        archive = &padded[(512 - length as usize % 512) % 512..];
        match kind {
            b'g' => {}
            b'x' => {
                for (key, value) in records(content) {
                    match key.as_slice() {
                        b"path" => path = Some(value),
                        b"linkpath" => link = Some(value),
                        b"size" => size = String::from_utf8(value).unwrap().parse().ok(),
                        other => panic!("{other:?}"),
                    }
                }
            }
            kind => {
                let name = path.take().unwrap_or_else(|| {
                    let (prefix, name) = (text(&header[345..500]), text(&header[..100]));
                    if prefix.is_empty() {
                        name
                    } else {
                        [prefix, b"/".to_vec(), name].concat()
                    }
                });
                let target = link.take().unwrap_or_else(|| text(&header[157..257]));
                let (kind, content) = match kind {
                    b'0' => (Kind::File, content.to_vec()),
                    b'2' => (Kind::Symlink, target),
                    b'5' => (Kind::Directory, Vec::new()),
                    other => panic!("type {other}"),
                };
                listed.push(Listed {
                    path: name.strip_suffix(b"/").unwrap_or(&name).to_vec(),
                    kind,
                    mode: octal(&header[100..108]) as u16,
                    mtime_s: octal(&header[136..148]) as i64,
                    content,
                });
            }
        }
    }
    listed.sort_by(|a, b| hedgerow_tree::canonical_order(&a.path, &b.path));
    listed
}

fn text(field: &[u8]) -> Vec<u8> {
    field.split(|byte| *byte == 0).next().unwrap().to_vec()
}

fn octal(field: &[u8]) -> u64 {
    let digits = String::from_utf8(text(field)).unwrap();
    u64::from_str_radix(digits.trim(), 8).unwrap()
}

fn records(mut content: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut records = Vec::new();
    while let Some(space) = content.iter().position(|byte| *byte == b' ') {
        let length = std::str::from_utf8(&content[..space]).unwrap();
        let (record, rest) = content.split_at(length.parse().unwrap());
        let record = &record[space + 1..record.len() - 1];
        let equals = record.iter().position(|byte| *byte == b'=').unwrap();
        records.push((record[..equals].to_vec(), record[equals + 1..].to_vec()));
        content = rest;
    }
    records
}
