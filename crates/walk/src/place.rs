/// A directory of the scanned tree.
#[derive(Debug)]
pub struct Place<D> {
    path: Box<[u8]>,
    /// The visitor's data for it.
    pub data: D,
}

impl<D> Place<D> {
    /// The directory at `path` relative to the root; empty for the root itself.
    pub(crate) fn at(path: Box<[u8]>, data: D) -> Self {
        Place { path, data }
    }

    pub(crate) fn child(&self, name: &[u8], data: D) -> Self {
        Place {
            path: self.path_of(name).into_boxed_slice(),
            data,
        }
    }

    /// Its path relative to the root of the scan, without a trailing slash; empty for the root.
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// The last component of its path; empty for the root.
    pub fn name(&self) -> &[u8] {
        let name = self.path.rsplit(|byte| *byte == b'/').next();
        name.unwrap_or(&self.path)
    }

    /// The path of its entry `name`, relative to the root of the scan.
    pub fn path_of(&self, name: &[u8]) -> Vec<u8> {
        let mut path = Vec::with_capacity(self.path.len() + 1 + name.len());
        self.append_path_of(name, &mut path);
        path
    }

    /// Appends the path of its entry `name` to `path`.
    pub fn append_path_of(&self, name: &[u8], path: &mut Vec<u8>) {
        if !self.path.is_empty() {
            path.extend_from_slice(&self.path);
            path.push(b'/');
        }
        path.extend_from_slice(name);
    }
}
