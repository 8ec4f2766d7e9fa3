//! Answering a request: from the cache, or with a pack made now.

use super::log::{Entry, Server};
use super::request::Request;
use crate::packs::pack_objects::{pack_options, pack_reuse};
use crate::packs::sources::{bitmaps, Sources};
use hedgerow_fs::{ReadFile, StandardOutput};
use hedgerow_git::repository::Repository;
use hedgerow_pack::oid;
use hedgerow_serve::{write_pack, Error, NewResponse, PackOptions, ResponseCache, Selected};
use std::io::{self, Write};

/// Of what a response is copied at a time, in bytes.
const PIECE_BYTES: usize = 256 << 10;
const CACHE_BYTES: u64 = 1 << 30;
const CACHE_SECONDS: u64 = 3600;

/// A request that was answered.
#[derive(Debug)]
pub struct Answered {
    /// What the receiver is told.
    pub said: Vec<String>,
}

/// A request that was not answered.
#[derive(Debug)]
pub enum Failed {
    /// Nothing was sent: git may answer it.
    Unanswered(String),
    /// Something was sent.
    Broken(String),
}

/// Answers `request` on standard output.
pub fn answer(
    request: &Request,
    repository: &Repository,
    entry: &mut Entry,
) -> Result<Answered, Failed> {
    let cache = cache(repository).map_err(|failure| Failed::Unanswered(failure.to_string()))?;
    let Some(cache) = cache else {
        return make(request, repository, None, entry);
    };
    let key = request.key(repository);
    if let Some(file) = cache.find(&key) {
        entry.served_by = Server::Cache;
        entry.bytes = copy(&file)?;
        return Ok(Answered { said: Vec::new() });
    }
    // Without room for the response, the request is answered all the same.
    let Ok(mut response) = cache.begin(&key) else {
        return make(request, repository, None, entry);
    };
    let answered = make(request, repository, Some(&mut response), entry)?;
    let _ = cache.keep(response);
    Ok(answered)
}

/// The cache that is configured, if any.
fn cache(repository: &Repository) -> Result<Option<ResponseCache>, hedgerow_git::Error> {
    let config = repository.config();
    let Some(directory) = config.path("hedgerow.responseCache")? else {
        return Ok(None);
    };
    let number = |key: &str, usual: u64| -> Result<u64, hedgerow_git::Error> {
        let number = config.integer(key)?;
        Ok(number.map_or(usual, |number| u64::try_from(number).unwrap_or(0)))
    };
    Ok(Some(ResponseCache {
        directory,
        max_bytes: number("hedgerow.responseCacheSize", CACHE_BYTES)?,
        max_age_seconds: number("hedgerow.responseCacheExpiry", CACHE_SECONDS)?,
    }))
}

fn copy(file: &ReadFile) -> Result<u64, Failed> {
    let mut buffer = vec![0; PIECE_BYTES];
    let mut sent = 0;
    loop {
        let failed = |reason: String| match sent {
            0 => Failed::Unanswered(reason),
            _ => Failed::Broken(reason),
        };
        let length = file
            .read(&mut buffer)
            .map_err(|error| failed(error.to_string()))?;
        if length == 0 {
            return Ok(sent);
        }
        let written = StandardOutput.write_all(&buffer[..length]);
        written.map_err(|error| Failed::Broken(format!("cannot send the pack: {error}")))?;
        sent += length as u64;
    }
}

fn make(
    request: &Request,
    repository: &Repository,
    response: Option<&mut NewResponse>,
    entry: &mut Entry,
) -> Result<Answered, Failed> {
    let unanswered = |reason: String| Failed::Unanswered(reason);
    let options = pack_options(repository).map_err(|failure| unanswered(failure.message))?;
    let options = PackOptions {
        thin: request.thin,
        delta_base_offset: request.delta_base_offset,
        ..options
    };
    let sources = Sources::read(repository).map_err(|failure| unanswered(failure.message))?;
    let source = sources.without_replacements(repository);
    let bitmaps = bitmaps(repository);
    let reuse = pack_reuse(repository).map_err(|failure| unanswered(failure.message))?;
    let (question, tags) = (&request.question, &request.tags);
    let selected = Selected::find(source, bitmaps.as_ref(), question, tags, reuse);
    let selected = selected.map_err(|error| unanswered(error.to_string()))?;
    entry.trace = Some(selected.trace.clone());
    let has = |id: &oid| selected.receiver_has(id);
    let had = match request.thin && question.filter.is_none() {
        true => selected.bases(repository.objects(), &question.wants, options.window),
        false => Vec::new(),
    };
    let contents = selected.contents(request.thin.then_some(&has), had);
    let mut sink = Sink { response, sent: 0 };
    let written = write_pack(repository.objects(), &contents, &options, false, &mut sink);
    entry.bytes = sink.sent;
    match written {
        Ok(written) => {
            entry.served_by = Server::Hedgerow;
            entry.count(&written);
            let said = match request.progress {
                true => vec![written.to_string()],
                false => Vec::new(),
            };
            Ok(Answered { said })
        }
        Err(error) if sink.sent == 0 && !matches!(error, Error::Cancelled) => {
            Err(unanswered(error.to_string()))
        }
        Err(error) => Err(Failed::Broken(error.to_string())),
    }
}

/// Standard output, and the response that is to be kept.
struct Sink<'r> {
    response: Option<&'r mut NewResponse>,
    sent: u64,
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = StandardOutput.write(bytes)?;
        if let Some(response) = &mut self.response {
            response.write(bytes.get(..written).unwrap_or_default());
        }
        self.sent += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        StandardOutput.flush()
    }
}
