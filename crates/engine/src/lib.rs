//! The parallel machine of hedgerow: tickets, workers, ordered commit, budget in bytes
