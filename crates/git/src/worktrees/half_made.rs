//! A working tree that is being made: what of it is there goes away unless it is finished.

use super::mounted::take_off_image;
use super::tree_removal::remove_tree;
use std::path::{Path, PathBuf};

/// Removes the administrative directory and the working tree when it is dropped.
#[derive(Debug)]
pub(crate) struct HalfMade {
    admin: Option<PathBuf>,
    top: Option<PathBuf>,
    is_mounted: bool,
}

impl HalfMade {
    /// The administrative directory `admin` was made.
    pub(crate) fn new(admin: &Path) -> Self {
        HalfMade {
            admin: Some(admin.to_owned()),
            top: None,
            is_mounted: false,
        }
    }

    /// The directory `top` is there.
    pub(crate) fn has_top(&mut self, top: &Path) {
        self.top = Some(top.to_owned());
    }

    /// The working tree is mounted.
    pub(crate) fn is_mounted(&mut self) {
        self.is_mounted = true;
    }

    /// The working tree is whole: it stays.
    pub(crate) fn finish(mut self) {
        self.admin = None;
        self.top = None;
        self.is_mounted = false;
    }
}

impl Drop for HalfMade {
    fn drop(&mut self) {
        if let (true, Some(admin), Some(top)) = (self.is_mounted, &self.admin, &self.top) {
            // With its layers deleted below it, a mount shows nothing.
            if !take_off_image(admin, top) {
                return;
            }
        }
        for path in [self.admin.take(), self.top.take()].into_iter().flatten() {
            // The reason why it is not finished is told; git does not tell what stays behind, too.
            let _ = remove_tree(&path);
        }
    }
}
