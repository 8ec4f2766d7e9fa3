//! Traces: when each worker did what, for display on a time axis.
//!
//! ```
//! use hedgerow::tracing::{write_trace, Trace};
//! use hedgerow::Execution;
//! use std::sync::Arc;
//!
//! let trace = Arc::new(Trace::default());
//! let execution = Execution {
//!     trace: Some(Arc::clone(&trace)),
//!     ..Execution::default()
//! };
//! // ... a verb with `execution` in its options ...
//! let mut file = Vec::new();
//! write_trace(&trace.snapshot(), (std::process::id(), "example"), &mut file)?;
//! # let _ = execution;
//! # Ok::<(), std::io::Error>(())
//! ```

pub use hedgerow_engine::{
    span, Lane, Span, Trace, TraceEvent, TraceLane, TraceRecord, TRACE_EVENTS,
};
pub use hedgerow_stats::{write_trace, TRACE_START};
