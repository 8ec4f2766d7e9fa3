//! What git-upload-pack asks of `git pack-objects`, answered: from a store of responses, or with a
//! pack made now.

mod answer;
mod log;
mod receiver;
mod request;
mod sink;
mod store;

pub use answer::{answer_command, Answered, NotAnswered};
pub use log::{Entry, Server};
pub use receiver::ResponseOutput;
pub use store::{Found, NewResponse, ResponseStore, StoredResponse};
