//! Extraction, through the same writer as `hedgerow image extract`.

use super::list::Lines;
use super::{Arguments, Chosen, CONSOLE, SOME_FAILED};
use crate::applets::console::print_names;
use hedgerow::image::{Handle, Image, Node, NodeError, Tally, Time, Xattr, XattrRules};
use hedgerow::plumbing::writer::{extract as extract_nodes, ExtractOptions, XattrRule};
use hedgerow::{CancelToken, Execution, Jobs};
use hedgerow_fs::Dir;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

pub fn extract(image: &Arc<Image>, chosen: &Chosen, arguments: &Arguments) -> Result<u8, String> {
    let text = |error: hedgerow_fs::Error| error.to_string();
    let interrupted = hedgerow_fs::catch_interrupts().map_err(text)?;
    let rules = Arc::new(rules(arguments)?);
    let all_time = arguments.all_time.as_deref().map(Time::parse).transpose()?;
    let target = Path::new(&arguments.destination);
    let is_there = hedgerow_fs::is_there(target).map_err(text)?;
    if is_there
        && !arguments.force
        && !Dir::open(target)
            .map_err(text)?
            .list()
            .map_err(text)?
            .is_empty()
    {
        return Err(format!(
            "'{}' is not empty: -f extracts into it and replaces files",
            target.display()
        ));
    }
    hedgerow_fs::create_directories(target).map_err(text)?;
    let root = Dir::open(target).map_err(text)?;
    let options = options(arguments, CancelToken::from_static(interrupted));
    let mut lines = Lines::new(arguments, arguments.long_info);
    let prints = arguments.info || arguments.long_info;
    let mut tally = Tally::default();
    let nodes = chosen.nodes(image)?.map(|node| {
        let mut node = node?;
        tally.add(&node);
        if prints {
            let line = lines.line(image, &mut node).map_err(NodeError::entry)?;
            print_names(line).map_err(NodeError::source)?;
        }
        if let Some(Time::At(seconds)) = all_time {
            node.mtime_s = seconds.into();
            node.mtime_ns = 0;
        }
        let (kind, handle) = (node.kind, node.handle);
        let rules = Arc::clone(&rules);
        let handle = Box::new(Ruled {
            kind,
            handle,
            rules,
        });
        Ok(Node { handle, ..node })
    });
    let progress = arguments
        .progress
        .start("Extracting", &options.execution.progress, CONSOLE);
    let extracted = extract_nodes(&root, nodes, &options, |failed| {
        let path = failed.path.as_deref().map(String::from_utf8_lossy);
        match path {
            Some(path) => CONSOLE.complain(format_args!("'{path}': {}", failed.problem)),
            None => CONSOLE.complain(failed.problem),
        }
    });
    progress.finish(extracted.is_ok());
    let extracted = extracted.map_err(|error| error.to_string())?;
    if !arguments.quiet {
        CONSOLE.say(tally);
    }
    Ok(if extracted.failed > 0 { SOME_FAILED } else { 0 })
}

fn rules(arguments: &Arguments) -> Result<XattrRules, String> {
    let mut rules = XattrRules::default();
    if let Some(pattern) = &arguments.xattrs_include {
        rules
            .include(pattern.as_bytes())
            .map_err(|error| error.to_string())?;
    }
    if let Some(pattern) = &arguments.xattrs_exclude {
        rules
            .exclude(pattern.as_bytes())
            .map_err(|error| error.to_string())?;
    }
    Ok(rules)
}

fn options(arguments: &Arguments, cancel: CancelToken) -> ExtractOptions {
    let is_root = hedgerow_fs::effective_uid() == 0;
    ExtractOptions {
        execution: Execution {
            jobs: arguments.processors.map_or(Jobs::Auto, Jobs::Fixed),
            cancel,
            ..Execution::default()
        },
        owners: is_root,
        setuid_anyway: false,
        devices: is_root,
        xattrs: match (arguments.no_xattrs, is_root && !arguments.user_xattrs) {
            (true, _) => XattrRule::None,
            (false, true) => XattrRule::All,
            (false, false) => XattrRule::User,
        },
        permissions: true,
        times: true,
        replace: arguments.force,
        root_attributes: true,
    }
}

/// An entry that keeps some of its extended attributes.
struct Ruled {
    kind: hedgerow::image::NodeKind,
    handle: Box<dyn Handle>,
    rules: Arc<XattrRules>,
}

impl Handle for Ruled {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        self.handle.target()
    }

    fn open(&mut self) -> Result<Box<dyn hedgerow::image::Content>, NodeError> {
        self.handle.open()
    }

    fn xattrs(&mut self) -> Result<Vec<Xattr>, NodeError> {
        Ok(self.rules.applied(self.kind, self.handle.xattrs()?))
    }
}
