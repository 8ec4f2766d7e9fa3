//! Removing images, and knowing who may still need them.

use super::{lock_position, ImageStore, StoredImage};
use crate::{Error, Result};
use hedgerow_fs::RangeLock;
use hedgerow_fs::{
    create_directories, is_directory, list_directory, read_file, remove_file, FileKind, OutputFile,
};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

const PATH_LIMIT_BYTES: u64 = 64 << 10;

impl ImageStore {
    /// Notes that trees of the repository in `directory` may be on images of this store. Returns the file
    /// that was written, unless that was known.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn add_user(&self, directory: &Path) -> Result<Option<PathBuf>> {
        let bytes = directory.as_os_str().as_bytes();
        let number = lock_position(bytes);
        let path = self.users_directory().join(format!("{number:016x}"));
        if read_file(&path, PATH_LIMIT_BYTES)?.as_deref() == Some(bytes) {
            return Ok(None);
        }
        create_directories(&self.users_directory())?;
        self.refuse_linked_users()?;
        // Two who write the same at once write the same; and nothing that is left of one who was killed is
        // in the way.
        let file = OutputFile::create(&path)?;
        file.write_at(bytes, 0)?;
        file.commit(true)?;
        Ok(Some(path))
    }

    /// The directories of repositories that may have trees on images of this store and are there.
    ///
    /// # Errors
    /// If the list cannot be read.
    pub fn users(&self) -> Result<Vec<PathBuf>> {
        self.refuse_linked_users()?;
        let mut users = Vec::new();
        for entry in list_directory(&self.users_directory())?.unwrap_or_default() {
            let path = self.users_directory().join(OsStr::from_bytes(&entry.name));
            // Whoever may write here may put anything here.
            let is_file = |stat: hedgerow_fs::Stat| stat.kind == FileKind::File;
            if !hedgerow_fs::lstat(&path)?.is_some_and(is_file) {
                continue;
            }
            let content = read_file(&path, PATH_LIMIT_BYTES)?.unwrap_or_default();
            let directory = PathBuf::from(OsString::from_vec(content));
            if directory.is_absolute() && is_directory(&directory) {
                users.push(directory);
            }
        }
        Ok(users)
    }

    /// Where others may write, a link might lead anywhere.
    fn refuse_linked_users(&self) -> Result<()> {
        let path = self.users_directory();
        let is_link = |stat: hedgerow_fs::Stat| stat.kind == FileKind::Symlink;
        if hedgerow_fs::lstat(&path)?.is_some_and(is_link) {
            let reason = "is a link";
            return Err(Error::Damaged { path, reason });
        }
        Ok(())
    }

    /// The directory with the list of repositories.
    pub fn users_directory(&self) -> PathBuf {
        self.directory.join("users")
    }

    /// Removes images, those first that were not used for longest, until all together have at most
    /// `limit_bytes`, and all that killed makers left unfinished. Those that `keeps` holds stay, and so do
    /// those that somebody is making. Returns what was removed; with `dry_run`, what would be.
    ///
    /// # Errors
    /// If the store cannot be read, or an image not be removed.
    pub fn prune(
        &self,
        limit_bytes: u64,
        keeps: &dyn Fn(&StoredImage) -> bool,
        dry_run: bool,
    ) -> Result<Vec<StoredImage>> {
        let images = self.list()?;
        let mut total: u64 = images.iter().map(|image| image.bytes).sum();
        let unfinished = self.unfinished()?.into_iter();
        // In a store of others, it is theirs.
        let goes = |image: &StoredImage| {
            !keeps(image) && self.remove_unfinished(image, dry_run).unwrap_or(false)
        };
        let mut removed: Vec<StoredImage> = unfinished.filter(goes).collect();
        for image in images.into_iter().rev() {
            if total <= limit_bytes {
                break;
            }
            if keeps(&image) {
                continue;
            }
            if !dry_run && !self.remove(&image)? {
                continue;
            }
            total -= image.bytes;
            removed.push(image);
        }
        Ok(removed)
    }

    /// Removes an image that has no index unless its maker is at work; returns whether it did, or would.
    fn remove_unfinished(&self, image: &StoredImage, dry_run: bool) -> Result<bool> {
        let Some(_lock) = self.unless_made(image)? else {
            return Ok(false);
        };
        // Its maker may have come to its end meanwhile.
        if hedgerow_fs::exists(&image.index) {
            return Ok(false);
        }
        if !dry_run {
            remove_file(&image.notes)?;
            remove_file(&image.settings)?;
            remove_file(&image.path)?;
        }
        Ok(true)
    }

    /// The lock of an image, unless its maker is at work.
    fn unless_made(&self, image: &StoredImage) -> Result<Option<RangeLock>> {
        let position = lock_position(image.name.to_string().as_bytes());
        Ok(RangeLock::acquire(&self.lock_path(), position, &|| true)?)
    }

    /// Removes an image unless its maker is at work; returns whether it did.
    fn remove(&self, image: &StoredImage) -> Result<bool> {
        let Some(_lock) = self.unless_made(image)? else {
            return Ok(false);
        };
        remove_file(&image.notes)?;
        remove_file(&image.settings)?;
        // Without the file beside it, it is not there any more.
        remove_file(&image.index)?;
        remove_file(&image.path)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests look at files")]

    use super::super::{Maker, Making};
    use super::*;
    use crate::{ImageKind, ImageName};
    use std::fs;

    fn name(digit: &str) -> ImageName {
        ImageName {
            tree: digit.repeat(40),
            settings: "0123456789abcdef".into(),
        }
    }

    fn make(store: &ImageStore, digit: &str) {
        let kind = ImageKind::Squashfs;
        match store.claim(&name(digit), kind, &|| false).unwrap() {
            Maker::Us(Making { image, index, .. }) => {
                fs::write(image, [0; 90]).unwrap();
                assert_eq!(
                    store.find(&name(digit)).unwrap(),
                    None,
                    "it is not complete"
                );
                fs::write(index, [0; 10]).unwrap();
            }
            Maker::Made(_) => panic!("nobody has made it"),
        }
    }

    #[test]
    fn what_was_not_used_for_longest_goes_unless_it_is_kept() {
        let place = tempfile::tempdir().unwrap();
        let store = ImageStore::at(&place.path().join("store"));
        assert!(store.is_writable());
        for digit in ["1", "2", "3", "4"] {
            make(&store, digit);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        store.find(&name("1")).unwrap().unwrap().note_use();
        let digits = |images: Vec<StoredImage>| {
            let digits = images.iter().map(|image| image.name.tree[..1].to_owned());
            digits.collect::<String>()
        };
        assert_eq!(digits(store.list().unwrap()), "1432");
        let keeps = |image: &StoredImage| image.name == name("2");
        assert_eq!(digits(store.prune(400, &keeps, false).unwrap()), "");
        assert_eq!(digits(store.prune(250, &keeps, true).unwrap()), "34");
        assert_eq!(digits(store.prune(250, &keeps, false).unwrap()), "34");
        assert_eq!(digits(store.list().unwrap()), "12");
        assert_eq!(digits(store.prune(0, &|_| false, false).unwrap()), "21");
        let left = fs::read_dir(store.directory()).unwrap().count();
        assert_eq!(left, 1, "the file of locks");
    }

    #[test]
    fn those_who_need_the_same_image_wait_for_its_maker() {
        let place = tempfile::tempdir().unwrap();
        let store = ImageStore::at(place.path());
        let made = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let claimed = store.claim(&name("5"), ImageKind::Erofs, &|| false);
                    if let Maker::Us(making) = claimed.unwrap() {
                        std::thread::sleep(std::time::Duration::from_millis(20));
                        fs::write(&making.image, "image").unwrap();
                        fs::write(&making.index, "index").unwrap();
                        made.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(made.into_inner(), 1);
    }

    #[test]
    fn a_store_knows_the_repositories_that_are_there() {
        let place = tempfile::tempdir().unwrap();
        let store = ImageStore::at(&place.path().join("store"));
        let (one, gone) = (place.path().join("one"), place.path().join("gone"));
        fs::create_dir(&one).unwrap();
        for _ in 0..2 {
            store.add_user(&one).unwrap();
            store.add_user(&gone).unwrap();
        }
        // Whoever may write there may put anything there.
        let fifo = store.users_directory().join("fifo");
        let made = std::process::Command::new("mkfifo").arg(fifo).status();
        assert!(made.unwrap().success());
        assert_eq!(store.users().unwrap(), std::slice::from_ref(&one));
        // Nor is what a killed process left in the way.
        for user in fs::read_dir(store.users_directory()).unwrap() {
            let user = user.unwrap().path();
            if user.is_file() {
                fs::write(user.with_extension("lock"), "").unwrap();
                fs::remove_file(user).unwrap();
            }
        }
        store.add_user(&one).unwrap();
        assert_eq!(store.users().unwrap(), std::slice::from_ref(&one));
        let linked = ImageStore::at(&place.path().join("linked"));
        fs::create_dir(linked.directory()).unwrap();
        std::os::unix::fs::symlink(&one, linked.users_directory()).unwrap();
        assert!(linked.add_user(&one).is_err() && linked.users().is_err());
        assert_eq!(fs::read_dir(&one).unwrap().count(), 0);
    }
}
