//! The measurement: one operation alone, then as many at a time as help.

use crate::scratch::Scratch;
use crate::{Error, Latency, Result};
use hedgerow_engine::{run_tasks, CancelToken, Jobs};
use hedgerow_fs::Dir;
use hedgerow_fs::FileSystem;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The numbers of workers that are tried.
const LEVELS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// A rate must be this much better than the best so far to count as a gain.
const GAIN: f64 = 1.05;
/// Numbers of workers in a row that bring no gain before the rest is left out. The first may be a
/// bad moment; two are not.
const LEVELS_WITHOUT_GAIN: usize = 2;
/// A step, of which there are about ten, takes at most this share of the time there is; cleaning
/// up after it takes about as long.
const STEPS: u32 = 20;
/// The most samples of one latency, and the most files at a time: a fast file system is known
/// sooner than after a whole step.
const MAX_SAMPLES: usize = 500;
const MAX_FILES: usize = 2048;
const MAX_ROUNDS: usize = 3;
/// What is in each file. Half of the files of a source tree are smaller than a few KiB; the
/// waiting does not depend on it.
const CONTENT: [u8; 2048] = [b'.'; 2048];

/// How a measurement is to go.
#[derive(Clone, Debug)]
pub struct Options {
    /// About how long it may take in all; up to twice as long while more workers still help.
    pub budget: Duration,
    /// Ends it early.
    pub cancel: CancelToken,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    /// Where it was measured.
    pub file_system: FileSystem,
    /// Creating a file of two KiB: open, write, close.
    pub create: Latency,
    /// Asking for the state of a name that the client knows nothing of: a single question.
    pub stat: Latency,
    /// Removing a file.
    pub remove: Latency,
    /// Files created per second, by number of workers, rising.
    pub scaling: Vec<Rate>,
    /// The time was over while more workers still helped: still more might.
    pub is_cut_short: bool,
}

/// What a number of workers achieves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// How many workers, each in a directory of its own.
    pub workers: usize,
    /// How many files they created in a second.
    pub files_per_second: f64,
}

/// Measures the file system of `directory` in a new directory inside it, which is removed again
/// whatever happens.
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
    /// Creating, asking and removing, by one worker.
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

    /// Times `work` for 0, 1, 2, ... until the step is over; at least once.
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

    /// The rates of rising numbers of workers, until more do not help or the time is over; and
    /// whether it was the time.
    fn scaling(&mut self, started: Instant, budget: Duration) -> Result<(Vec<Rate>, bool)> {
        // What remains is for cleaning up.
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

    /// The best of as many rounds as fit into a step, three at most: where a round is short,
    /// what else the machine does weighs most, and it only ever makes it longer.
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

    /// Files created per second by `workers` at a time, in one round.
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
            // By the path that the user knows.
            let path = self.scratch.path();
            hedgerow_fs::Error::new("write a file in", path, source).into()
        })
    }
}

fn file_name(at: usize) -> Vec<u8> {
    format!("f{at}").into_bytes()
}
