//! The measurement: each operation alone, then with as many workers as help.

use crate::scratch::Scratch;
use crate::{Error, Latency, Result};
use hedgerow_engine::{run_tasks, CancelToken, Jobs};
use hedgerow_fs::Dir;
use hedgerow_fs::FileSystem;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The numbers of workers to try.
const LEVELS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// A rate must exceed the best so far by this factor to count as a gain.
const GAIN: f64 = 1.05;
/// Number of consecutive steps without a gain before the rest is skipped. One may be a coincidence;
/// two are not.
const LEVELS_WITHOUT_GAIN: usize = 2;
/// The reciprocal of the share of the total time that a step may take; there are about ten steps,
/// and cleaning up after each takes about as long.
const STEPS: u32 = 20;
/// Maximum number of samples of one latency, of files at a time and of rounds: on a fast file
/// system, they suffice before the step's time is over.
const MAX_SAMPLES: usize = 500;
const MAX_FILES: usize = 2048;
const MAX_ROUNDS: usize = 3;
/// The content of each file. Half of the files of a source tree are smaller than a few KiB; the
/// latency does not depend on it.
const CONTENT: [u8; 2048] = [b'.'; 2048];

/// Options of a measurement.
#[derive(Clone, Debug)]
pub struct Options {
    /// Approximate time for all of it; up to twice as long while more workers still help.
    pub budget: Duration,
    /// Cancels it.
    pub cancel: CancelToken,
}

/// The measured values.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    /// The file system that was measured.
    pub file_system: FileSystem,
    /// Creating a file of two KiB: open, write, close.
    pub create: Latency,
    /// Statting a name that the client does not know: a single query.
    pub stat: Latency,
    /// Removing a file.
    pub remove: Latency,
    /// Files created per second, by number of workers, ascending.
    pub scaling: Vec<Rate>,
    /// The time was over while more workers still helped; even more might help further.
    pub is_cut_short: bool,
}

/// The rate that a number of workers achieves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Number of workers, each in a directory of its own.
    pub workers: usize,
    /// Number of files created per second.
    pub files_per_second: f64,
}

/// Measures the file system of `directory` in a new directory inside it, which is always removed
/// afterwards.
///
/// # Errors
/// `directory` is missing or cannot be written to, the file system is full or fails, or
/// the token was cancelled.
pub fn measure(directory: &Path, options: &Options) -> Result<Measurements> {
    let started = Instant::now();
    let file_system = FileSystem::at(directory)?;
    let mut scratch = Scratch::new(directory)?;
    let mut probe = Probe {
        scratch: &mut scratch,
        step: options.budget / STEPS,
        cancel: &options.cancel,
    };
    probe.scratch.extend_to(1, &options.cancel)?;
    let [create, stat, remove] = probe.latencies()?;
    let (scaling, is_cut_short) = probe.scaling(started, options.budget)?;
    scratch.remove()?;
    Ok(Measurements {
        file_system,
        create,
        stat,
        remove,
        scaling,
        is_cut_short,
    })
}

struct Probe<'a> {
    scratch: &'a mut Scratch,
    step: Duration,
    cancel: &'a CancelToken,
}

impl Probe<'_> {
    /// The latencies of creating, statting and removing, with one worker.
    fn latencies(&self) -> Result<[Latency; 3]> {
        let own = self.scratch.of_worker(0)?;
        let create = self.sample(MAX_SAMPLES, |at| self.create(&own, at))?;
        let stat = self.sample(MAX_SAMPLES, |at| {
            match own.stat(format!("absent{at}").as_bytes()) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
                other => other.map(drop).map_err(Error::from),
            }
        })?;
        let remove = self.sample(create.len(), |at| Ok(own.remove_file(&file_name(at))?))?;
        self.scratch.clear(self.cancel)?;
        Ok([create, stat, remove].map(Latency::from_samples))
    }

    /// Times `work` for 0, 1, 2, ... until the step's time is over; at least once.
    fn sample(&self, most: usize, work: impl Fn(usize) -> Result<()>) -> Result<Vec<Duration>> {
        let mut samples = Vec::new();
        let begun = Instant::now();
        while samples.len() < most && (samples.is_empty() || begun.elapsed() < self.step) {
            if self.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let started = Instant::now();
            work(samples.len())?;
            samples.push(started.elapsed());
        }
        Ok(samples)
    }

    /// The rates for growing numbers of workers, until more do not help or the time is over; and
    /// whether the time was over.
    fn scaling(&mut self, started: Instant, budget: Duration) -> Result<(Vec<Rate>, bool)> {
        // The remaining time is for cleaning up.
        let (usual, longest) = (budget * 4 / 5, budget * 8 / 5);
        let mut rates: Vec<Rate> = Vec::new();
        let mut best = 0.0;
        let mut without_gain = 0;
        for workers in LEVELS {
            let until = if without_gain == 0 { longest } else { usual };
            if without_gain == LEVELS_WITHOUT_GAIN || started.elapsed() > until {
                return Ok((rates, without_gain == 0));
            }
            self.scratch.extend_to(workers, self.cancel)?;
            let files_per_second = self.best_rate(workers)?;
            without_gain = if files_per_second > best * GAIN {
                0
            } else {
                without_gain + 1
            };
            best = files_per_second.max(best);
            rates.push(Rate {
                workers,
                files_per_second,
            });
        }
        Ok((rates, false))
    }

    /// The best of as many rounds as fit into a step, three at most: short rounds are most affected
    /// by other activity of the machine, which can only slow them down.
    fn best_rate(&self, workers: usize) -> Result<f64> {
        let begun = Instant::now();
        let mut best: f64 = 0.0;
        for _ in 0..MAX_ROUNDS {
            best = best.max(self.rate(workers)?);
            self.scratch.clear(self.cancel)?;
            if begun.elapsed() > self.step {
                break;
            }
        }
        Ok(best)
    }

    /// Files created per second by `workers` workers in parallel, in one round.
    fn rate(&self, workers: usize) -> Result<f64> {
        let options = hedgerow_engine::Options {
            jobs: Jobs::Fixed(NonZeroUsize::new(workers).unwrap_or(NonZeroUsize::MIN)),
            cancel: self.cancel.clone(),
            name: "probe",
            ..hedgerow_engine::Options::default()
        };
        let created = Mutex::new(0);
        let most = MAX_FILES / workers;
        let begun = Instant::now();
        run_tasks(
            &options,
            (0..workers).collect(),
            |_| (),
            |(), worker, _| {
                let own = self.scratch.of_worker(worker)?;
                let samples = self.sample(most, |at| self.create(&own, at))?;
                *created.lock().unwrap_or_else(PoisonError::into_inner) += samples.len();
                Ok::<(), Error>(())
            },
        )?;
        let seconds = begun.elapsed().as_secs_f64().max(1e-6);
        let created = created.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(created as f64 / seconds)
    }

    fn create(&self, own: &Dir, at: usize) -> Result<()> {
        let name = file_name(at);
        let file = own.create(&name, false)?;
        let written = file.write_all(&CONTENT).and_then(|()| file.close());
        written.map_err(|source| {
            // With the path that the user knows.
            let path = self.scratch.path();
            hedgerow_fs::Error::new("write a file in", path, source).into()
        })
    }
}

fn file_name(at: usize) -> Vec<u8> {
    format!("f{at}").into_bytes()
}
