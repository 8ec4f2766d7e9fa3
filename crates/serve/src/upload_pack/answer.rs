//! Answers a request from the cache, or with a new pack.

use super::log::{Entry, Server};
use super::receiver::Receiver;
use super::request::Request;
use super::sink::{lock, Sink};
use super::{ResponseLookup, ResponseOutput, ResponseStore};
use crate::{
    write_pack, CacheOptions, PackOptions, PackReuse, PackWritten, ResponseCache, Selected,
};
use hedgerow_git::config::ResponseCacheSettings;
use hedgerow_git::reachability::{bitmaps, Sources};
use hedgerow_git::repository::Repository;
use hedgerow_pack::oid;
use hedgerow_reach::Question;
use std::ffi::OsString;
use std::sync::Mutex;

/// Maximum number of makers of the same response that are followed, one after the other, if each
/// fails.
const MAKERS: u32 = 8;

/// A request that was answered.
#[derive(Debug)]
pub struct Answered {
    /// Messages for the receiver.
    pub said: Vec<String>,
}

/// A request that was not answered.
#[derive(Debug)]
pub enum NotAnswered {
    /// Nothing was sent: git may answer the request.
    Unanswered(String),
    /// Something was sent, or the receiver is gone.
    Broken(String),
}

/// Answers on `output` what git-upload-pack asks for by the `words` of a command and its standard
/// input, from the cache of responses that `cache` names, if it does. One that cannot be used safely is
/// not used: `entry` says why, and `refused` is called before anything is sent.
///
/// # Errors
/// Whether anything was sent says what can be done then.
pub fn answer_command(
    words: &[OsString],
    input: &[u8],
    repository: &Repository,
    cache: Option<ResponseCacheSettings>,
    entry: &mut Entry,
    output: &mut dyn ResponseOutput,
    refused: &dyn Fn(),
) -> Result<Answered, NotAnswered> {
    let request = Request::parse(words, input, repository)?;
    entry.ask(&request);
    let cache = cache.map(|settings| ResponseCache::configured(settings, repository));
    let cache = match cache.transpose() {
        Ok(cache) => cache,
        Err(error) => {
            refused();
            entry.cache_refused = Some(error.to_string());
            None
        }
    };
    let store = cache.as_ref().map(|cache| cache as &dyn ResponseStore);
    answer(&request, repository, store, entry, output)
}

/// Answers `request` on `output`, from `store`, if there is one. The store may be any
/// [`ResponseStore`]; [`answer_command`] opens that in a directory.
///
/// # Errors
/// Whether anything was sent says what can be done then.
pub fn answer(
    request: &Request,
    repository: &Repository,
    store: Option<&dyn ResponseStore>,
    entry: &mut Entry,
    output: &mut dyn ResponseOutput,
) -> Result<Answered, NotAnswered> {
    let receiver = Mutex::new(Receiver::new(output));
    let answered = match store {
        Some(store) => from_store(request, repository, store, &receiver, entry),
        None => make(request, repository, Sink::plain(&receiver), entry),
    };
    let receiver = lock(&receiver);
    entry.bytes = receiver.sent();
    answered.map_err(|reason| {
        if receiver.sent() > 0 || receiver.is_gone() {
            NotAnswered::Broken(reason)
        } else {
            NotAnswered::Unanswered(reason)
        }
    })
}

/// Answers from the store, or makes the response for it.
fn from_store(
    request: &Request,
    repository: &Repository,
    store: &dyn ResponseStore,
    receiver: &Mutex<Receiver<'_>>,
    entry: &mut Entry,
) -> Result<Answered, String> {
    let key = request.key();
    for _ in 0..MAKERS {
        match store.look(&key) {
            Ok(ResponseLookup::Stored(stored)) => {
                entry.followed |= !stored.was_whole();
                let mut receiver = lock(receiver);
                let followed = receiver.follow(&*stored);
                if followed.map_err(|error| format!("cannot send the pack: {error}"))? {
                    entry.served_by = Server::Cache;
                    return Ok(Answered { said: Vec::new() });
                }
                receiver.restart(stored);
            }
            Ok(ResponseLookup::Missing(response)) => {
                return std::thread::scope(|scope| {
                    let sink = Sink::kept(receiver, response, scope);
                    make(request, repository, sink, entry)
                });
            }
            // If there is no room for the response, the request is answered all the same.
            Err(_) => break,
        }
    }
    make(request, repository, Sink::plain(receiver), entry)
}

impl ResponseCache {
    /// The cache that the server's configuration names, for the responses of `repository`.
    ///
    /// # Errors
    /// As [`ResponseCache::open`].
    pub fn configured(
        settings: ResponseCacheSettings,
        repository: &Repository,
    ) -> crate::Result<Self> {
        ResponseCache::open(CacheOptions {
            directory: settings.directory,
            objects: repository.objects().directories().to_vec(),
            max_bytes: settings.max_bytes,
            max_age_seconds: settings.max_age_seconds,
            max_wait_seconds: settings.max_wait_seconds,
        })
    }
}

fn make(
    request: &Request,
    repository: &Repository,
    mut sink: Sink<'_, '_>,
    entry: &mut Entry,
) -> Result<Answered, String> {
    let made = write(request, repository, &mut sink, entry);
    let sent = sink.end(made.is_ok());
    let written = made?;
    sent.map_err(|error| format!("cannot send the pack: {error}"))?;
    entry.served_by = Server::Hedgerow;
    entry.count(&written);
    let said = if request.progress {
        vec![written.to_string()]
    } else {
        Vec::new()
    };
    Ok(Answered { said })
}

/// Writes the requested pack to `sink`.
fn write(
    request: &Request,
    repository: &Repository,
    sink: &mut Sink<'_, '_>,
    entry: &mut Entry,
) -> Result<PackWritten, String> {
    let options = PackOptions::configured(repository).map_err(|error| error.to_string())?;
    let options = PackOptions {
        thin: request.thin,
        delta_base_offset: request.delta_base_offset,
        ..options
    };
    let sources = Sources::read(repository).map_err(|error| error.to_string())?;
    let source = sources.without_replacements(repository);
    let bitmaps = bitmaps(repository);
    let reuse = PackReuse::configured(repository).map_err(|error| error.to_string())?;
    let question = Question {
        threads: hedgerow_fs::cpu::available(),
        ..request.question.clone()
    };
    let tags = request.tags(repository);
    let selected = Selected::find(source, bitmaps.as_ref(), &question, &tags, reuse);
    let selected = selected.map_err(|error| error.to_string())?;
    entry.trace = Some(selected.trace.clone());
    let has = |id: &oid| selected.receiver_has(id);
    let had = if request.thin && question.filter.is_none() {
        selected.bases(repository.objects(), &question.wants, options.window)
    } else {
        Vec::new()
    };
    let contents = selected.contents(request.thin.then_some(&has), had);
    let written = write_pack(repository.objects(), &contents, &options, false, sink);
    written.map_err(|error| error.to_string())
}
