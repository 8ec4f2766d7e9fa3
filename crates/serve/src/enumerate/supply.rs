//! What a partial clone lacks of the objects of a pack.

use super::revisions::without_shallow;
use super::Enumeration;
use crate::object_list::listed_ids;
use crate::{Error, Result};
use hedgerow_git::reachability::{supply, Sources};
use hedgerow_git::repository::Repository;
use hedgerow_reach::{Objects, Request};
use std::io::{BufRead, Cursor, Read};

impl Enumeration {
    /// In a partial clone, fetches what is missing of what `input` asks for. Returns the input.
    ///
    /// # Errors
    /// If the input cannot be read; [`hedgerow_git::Error::NotFetched`]. What is wrong with the input is
    /// told when it is used.
    pub fn supplied<'i>(
        &self,
        repository: &Repository,
        mut input: impl BufRead + 'i,
    ) -> Result<Box<dyn BufRead + 'i>> {
        if self.exclude_promised || !repository.fetches_promised() {
            return Ok(Box::new(input));
        }
        let mut text = Vec::new();
        loop {
            let read = input.read_until(b'\n', &mut text);
            let read =
                read.map_err(|error| Error::List(format!("cannot read the list: {error}")))?;
            // An empty line ends revisions.
            if read == 0 || read == 1 && self.is_of_revisions {
                break;
            }
        }
        if self.is_of_revisions {
            let mut sources = Sources::read(repository)?;
            let (revisions, shallow) = without_shallow(repository, text.as_slice())?;
            sources.make_shallow(&shallow);
            if let Ok(request) = self.request(repository, &sources, revisions.as_slice(), &|_| {}) {
                let objects = Objects::All;
                supply(repository, &Request { objects, ..request })?;
            }
        } else {
            repository.fetch_missing(&listed_ids(&text, repository.objects()))?;
        }
        Ok(Box::new(Cursor::new(text).chain(input)))
    }
}
