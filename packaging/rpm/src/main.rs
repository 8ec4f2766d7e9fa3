//! Packs what stands below a directory as an RPM package. It needs no rpmbuild, and the same files
//! and the same time give the same bytes.
//!
//!     hedgerow-rpm ROOT OUTPUT NAME VERSION ARCHITECTURE [RELATION=PACKAGE[=VERSION]]...
//!
//! SOURCE_DATE_EPOCH is the time of the package. RELATION is requires, recommends, conflicts or
//! provides.

use rpm::{BuildConfig, CompressionWithLevel, Dependency, FileOptions, PackageBuilder};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

const LICENSE: &str = "MIT OR Apache-2.0";
const SUMMARY: &str = "Parallel checkout, status, walk, SquashFS images and Git packs";
const DESCRIPTION: &str =
    "Moves whole file trees between Git packs, working trees, tar streams and \
    SquashFS images, in parallel and in a deterministic order, beside git.";

/// Directories that every system has. The package owns the others, perhaps together with a shell.
const OF_THE_SYSTEM: [&str; 6] = [
    "/usr",
    "/usr/bin",
    "/usr/share",
    "/usr/share/doc",
    "/usr/share/man",
    "/usr/share/man/man1",
];
const DOCUMENTATION: [&str; 2] = ["/usr/share/doc", "/usr/share/man"];

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match pack() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn pack() -> Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [root, output, name, version, architecture, relations @ ..] = words.as_slice() else {
        return Err(
            "usage: hedgerow-rpm ROOT OUTPUT NAME VERSION ARCHITECTURE [RELATION]...".into(),
        );
    };
    let time: u32 = env::var("SOURCE_DATE_EPOCH")
        .map_err(|_| "SOURCE_DATE_EPOCH is not set")?
        .parse()
        .map_err(|_| "SOURCE_DATE_EPOCH is no number of seconds that RPM can store")?;
    let config = BuildConfig::default()
        .compression(CompressionWithLevel::Zstd(19))
        .source_date(time);
    let mut builder = PackageBuilder::new(name, version, LICENSE, architecture, SUMMARY);
    builder
        .using_config(config)
        .description(DESCRIPTION)
        .release("1")
        .vendor("The hedgerow developers")
        .build_host("localhost");
    let root = Path::new(root);
    for path in paths_below(root)? {
        add(&mut builder, root, &path)?;
    }
    for relation in relations {
        relate(&mut builder, relation)?;
    }
    builder.build()?.write_file(output)?;
    Ok(())
}

/// Everything below a directory, in the order of names.
fn paths_below(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut pending = vec![directory.to_owned()];
    let mut found = Vec::new();
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            if path.symlink_metadata()?.is_dir() {
                pending.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn add(builder: &mut PackageBuilder, root: &Path, path: &Path) -> Result<()> {
    let installed = Path::new("/").join(path.strip_prefix(root)?);
    let named = text(&installed)?;
    let kind = path.symlink_metadata()?.file_type();
    let is_documentation = DOCUMENTATION
        .iter()
        .any(|place| installed.starts_with(place));
    if kind.is_symlink() {
        let target = fs::read_link(path)?;
        builder.with_symlink(FileOptions::symlink(named, text(&target)?))?;
    } else if kind.is_file() {
        let options = FileOptions::new(named);
        let options = if is_documentation {
            options.doc()
        } else {
            options
        };
        builder.with_file(path, options)?;
    } else if kind.is_dir() {
        if !OF_THE_SYSTEM.contains(&named) {
            builder.with_dir_entry(FileOptions::dir(named).permissions(0o755))?;
        }
    } else {
        return Err(format!("'{named}' is no file, link or directory").into());
    }
    Ok(())
}

fn text(path: &Path) -> Result<&str> {
    path.to_str()
        .ok_or_else(|| format!("the name of '{}' is not UTF-8", path.display()).into())
}

fn relate(builder: &mut PackageBuilder, relation: &str) -> Result<()> {
    let (kind, package) = relation
        .split_once('=')
        .ok_or_else(|| format!("'{relation}' is not RELATION=PACKAGE"))?;
    let dependency = match package.split_once('=') {
        Some((package, version)) => Dependency::eq(package, version),
        None => Dependency::any(package),
    };
    match kind {
        "requires" => builder.requires(dependency),
        "recommends" => builder.recommends(dependency),
        "conflicts" => builder.conflicts(dependency),
        "provides" => builder.provides(dependency),
        _ => return Err(format!("there is no relation '{kind}' between packages").into()),
    };
    Ok(())
}
