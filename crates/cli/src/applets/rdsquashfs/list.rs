//! The listing of a directory in the format of `ls -l`.

use hedgerow::image::{mode_letters, rounded_size, Body, Error, Image, Inode};

/// A line whose columns are not aligned yet.
struct Line {
    mode: String,
    user: String,
    group: String,
    size: String,
    name: Vec<u8>,
}

/// Lists the contents of a directory, or another entry itself.
pub fn list(image: &Image, path: &[u8], inode: &Inode) -> Result<Vec<u8>, Error> {
    let mut lines = Vec::new();
    match &inode.body {
        Body::Directory(directory) => {
            for (name, entry) in image.listing(directory)?.iter() {
                lines.push(line(image, name, &image.inode(entry.inode)?)?);
            }
        }
        _ => {
            let name = path
                .rsplit(|byte| *byte == b'/')
                .find(|name| !name.is_empty());
            lines.push(line(image, name.unwrap_or_default(), inode)?);
        }
    }
    let width = |column: fn(&Line) -> usize| lines.iter().map(column).max().unwrap_or(0);
    // The tool makes the columns of ids one character narrower than the longest id.
    let users = width(|line| line.user.len()).saturating_sub(1);
    let groups = width(|line| line.group.len()).saturating_sub(1);
    let sizes = width(|line| line.size.len());
    let mut text = Vec::new();
    for line in &lines {
        let Line {
            mode,
            user,
            group,
            size,
            name,
        } = line;
        let columns = format!("{mode} {user:>users$}/{group:<groups$} {size:>sizes$} ");
        text.extend_from_slice(columns.as_bytes());
        text.extend_from_slice(name);
        text.push(b'\n');
    }
    Ok(text)
}

fn line(image: &Image, name: &[u8], inode: &Inode) -> Result<Line, Error> {
    let metadata = image.metadata(inode)?;
    let mut name = name.to_vec();
    let size = match &inode.body {
        Body::Directory(directory) => rounded_size(directory.size.into()),
        Body::File(file) => rounded_size(file.size),
        Body::Symlink(target) => {
            name.extend_from_slice(b" -> ");
            name.extend_from_slice(target);
            rounded_size(target.len() as u64)
        }
        Body::Device(_) => {
            let (major, minor) = hedgerow_fs::device_numbers(metadata.rdev);
            format!("{major}:{minor}")
        }
        Body::Ipc => "0".into(),
    };
    Ok(Line {
        mode: mode_letters(inode.kind, metadata.mode),
        user: metadata.uid.to_string(),
        group: metadata.gid.to_string(),
        size,
        name,
    })
}
