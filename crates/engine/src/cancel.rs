use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Asks a run to end early. Clones share the request; it cannot be withdrawn.
#[derive(Clone, Debug)]
pub struct CancelToken(Flag);

#[derive(Clone, Debug)]
enum Flag {
    Shared(Arc<AtomicBool>),
    Static(&'static AtomicBool),
}

impl CancelToken {
    /// A token that counts as cancelled when `flag` is true: setting a flag is all that a signal
    /// handler may do.
    pub const fn from_static(flag: &'static AtomicBool) -> Self {
        CancelToken(Flag::Static(flag))
    }

    /// Requests the end. Tasks that have started are finished, unless they check the token.
    pub fn cancel(&self) {
        self.flag().store(true, Ordering::Relaxed);
    }

    /// Whether the end was requested.
    pub fn is_cancelled(&self) -> bool {
        self.flag().load(Ordering::Relaxed)
    }

    fn flag(&self) -> &AtomicBool {
        match &self.0 {
            Flag::Shared(flag) => flag,
            Flag::Static(flag) => flag,
        }
    }
}

impl Default for CancelToken {
    fn default() -> Self {
        CancelToken(Flag::Shared(Arc::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_their_end() {
        let token = CancelToken::default();
        let clone = token.clone();
        assert!(!clone.is_cancelled());
        token.cancel();
        assert!(clone.is_cancelled());
        assert!(!CancelToken::default().is_cancelled());
    }

    #[test]
    fn a_static_flag_cancels() {
        static FLAG: AtomicBool = AtomicBool::new(false);
        let token = CancelToken::from_static(&FLAG);
        assert!(!token.is_cancelled());
        FLAG.store(true, Ordering::Relaxed);
        assert!(token.clone().is_cancelled());
    }
}
