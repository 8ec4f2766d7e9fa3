//! Shares of a work that several processes do: `2/8` is the second of eight.

use std::num::NonZeroU32;

/// One of several shares of a work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 0.
    index: u32,
    count: NonZeroU32,
}

/// Why a text is no share, or the environment names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadShard {
    /// It is not `K/N` with `K` from 1 to `N`, nor `auto` or `auto/N`.
    Malformed,
    /// No scheduler has set its variables.
    NoScheduler,
    /// Several schedulers have set theirs.
    SeveralSchedulers,
    /// The scheduler does not tell the number of shares.
    UnknownCount,
    /// The scheduler's variables contradict each other, or are no numbers.
    Contradiction,
}

impl BadShard {
    /// What is wrong, in words.
    pub fn words(self) -> &'static str {
        match self {
            BadShard::Malformed => "it is not K/N with K from 1 to N, and not auto or auto/N",
            BadShard::NoScheduler => {
                "no scheduler has set SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX or \
                 OMPI_COMM_WORLD_RANK"
            }
            BadShard::SeveralSchedulers => {
                "several schedulers have set their variables; K/N tells which share is meant"
            }
            BadShard::UnknownCount => {
                "the scheduler does not say how many shares there are; use auto/N"
            }
            BadShard::Contradiction => {
                "the scheduler's variables do not describe a valid share K of N"
            }
        }
    }
}

impl Shard {
    /// The share with this number, from 1; `None` if there are fewer.
    pub fn new(number: u32, count: u32) -> Option<Self> {
        let index = number.checked_sub(1).filter(|index| *index < count)?;
        let count = NonZeroU32::new(count)?;
        Some(Shard { index, count })
    }

    /// The share that a text names: `K/N`; or `auto`, as the variables of Slurm's job arrays,
    /// Kubernetes' indexed jobs or Open MPI say. Kubernetes does not tell the number of shares: for
    /// it, it is `auto/N`.
    pub fn parse(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, BadShard> {
        let number = |text: &str| {
            let is_plain = text.bytes().all(|digit| digit.is_ascii_digit());
            text.parse().ok().filter(|_| is_plain)
        };
        let (share, count) = match text.split_once('/') {
            Some((share, count)) => (share, Some(number(count).ok_or(BadShard::Malformed)?)),
            None => (text, None),
        };
        match (share, count) {
            ("auto", count) => Self::of_scheduler(variable, count),
            (share, Some(count)) => {
                let shard = number(share).and_then(|share| Shard::new(share, count));
                shard.ok_or(BadShard::Malformed)
            }
            (_, None) => Err(BadShard::Malformed),
        }
    }

    fn of_scheduler(
        variable: &dyn Fn(&str) -> Option<String>,
        count: Option<u32>,
    ) -> Result<Self, BadShard> {
        // The share, the number of the first one, the distance to the next one, their number.
        const SCHEDULERS: [[&str; 4]; 3] = [
            [
                "SLURM_ARRAY_TASK_ID",
                "SLURM_ARRAY_TASK_MIN",
                "SLURM_ARRAY_TASK_STEP",
                "SLURM_ARRAY_TASK_COUNT",
            ],
            ["JOB_COMPLETION_INDEX", "", "", ""],
            ["OMPI_COMM_WORLD_RANK", "", "", "OMPI_COMM_WORLD_SIZE"],
        ];
        let mut found = SCHEDULERS
            .into_iter()
            .filter(|[share, ..]| variable(share).is_some());
        let names = found.next().ok_or(BadShard::NoScheduler)?;
        if found.next().is_some() {
            return Err(BadShard::SeveralSchedulers);
        }
        let number = |name: &str, otherwise| match variable(name).filter(|_| !name.is_empty()) {
            None => Ok(otherwise),
            Some(text) => text.parse().map(Some).map_err(|_| BadShard::Contradiction),
        };
        let [share, first, step, total] = names;
        let total = number(total, None)?;
        let count = match (count, total) {
            (Some(count), Some(total)) if count != total => return Err(BadShard::Contradiction),
            (count, total) => count.or(total).ok_or(BadShard::UnknownCount)?,
        };
        let share: u32 = number(share, None)?.ok_or(BadShard::NoScheduler)?;
        let index = share.checked_sub(number(first, Some(0))?.unwrap_or(0));
        let step = number(step, Some(1))?.unwrap_or(1).max(1);
        let index = index.filter(|index| index.is_multiple_of(step));
        let shard = index.and_then(|index| Shard::new((index / step).checked_add(1)?, count));
        shard.ok_or(BadShard::Contradiction)
    }

    /// Its number, from 1.
    pub fn number(self) -> u32 {
        self.index + 1
    }

    /// The number of shares.
    pub fn count(self) -> u32 {
        self.count.get()
    }

    /// Whether the thing with this position, counted over all shares, belongs to it.
    pub fn has(self, position: u64) -> bool {
        position % u64::from(self.count.get()) == u64::from(self.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, variables: &[(&str, &str)]) -> Result<(u32, u32), BadShard> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let shard = Shard::parse(text, &variable)?;
        Ok((shard.number(), shard.count()))
    }

    #[test]
    fn shares_are_read() {
        assert_eq!(parse("2/8", &[]), Ok((2, 8)));
        for text in [
            "", "1", "0/2", "3/2", "1/0", "-1/2", "+1/2", "1/2/3", "a/2", "1/", "auto/",
        ] {
            assert_eq!(parse(text, &[]), Err(BadShard::Malformed), "{text}");
        }
        let shares: Vec<u64> = (0..9)
            .filter(|at| Shard::new(3, 4).unwrap().has(*at))
            .collect();
        assert_eq!(shares, [2, 6]);
    }

    #[test]
    fn schedulers_are_asked() {
        let slurm = [
            ("SLURM_ARRAY_TASK_ID", "7"),
            ("SLURM_ARRAY_TASK_MIN", "3"),
            ("SLURM_ARRAY_TASK_STEP", "2"),
            ("SLURM_ARRAY_TASK_COUNT", "4"),
        ];
        assert_eq!(parse("auto", &slurm), Ok((3, 4)));
        assert_eq!(parse("auto/4", &slurm), Ok((3, 4)));
        assert_eq!(parse("auto/5", &slurm), Err(BadShard::Contradiction));
        assert_eq!(parse("1/2", &slurm), Ok((1, 2)));
        let kubernetes = [("JOB_COMPLETION_INDEX", "0")];
        assert_eq!(parse("auto/3", &kubernetes), Ok((1, 3)));
        assert_eq!(parse("auto", &kubernetes), Err(BadShard::UnknownCount));
        let mpi = [("OMPI_COMM_WORLD_RANK", "3"), ("OMPI_COMM_WORLD_SIZE", "4")];
        assert_eq!(parse("auto", &mpi), Ok((4, 4)));
        assert_eq!(
            parse("auto", &[mpi, [mpi[0], slurm[0]]].concat()),
            Err(BadShard::SeveralSchedulers)
        );
        assert_eq!(parse("auto", &[]), Err(BadShard::NoScheduler));
        for wrong in ["4", "-1", "x", ""] {
            let mpi = [
                ("OMPI_COMM_WORLD_RANK", wrong),
                ("OMPI_COMM_WORLD_SIZE", "4"),
            ];
            assert_eq!(parse("auto", &mpi), Err(BadShard::Contradiction));
        }
        let before = [("SLURM_ARRAY_TASK_ID", "2"), slurm[1], slurm[2], slurm[3]];
        assert_eq!(parse("auto", &before), Err(BadShard::Contradiction));
    }
}
