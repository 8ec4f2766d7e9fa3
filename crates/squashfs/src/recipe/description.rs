use super::glob::add_found;
use super::input::Input;
use super::lines::{for_each_line, Trim};
use super::nodes::Nodes;
use super::statement::{Statement, What};
use super::tree::{Attributes, Body, Tree};
use super::{Labels, RecipeError};
use hedgerow_tree::{Defaults, Node, NodeError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A tree described by a text file, one line for each entry:
///
/// ```text
/// dir   <path> <mode> <uid> <gid>
/// file  <path> <mode> <uid> <gid> [<input>]      default: the path itself
/// slink <path> <mode> <uid> <gid> <target>
/// link  <path> <mode> <uid> <gid> <path>         another name, which has the attributes of the first
/// nod   <path> <mode> <uid> <gid> c|b <major> <minor>
/// pipe  <path> <mode> <uid> <gid>
/// sock  <path> <mode> <uid> <gid>
/// glob  <path> <mode> <uid> <gid> [-type <letter>] [-name <pattern>] [-path <pattern>]
///       [-xdev] [-mount] [-keeptime] [-nonrecursive] [--] [<directory>]
/// ```
///
/// The mode is octal. `<path>` may be in double quotes, where `\"` and `\\` stand for a quote and a
/// backslash. Inputs and directories extend to the end of the line, including blanks, and are
/// relative to the directory of the inputs. In a glob, `*` for mode, uid or gid keeps that of the
/// file found. Lines that begin with `#` are comments.
#[derive(Debug)]
pub struct Description {
    tree: Tree,
    file: PathBuf,
    inputs: Arc<PathBuf>,
}

impl Description {
    /// Parses a description and lists the directories that its globs name. `file` is used in
    /// messages; `inputs` is the directory of the inputs.
    ///
    /// # Errors
    /// A line that is invalid, describes an entry that already exists, leaves the image, or whose
    /// directory cannot be listed; a hard link to a directory or without a target. The error names
    /// file and line.
    pub fn parse(
        file: &Path,
        content: &[u8],
        inputs: &Path,
        defaults: Defaults,
    ) -> Result<Self, RecipeError> {
        let mut tree = Tree::new(Attributes {
            mode: defaults.mode,
            uid: defaults.uid,
            gid: defaults.gid,
            mtime_s: defaults.mtime_s,
        });
        for_each_line(file, content, Trim::Start, |line, text| match text {
            [b'#', ..] => Ok(()),
            text => {
                let statement = Statement::parse(text)?;
                apply(&mut tree, statement, inputs, defaults.mtime_s, line)
            }
        })?;
        tree.resolve(file)?;
        Ok(Description {
            tree,
            file: file.to_owned(),
            inputs: Arc::new(inputs.to_owned()),
        })
    }

    /// The described nodes in canonical order, the root first. Inputs are opened when their nodes
    /// are reached; a missing input is an error of that entry alone.
    pub fn into_nodes(
        self,
        labels: Arc<Labels>,
    ) -> impl Iterator<Item = Result<Node, NodeError>> + Send {
        Nodes::new(self.tree, self.file, self.inputs, labels)
    }
}

fn apply(
    tree: &mut Tree,
    statement: Statement,
    inputs: &Path,
    mtime_s: i64,
    line: u64,
) -> Result<(), String> {
    let mut attributes = Attributes {
        mode: statement.mode.unwrap_or(0),
        uid: statement.uid.unwrap_or(0),
        gid: statement.gid.unwrap_or(0),
        mtime_s,
    };
    let body = match statement.what {
        What::Glob(ref glob) => {
            return add_found(tree, (&statement, glob), inputs, mtime_s, line);
        }
        What::Directory => Body::directory(false),
        What::Symlink(target) => {
            // The kernel ignores the permissions of symbolic links.
            attributes.mode = 0o777;
            Body::Symlink(target.into())
        }
        What::HardLink(target) => Body::HardLink(target.into()),
        What::Device { is_block, numbers } => Body::Device { is_block, numbers },
        What::Fifo => Body::Fifo,
        What::Socket => Body::Socket,
        What::File(path) => Body::File(Input {
            path: path.into(),
            is_found: false,
        }),
    };
    tree.add(&statement.path, attributes, body, line)
}
