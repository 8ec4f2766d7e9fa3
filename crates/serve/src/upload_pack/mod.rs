//! Answers the requests that git-upload-pack makes of `git pack-objects`: from a store of
//! responses, or with a new pack.

mod answer;
mod log;
mod receiver;
mod request;
mod sink;
mod store;

pub use answer::{answer, answer_command, Answered, NotAnswered};
pub use log::{Entry, Server};
pub use receiver::ResponseOutput;
pub use request::Request;
pub use store::{NewResponse, ResponseLookup, ResponseStore, StoredResponse};
