//! Progress as git shows it.

use crate::display::humanised;
use std::borrow::Cow;
use std::time::Duration;

/// The progress of one phase of a command.
#[derive(Clone, Debug, Default)]
pub struct Phase {
    /// Its title in git.
    pub title: Cow<'static, str>,
    /// Completed steps. A phase that ends with none is not shown.
    pub done: u64,
    /// The total number of steps, if known.
    pub total: Option<u64>,
    /// Bytes transferred, if they are to be shown.
    pub bytes: Option<u64>,
    /// Whether the phase has ended.
    pub is_over: bool,
}

impl Phase {
    /// Its line, which the next one of the same phase overwrites, after the time `time`.
    pub fn line(&self, time: Duration, is_over: bool) -> String {
        let Phase { title, done, .. } = self;
        let amount = match self.total {
            Some(total) => {
                let percent = u128::from(*done) * 100 / u128::from(total.max(1));
                format!("{percent:>3}% ({done}/{total})")
            }
            None => done.to_string(),
        };
        let bytes = self.bytes.map(|bytes| {
            let milliseconds = time.as_millis().max(1);
            let rate = u128::from(bytes) * 1000 / milliseconds;
            let rate = u64::try_from(rate).unwrap_or(u64::MAX);
            format!(", {} | {}/s", humanised(bytes), humanised(rate))
        });
        let end = if is_over { ", done.\n" } else { "\r" };
        format!("{title}: {amount}{}{end}", bytes.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::Phase;
    use std::time::Duration;

    #[test]
    fn lines_are_those_of_git() {
        let phase = Phase {
            title: "Writing objects".into(),
            done: 3,
            total: Some(4),
            bytes: Some(2048),
            is_over: false,
        };
        assert_eq!(
            phase.line(Duration::from_secs(2), false),
            "Writing objects:  75% (3/4), 2.00 KiB | 1024 bytes/s\r"
        );
        let phase = Phase {
            title: "Enumerating objects".into(),
            done: 7,
            ..Phase::default()
        };
        let shown = phase.line(Duration::ZERO, true);
        assert_eq!(shown, "Enumerating objects: 7, done.\n");
    }
}
