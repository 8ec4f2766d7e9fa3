//! A trace as Chrome's trace event format, which Perfetto and `chrome://tracing` show.

use hedgerow_engine::TraceRecord;
use serde_json::json;
use std::io::{self, Write};

/// What every trace begins with.
pub const TRACE_START: &[u8] = b"[{\"name\":\"process_name\",\"ph\":\"M\",";

/// Writes an array with an object a line: the names of the process and of its threads, then their
/// spans as complete events, then a mark if events are missing. Times are in microseconds.
pub fn write_trace(
    record: &TraceRecord,
    process: (u32, &str),
    output: &mut dyn Write,
) -> io::Result<()> {
    let (pid, name) = process;
    output.write_all(TRACE_START)?;
    write!(
        output,
        "\"pid\":{pid},\"tid\":0,\"args\":{{\"name\":{}}}}}",
        json!(name)
    )?;
    let mut end_ns = 0;
    for (tid, lane) in (1..).zip(&record.lanes) {
        let name = json!(lane.name);
        for (kind, argument, value) in [
            ("thread_name", "name", name),
            ("thread_sort_index", "sort_index", json!(tid)),
        ] {
            write!(
                output,
                ",\n{{\"name\":\"{kind}\",\"ph\":\"M\",\"pid\":{pid},\"tid\":{tid},\
                 \"args\":{{\"{argument}\":{value}}}}}"
            )?;
        }
        for event in &lane.events {
            let (begin_ns, length_ns) = (event.begin_ns, event.length_ns);
            end_ns = end_ns.max(begin_ns.saturating_add(length_ns));
            write!(
                output,
                ",\n{{\"name\":{},\"ph\":\"X\",\"pid\":{pid},\"tid\":{tid},\"ts\":{},\"dur\":{}}}",
                json!(event.name),
                Microseconds(begin_ns),
                Microseconds(length_ns)
            )?;
        }
    }
    if record.dropped > 0 {
        let words = format!("{} more events were not recorded", record.dropped);
        write!(
            output,
            ",\n{{\"name\":{},\"ph\":\"i\",\"s\":\"g\",\"pid\":{pid},\"tid\":0,\"ts\":{}}}",
            json!(words),
            Microseconds(end_ns)
        )?;
    }
    output.write_all(b"]\n")
}

/// Nanoseconds, shown as microseconds with three decimals.
struct Microseconds(u64);

impl std::fmt::Display for Microseconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_engine::{TraceEvent, TraceLane};
    use serde_json::Value;

    #[test]
    fn events_carry_process_thread_and_time() {
        let event = |name, begin_ns, length_ns| TraceEvent {
            name,
            begin_ns,
            length_ns,
        };
        let record = TraceRecord {
            lanes: vec![TraceLane {
                name: "check\"out\n-0".into(),
                events: vec![event("create", 1_500, 2_000_001)],
            }],
            dropped: 7,
        };
        let mut written = Vec::new();
        write_trace(&record, (42, "hedgerow <checkout>"), &mut written).unwrap();
        assert!(written.starts_with(TRACE_START));
        let events: Value = serde_json::from_slice(&written).unwrap();
        let expected = json!([
            {"name": "process_name", "ph": "M", "pid": 42, "tid": 0,
             "args": {"name": "hedgerow <checkout>"}},
            {"name": "thread_name", "ph": "M", "pid": 42, "tid": 1,
             "args": {"name": "check\"out\n-0"}},
            {"name": "thread_sort_index", "ph": "M", "pid": 42, "tid": 1,
             "args": {"sort_index": 1}},
            {"name": "create", "ph": "X", "pid": 42, "tid": 1, "ts": 1.5, "dur": 2000.001},
            {"name": "7 more events were not recorded", "ph": "i", "s": "g", "pid": 42, "tid": 0,
             "ts": 2001.501},
        ]);
        assert_eq!(events, expected);
    }

    #[test]
    fn nothing_recorded_is_a_trace_too() {
        let mut written = Vec::new();
        write_trace(&TraceRecord::default(), (1, "x"), &mut written).unwrap();
        let events: Value = serde_json::from_slice(&written).unwrap();
        assert_eq!(events.as_array().map(Vec::len), Some(1));
    }
}
