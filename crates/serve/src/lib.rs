//! Makes packs out of what is reachable, for a receiver who may have some of it, and serves them
//! to a stock git server.
