//! Conversion of content to the working tree and back.

use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;

use super::attributes::{Attributes, State};
use super::buffers::{Buffers, Steps};
use super::conversion::{eol_action, Conversion, DriverConversion, DriverKind, InCore};
use super::encoding::{Converters, Encoding};
use super::eol::{self, RoundTrip};
use super::ident;
use super::options::{AutoCrlf, ConvertOptions, Driver, SafeCrlf};
use super::stream::StreamConversion;
use crate::{Error, Result};

/// Decides how the content of each path is converted, and performs what needs no filter program.
/// Immutable; shared by the workers.
#[derive(Debug)]
pub struct Converter {
    options: ConvertOptions,
    attributes: Attributes,
    /// For each attribute value, the encoding of that name and the position of the driver of that
    /// name.
    encodings: Vec<Option<Encoding>>,
    drivers: Vec<Option<usize>>,
    /// Whether nothing is ever converted.
    is_plain: bool,
}

/// Content after conversion.
#[derive(Debug, PartialEq, Eq)]
pub struct Converted<'a> {
    /// The content: the input, if nothing had to change.
    pub content: &'a [u8],
    /// Git's message about it. It does not stop git or change its exit status.
    pub message: Option<String>,
    /// Git's message after that one: which line ends a later checkout would produce.
    pub line_ends: Option<String>,
}

/// Parameters of [`Converter::to_git`].
pub struct ToGit<'a> {
    /// Whether the result is written as an object. Then content that would not survive a round trip
    /// is an error; otherwise (for status and diff) it is a message.
    pub write_object: bool,
    /// Whether to report line ends that would not survive a round trip even if no object is
    /// written: git does so when it compares contents, but not when it only checks whether a file
    /// has changed.
    pub tell_line_ends: bool,
    /// Whether carriage returns in the index are ignored when deciding to keep them
    /// (`add --renormalize`).
    pub renormalize: bool,
    /// Reads the content of the path in the index, if any. Called only if needed.
    pub index_content: &'a mut dyn FnMut() -> Result<Option<Vec<u8>>>,
}

impl Converter {
    /// A converter for a tree with these attributes.
    pub fn new(options: ConvertOptions, attributes: Attributes) -> Converter {
        let mut encodings: Vec<_> = attributes
            .values
            .iter()
            .map(|name| Encoding::named(name.as_ref()))
            .collect();
        encodings.push(Some(Encoding::nameless()));
        let drivers = &options.drivers;
        let position = |name: &BString| drivers.iter().position(|driver| driver.name == *name);
        Converter {
            encodings,
            drivers: attributes.values.iter().map(position).collect(),
            is_plain: attributes.is_empty() && options.auto_crlf == AutoCrlf::False,
            options,
            attributes,
        }
    }

    /// The attributes it was made with.
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// A driver by its position.
    pub fn driver(&self, index: usize) -> Option<&Driver> {
        self.options.drivers.get(index)
    }

    /// Whether every file is [`Conversion::Plain`].
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// The conversion of the regular file at `path`, which is relative to the top of the tree.
    pub fn conversion(&self, path: &BStr) -> Conversion {
        if self.is_plain {
            return Conversion::Plain;
        }
        let states = self.attributes.lookup(path);
        let value = |state| match state {
            State::Value(number) => Some(self.attributes.value(number).as_bytes()),
            _ => None,
        };
        let (eol, streamable) = eol_action(&states, &self.options, &value);
        let encoding = match states.encoding {
            State::Unspecified | State::Unset => None,
            State::Set => Some(self.encodings.len() as u32 - 1),
            State::Value(number) => {
                let encoding = self.encodings.get(number as usize);
                encoding.is_some_and(Option::is_some).then_some(number)
            }
        };
        let in_core = InCore {
            eol,
            ident: states.ident == State::Set,
            encoding,
            streamable: streamable && encoding.is_none(),
        };
        if let State::Value(number) = states.filter {
            if let Some(index) = self.drivers.get(number as usize).copied().flatten() {
                return self.with_driver(index, in_core);
            }
        }
        let nothing = InCore {
            streamable: true,
            ..InCore::default()
        };
        if in_core == nothing {
            return Conversion::Plain;
        }
        Conversion::InCore(in_core)
    }

    /// Adds the driver. One without commands counts, too: it may be required for cleaning.
    fn with_driver(&self, index: usize, in_core: InCore) -> Conversion {
        let driver = self.options.drivers.get(index);
        let in_core = InCore {
            streamable: in_core.streamable && !driver.is_some_and(Driver::has_command),
            ..in_core
        };
        let kind = match driver {
            Some(driver) if driver.process.is_some() => DriverKind::Process,
            _ => DriverKind::Command,
        };
        Conversion::Driver(DriverConversion {
            index,
            kind,
            in_core,
        })
    }

    /// Checks whether the file at `path` can be written at all, whatever its content.
    ///
    /// # Errors
    /// A `working-tree-encoding` attribute without a value; a required filter without a command for
    /// smudging.
    pub(crate) fn check_to_worktree(&self, conversion: Conversion, path: &BStr) -> Result<()> {
        self.encoding(conversion.in_core(), path)?;
        let Conversion::Driver(DriverConversion { index, .. }) = conversion else {
            return Ok(());
        };
        match self.driver(index) {
            Some(driver) if driver.required && driver.cannot_smudge() => {
                let reason = format!("smudge filter {} failed", driver.name);
                let path = path.to_owned();
                let said = Vec::new();
                Err(Error::Filter { path, reason, said })
            }
            _ => Ok(()),
        }
    }

    /// Converts `content`, the blob `id`, for the working tree, except for filter programs: for
    /// [`Conversion::Driver`], the result is the input of the filter.
    ///
    /// # Errors
    /// A `working-tree-encoding` attribute without a value. An encoding that is unknown or cannot
    /// express the content is only a message: git then writes the content unconverted.
    pub fn to_worktree<'a>(
        &self,
        buffers: &'a mut Buffers,
        conversion: Conversion,
        path: &BStr,
        id: &ObjectId,
        content: &'a [u8],
    ) -> Result<Converted<'a>> {
        if conversion.is_identity_to_worktree() {
            return Ok(Converted {
                content,
                message: None,
                line_ends: None,
            });
        }
        let in_core = conversion.in_core();
        let encoding = self.encoding(in_core, path)?;
        // Git's order: `$Id$`, line ends, encoding. `to_git` reverses it.
        let mut steps = Steps::new(buffers, content);
        if in_core.ident {
            steps.run(|_, content, out| {
                if in_core.streamable {
                    ident::expand_stream(content, id, out)
                } else {
                    ident::expand(content, id, out)
                }
            });
        }
        steps.run(|_, content, out| eol::to_worktree(in_core.eol, content, out));
        let mut message = None;
        if let Some(encoding) = encoding {
            steps.run(|converters, content, out| {
                if content.is_empty() {
                    return false;
                }
                let outcome = encoding.to_worktree(converters, path, content, out);
                message = outcome.err();
                message.is_none()
            });
        }
        Ok(Converted {
            content: steps.finish(),
            message,
            line_ends: None,
        })
    }

    /// Converts a file piece by piece, with the same result as [`to_worktree`]; `None` if that
    /// requires the whole content.
    ///
    /// [`to_worktree`]: Converter::to_worktree
    pub fn stream_to_worktree(
        &self,
        conversion: Conversion,
        id: &ObjectId,
    ) -> Option<StreamConversion> {
        let in_core = conversion.in_core();
        conversion
            .is_streamable()
            .then(|| StreamConversion::new(in_core.ident.then_some(id), in_core.eol.writes_crlf()))
    }

    /// Converts `content` of the working tree for the repository, except for filter programs: for
    /// [`Conversion::Driver`], `content` is the output of the filter.
    ///
    /// # Errors
    /// A `working-tree-encoding` attribute without a value; with
    /// [`write_object`](ToGit::write_object) also content that is not valid in its encoding, or
    /// that would not survive a round trip although the configuration requires it.
    pub fn to_git<'a>(
        &self,
        buffers: &'a mut Buffers,
        conversion: Conversion,
        path: &BStr,
        content: &'a [u8],
        mut request: ToGit<'_>,
    ) -> Result<Converted<'a>> {
        if conversion == Conversion::Plain {
            return Ok(Converted {
                content,
                message: None,
                line_ends: None,
            });
        }
        let in_core = conversion.in_core();
        let encoding = self.encoding(in_core, path)?;
        let mut steps = Steps::new(buffers, content);
        let mut failure = None;
        let mut message = None;
        if let Some(encoding) = encoding.filter(|_| !content.is_empty()) {
            steps.run(|converters, content, out| {
                failure = encoding.to_git(converters, path, content, out).err();
                if failure.is_none() && request.write_object {
                    failure = self.round_trip_failure(encoding, converters, path, content, out);
                }
                failure.is_none()
            });
        }
        if let Some(reason) = failure {
            if request.write_object {
                return Err(fatal(path, reason));
            }
            message = Some(reason);
        }
        let mut line_ends = Ok(None);
        steps.run(|_, content, out| {
            let outcome = self.eol_to_git(in_core, path, content, out, &mut request);
            let changed = matches!(outcome, Ok((true, _)));
            line_ends = outcome.map(|(_, lossy)| lossy);
            changed
        });
        let line_ends = line_ends?;
        if in_core.ident {
            steps.run(|_, content, out| ident::collapse(content, out));
        }
        Ok(Converted {
            content: steps.finish(),
            message,
            line_ends,
        })
    }

    /// The encoding of a file, if it has one.
    fn encoding(&self, in_core: InCore, path: &BStr) -> Result<Option<&Encoding>> {
        let number = in_core.encoding.map(|number| number as usize);
        let encoding = number.and_then(|number| self.encodings.get(number)?.as_ref());
        if encoding.is_some_and(Encoding::is_nameless) {
            let reason = "true/false are no valid working-tree-encodings";
            return Err(fatal(path, reason.to_owned()));
        }
        Ok(encoding)
    }

    /// Why `utf8` does not convert back to `content`, for the encodings that are checked.
    fn round_trip_failure(
        &self,
        encoding: &Encoding,
        converters: &mut Converters,
        path: &BStr,
        content: &[u8],
        utf8: &[u8],
    ) -> Option<String> {
        let name = encoding.name();
        let checked = &self.options.round_trip_encodings;
        let is_checked = checked
            .iter()
            .any(|checked| checked.eq_ignore_ascii_case(name));
        if !is_checked || encoding.survives(converters, content, utf8) {
            return None;
        }
        Some(format!(
            "encoding '{path}' from {name} to UTF-8 and back is not the same"
        ))
    }

    /// Decides whether line ends change on the way to the repository, and which messages to give.
    fn eol_to_git(
        &self,
        in_core: InCore,
        path: &BStr,
        content: &[u8],
        out: &mut Vec<u8>,
        request: &mut ToGit<'_>,
    ) -> Result<(bool, Option<String>)> {
        let safe = match self.options.safe_crlf {
            safe if request.write_object && !request.renormalize => safe,
            SafeCrlf::Warn | SafeCrlf::True if request.tell_line_ends => SafeCrlf::Warn,
            _ => SafeCrlf::False,
        };
        let mut index_has_crlf = || {
            if request.renormalize {
                return Ok(false);
            }
            let content = (request.index_content)()?;
            Ok(content.is_some_and(|content| eol::has_crlf(&content)))
        };
        let (changed, round_trip) =
            eol::to_git(in_core.eol, content, safe, out, &mut index_has_crlf)?;
        match round_trip {
            RoundTrip::Safe => Ok((changed, None)),
            RoundTrip::Lossy(change) if safe == SafeCrlf::True => {
                let change = change.replace("will", "would");
                Err(fatal(path, format!("{change} in {path}")))
            }
            RoundTrip::Lossy(change) => Ok((
                changed,
                Some(format!(
                    "in the working copy of '{path}', {change} the next time Git touches it"
                )),
            )),
        }
    }
}

fn fatal(path: &BStr, reason: String) -> Error {
    Error::Convert {
        path: path.to_owned(),
        reason,
    }
}
