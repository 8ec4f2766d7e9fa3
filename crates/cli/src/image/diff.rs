//! `hedgerow image diff`.

use super::arguments::Diff;
use super::{print, unreadable};
use crate::environment::from_directory;
use crate::execution;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use crate::report::Path;
use crate::statistics;
use crate::walk::line::word;
use crate::walk::{interrupted_by_user, not_started, NOT_STARTED};
use hedgerow::image::shown_path;
use hedgerow::image::{diff, AnyImage, Aspects, DiffError, Difference, Told};
use hedgerow_fs::device_numbers;
use serde_json::{json, Value};
use std::sync::Arc;

const SCHEMA: &str = "hedgerow.image.diff.v1";
/// The exit code if there is a difference.
const DIFFERENT: u8 = 1;

pub fn run(command: &Diff, global: &Global, output: &Output) -> Result<u8, Failure> {
    let execution = execution::interruptible(global)?;
    let names = [&command.first, &command.second];
    let open = |side: usize| {
        let image = AnyImage::open(&from_directory(global, names[side]), 0);
        image
            .map(Arc::new)
            .map_err(|error| unreadable(names[side], error))
    };
    let (first, second) = (open(0)?, open(1)?);
    let aspects = Aspects {
        contents: true,
        mode: !command.no_mode,
        owner: !command.no_owner,
        mtime: !command.no_mtime,
        xattrs: !command.no_xattrs,
        links: true,
        inodes: false,
    };
    let (mut code, mut written) = (0, Ok(()));
    let told = diff([&first, &second], aspects, &execution, |path, told| {
        let line = match told {
            Told::Different(difference) if global.json => json_line(path, &difference),
            Told::Different(difference) => line(path, &difference),
            Told::Unreadable(side, error) => {
                code = NOT_STARTED;
                let (image, path) = (names[side].display(), shown_path(path));
                return output.error(format_args!("cannot read '{path}' of '{image}': {error}"));
            }
        };
        code = code.max(DIFFERENT);
        if written.is_ok() {
            written = print(&line);
        }
    });
    match told {
        Ok(()) => {}
        Err(DiffError::Cancelled) => return Err(interrupted_by_user()),
        Err(DiffError::Root(side, error)) => return Err(unreadable(names[side], error)),
        Err(error) => return Err(not_started(error)),
    }
    written?;
    statistics::tell(global, &execution, output)?;
    Ok(code)
}

fn line(path: &[u8], difference: &Difference) -> Vec<u8> {
    let (path, what) = (shown_path(path), what(difference));
    let mut line = hedgerow::display::quoted(path, false);
    line.extend_from_slice(format!(": {what}\n").as_bytes());
    line
}

fn what(difference: &Difference) -> String {
    match difference {
        Difference::OnlyFirst => "only in the first image".into(),
        Difference::OnlySecond => "only in the second image".into(),
        Difference::Kind(a, b) => format!("type {} became {}", word(*a), word(*b)),
        Difference::Mode(a, b) => format!("mode {a:04o} became {b:04o}"),
        Difference::Owner(a, b) => format!("owner {}:{} became {}:{}", a.0, a.1, b.0, b.1),
        Difference::Mtime(a, b) => format!("mtime {a} became {b}"),
        Difference::MtimeNs(a, b) => format!("mtime .{a:09} became .{b:09}"),
        Difference::Size(a, b) => format!("size {a} became {b}"),
        Difference::Content => "content".into(),
        Difference::Target => "target".into(),
        Difference::Device(a, b) => {
            let (a, b) = (device_numbers(*a), device_numbers(*b));
            format!("device {}:{} became {}:{}", a.0, a.1, b.0, b.1)
        }
        Difference::Xattrs => "extended attributes".into(),
        Difference::Links(..) => "hard links".into(),
        Difference::Number(a, b) => format!("inode {a} became {b}"),
        Difference::Form(..) => "form of the inode".into(),
    }
}

fn json_line(path: &[u8], difference: &Difference) -> Vec<u8> {
    let path_of = |path: &[u8]| serde_json::to_value(Path::from(path)).unwrap_or_default();
    let device = |number| json!(device_numbers(number));
    let (name, first, second) = match difference {
        Difference::OnlyFirst => ("only_first", Value::Null, Value::Null),
        Difference::OnlySecond => ("only_second", Value::Null, Value::Null),
        Difference::Kind(a, b) => ("type", json!(word(*a)), json!(word(*b))),
        Difference::Mode(a, b) => ("mode", json!(a), json!(b)),
        Difference::Owner(a, b) => ("owner", json!([a.0, a.1]), json!([b.0, b.1])),
        Difference::Mtime(a, b) => ("mtime_s", json!(a), json!(b)),
        Difference::MtimeNs(a, b) => ("mtime_ns", json!(a), json!(b)),
        Difference::Size(a, b) => ("size_bytes", json!(a), json!(b)),
        Difference::Content => ("content", Value::Null, Value::Null),
        Difference::Target => ("target", Value::Null, Value::Null),
        Difference::Device(a, b) => ("device", device(*a), device(*b)),
        Difference::Xattrs => ("xattrs", Value::Null, Value::Null),
        Difference::Links(a, b) => ("links", path_of(a), path_of(b)),
        Difference::Number(a, b) => ("ino", json!(a), json!(b)),
        Difference::Form(a, b) => ("extended", json!(a), json!(b)),
    };
    let object = json!({
        "schema": SCHEMA, "path": path_of(path), "difference": name,
        "first": first, "second": second,
    });
    format!("{object}\n").into_bytes()
}
