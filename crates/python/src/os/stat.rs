//! `os.stat_result`, made of what the system tells.

use hedgerow::walk::{Stat, Timestamp};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyFloat, PyTuple, PyType};

/// Number of its fields: ten by position, then the times in two more forms, and three others.
const FIELDS: usize = 19;
const NANOSECONDS: i64 = 1_000_000_000;

/// The `os.stat_result` that `os.stat` would give. `None` if this Python has other fields, or a time
/// does not fit: then it has to be asked.
pub(super) fn stat_result<'py>(
    py: Python<'py>,
    stat: &Stat,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    static CLASS: PyOnceLock<Option<Py<PyType>>> = PyOnceLock::new();
    let Some(class) = CLASS.get_or_try_init(py, || known_class(py))? else {
        return Ok(None);
    };
    let Some(atime) = Moment::of(py, stat.atime)? else {
        return Ok(None);
    };
    // Most files were changed when they were written: one object serves for equal times.
    let Some(mtime) = atime.or_of(py, stat.mtime)? else {
        return Ok(None);
    };
    let Some(ctime) = mtime.or_of(py, stat.ctime)? else {
        return Ok(None);
    };
    let number = |value: u64| value.into_pyobject(py).map(Bound::into_any);
    let fields: [Bound<'py, PyAny>; FIELDS] = [
        number(stat.mode.into())?,
        number(stat.ino)?,
        number(stat.dev)?,
        number(stat.nlink)?,
        number(stat.uid.into())?,
        number(stat.gid.into())?,
        number(stat.size)?,
        atime.seconds,
        mtime.seconds,
        ctime.seconds,
        atime.fraction,
        mtime.fraction,
        ctime.fraction,
        atime.nanoseconds,
        mtime.nanoseconds,
        ctime.nanoseconds,
        number(stat.io_bytes)?,
        number(stat.blocks)?,
        number(stat.rdev)?,
    ];
    let fields = PyTuple::new(py, fields)?;
    Ok(Some(class.bind(py).call1((fields,))?))
}

/// A time in the three forms of `os.stat_result`.
#[derive(Clone)]
struct Moment<'py> {
    time: Timestamp,
    seconds: Bound<'py, PyAny>,
    /// Seconds as a `float`.
    fraction: Bound<'py, PyAny>,
    nanoseconds: Bound<'py, PyAny>,
}

impl<'py> Moment<'py> {
    /// `None` if its nanoseconds do not fit.
    fn of(py: Python<'py>, time: Timestamp) -> PyResult<Option<Self>> {
        let whole = time.seconds.checked_mul(NANOSECONDS);
        let Some(nanoseconds) = whole.and_then(|whole| whole.checked_add(time.nanoseconds.into()))
        else {
            return Ok(None);
        };
        // In this order, as Python does: another one rounds in another way.
        let fraction = time.seconds as f64 + 1e-9 * f64::from(time.nanoseconds);
        Ok(Some(Moment {
            time,
            seconds: time.seconds.into_pyobject(py)?.into_any(),
            fraction: PyFloat::new(py, fraction).into_any(),
            nanoseconds: nanoseconds.into_pyobject(py)?.into_any(),
        }))
    }

    /// The same objects if it is this time, otherwise those of `time`.
    fn or_of(&self, py: Python<'py>, time: Timestamp) -> PyResult<Option<Self>> {
        if time == self.time {
            return Ok(Some(self.clone()));
        }
        Moment::of(py, time)
    }
}

/// The class, if its fields are those that are known here.
fn known_class(py: Python<'_>) -> PyResult<Option<Py<PyType>>> {
    let class = py.import("os")?.getattr("stat_result")?;
    if class.getattr("n_fields")?.extract::<usize>()? != FIELDS {
        return Ok(None);
    }
    let numbers = PyTuple::new(py, 0..FIELDS)?;
    let made = class.call1((numbers,))?;
    let names = [
        "st_mode",
        "st_ino",
        "st_dev",
        "st_nlink",
        "st_uid",
        "st_gid",
        "st_size",
        "",
        "",
        "",
        "st_atime",
        "st_mtime",
        "st_ctime",
        "st_atime_ns",
        "st_mtime_ns",
        "st_ctime_ns",
        "st_blksize",
        "st_blocks",
        "st_rdev",
    ];
    for (position, name) in names.iter().enumerate() {
        let is_named = !name.is_empty();
        if is_named
            && made
                .getattr(*name)
                .and_then(|value| value.extract::<usize>())
                .ok()
                != Some(position)
        {
            return Ok(None);
        }
    }
    Ok(Some(class.cast_into::<PyType>()?.unbind()))
}
