//! The command line.

use hedgerow_latencyfs::Settings;
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

pub const USAGE: &str = "\
usage: latencyfs [options] BACKING_DIR MOUNTPOINT

Shows BACKING_DIR at MOUNTPOINT and delays every operation as a network file
system would. Unmount with `umount MOUNTPOINT`.

delays (microseconds; a later option overrides an earlier one)
  --nfs RTT_US         preset: every operation 1 RTT, create 2 RTT (OPEN+SETATTR),
                       write 0 (client cache), flush (close, or stat of a file with
                       unflushed writes) 1 RTT; attributes cached 3 s, directory
                       entries 30 s
  --OP-us N            one operation. OP: lookup getattr setattr open create read
                       write flush commit fsync opendir readdir readlink mkdir
                       symlink link remove rename statfs

concurrency
  --slots N            requests in flight at once, like NFS session slots (64)

client cache
  --attr-s SEC         file attributes stay valid this long (0; preset 3)
  --dir-attr-s SEC     directory attributes (0; preset 30)
  --entry-s SEC        name to inode (0; preset 30)
  --negative-s SEC     absent names (0; preset 30)

directories
  --readdirplus        directory listings carry attributes
  --readdir-batch N    entries per READDIR reply, one delay each (1000)

other
  --stats FILE         write counters there at unmount (JSON)
  --allow-other        other users may use the mount
  --daemon             return once mounted, serve in the background

MOUNTPOINT/.latencyfs (hidden from listings): read it for the counters; write
`rtt N`, `OP N` or `reset` to it to change delays or zero the counters.
";

/// The first argument of the background process; not an option for users.
pub const AS_DAEMON: &str = "--as-daemon";

/// The mode to run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// Serve until unmounted.
    Foreground,
    /// Start the background process, and return once it has mounted.
    StartDaemon,
    /// Be the background process.
    AsDaemon,
}

pub struct Arguments {
    pub backing: PathBuf,
    pub mount_point: PathBuf,
    pub settings: Settings,
    pub stats_file: Option<PathBuf>,
    pub run: Run,
}

pub enum Parsed {
    Run(Box<Arguments>),
    Help,
}

/// Parses the command line; the error is a message.
pub fn parse(words: impl Iterator<Item = OsString>) -> Result<Parsed, String> {
    let mut arguments = Arguments {
        backing: PathBuf::new(),
        mount_point: PathBuf::new(),
        settings: Settings::default(),
        stats_file: None,
        run: Run::Foreground,
    };
    let mut paths = Vec::new();
    let mut words = words;
    while let Some(word) = words.next() {
        match word.to_str().and_then(|word| word.strip_prefix("--")) {
            None => paths.push(PathBuf::from(word)),
            Some("help") => return Ok(Parsed::Help),
            Some(option) => {
                let (name, inline) = match option.split_once('=') {
                    Some((name, value)) => (name, Some(value.into())),
                    None => (option, None),
                };
                let words = &mut words;
                let value = Value {
                    name,
                    inline,
                    words,
                };
                set(&mut arguments, name, value)?;
            }
        }
    }
    [arguments.backing, arguments.mount_point] = paths
        .try_into()
        .map_err(|_| "need BACKING_DIR and MOUNTPOINT")?;
    Ok(Parsed::Run(Box::new(arguments)))
}

/// The source of an option's value: after `=`, or the next word.
struct Value<'a, W> {
    name: &'a str,
    inline: Option<OsString>,
    words: &'a mut W,
}

impl<W: Iterator<Item = OsString>> Value<'_, W> {
    fn take(self) -> Result<OsString, String> {
        let value = self.inline.or_else(|| self.words.next());
        value.ok_or(format!("--{} needs a value", self.name))
    }

    fn number<T: FromStr>(self) -> Result<T, String> {
        let name = self.name;
        let value = self.take()?;
        let number = value.to_str().and_then(|text| text.parse().ok());
        number.ok_or_else(|| format!("--{name}: not a number: {}", value.display()))
    }

    fn seconds(self) -> Result<Duration, String> {
        let name = self.name;
        let seconds = self.number()?;
        Duration::try_from_secs_f64(seconds).map_err(|error| format!("--{name}: {error}"))
    }
}

fn set<W>(arguments: &mut Arguments, name: &str, value: Value<W>) -> Result<(), String>
where
    W: Iterator<Item = OsString>,
{
    let settings = &mut arguments.settings;
    match name {
        "nfs" => settings.become_nfs(value.number()?),
        "slots" => settings.slots = value.number::<usize>()?.max(1),
        "attr-s" => settings.file_ttl = value.seconds()?,
        "dir-attr-s" => settings.directory_ttl = value.seconds()?,
        "entry-s" => settings.name_ttl = value.seconds()?,
        "negative-s" => settings.absence_ttl = value.seconds()?,
        "readdirplus" => settings.readdirplus = true,
        "readdir-batch" => settings.readdir_batch = value.number::<usize>()?.max(1),
        "allow-other" => settings.allow_other = true,
        "stats" => arguments.stats_file = Some(value.take()?.into()),
        "daemon" if arguments.run == Run::Foreground => arguments.run = Run::StartDaemon,
        "daemon" => {}
        "as-daemon" => arguments.run = Run::AsDaemon,
        _ => {
            let operation = name
                .strip_suffix("-us")
                .ok_or_else(|| format!("unknown option --{name}"))?;
            if !settings.delays.set_named(operation, value.number()?) {
                return Err(format!("no operation called {operation}"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_latencyfs::Op;

    fn parsed(line: &str) -> Result<Arguments, String> {
        match parse(line.split(' ').map(OsString::from))? {
            Parsed::Run(arguments) => Ok(*arguments),
            Parsed::Help => Err("help".into()),
        }
    }

    #[test]
    fn later_options_override_earlier_ones() {
        let arguments = parsed("--nfs 1000 --create-us=7 --attr-s 0.5 --daemon b m").unwrap();
        assert_eq!(arguments.settings.delays.get(Op::Create), 7);
        assert_eq!(arguments.settings.delays.get(Op::Lookup), 1000);
        assert_eq!(arguments.settings.file_ttl, Duration::from_millis(500));
        assert_eq!(arguments.settings.name_ttl, Duration::from_secs(30));
        assert_eq!(arguments.run, Run::StartDaemon);
        assert_eq!(arguments.mount_point, PathBuf::from("m"));
    }

    #[test]
    fn the_process_in_the_background_starts_no_other() {
        let arguments = parsed("--as-daemon --daemon b m").unwrap();
        assert_eq!(arguments.run, Run::AsDaemon);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, why) in [
            ("b", "need BACKING_DIR and MOUNTPOINT"),
            ("b m n", "need BACKING_DIR and MOUNTPOINT"),
            ("--slots", "--slots needs a value"),
            ("--slots x b m", "--slots: not a number: x"),
            (
                "--attr-s -1 b m",
                "--attr-s: cannot convert float seconds to Duration: value is negative",
            ),
            ("--fly b m", "unknown option --fly"),
            ("--fly-us 1 b m", "no operation called fly"),
        ] {
            assert_eq!(parsed(line).err().as_deref(), Some(why), "{line}");
        }
    }
}
