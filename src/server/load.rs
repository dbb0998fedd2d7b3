//! How much the server takes on at once: requests under way, and the memory of their bodies.
//!
//! Admission comes before the body, so that a refused request costs its head only. Small bodies are free:
//! a probe is answered as long as the server answers at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::fault::Fault;

/// Body bytes that one request may hold without drawing on the common memory. Every probe fits.
const FREE: usize = 16 * 1024;
/// The common memory is drawn on in steps of this many bytes.
const STEP: usize = 64 * 1024;
/// The common memory: all bodies above their free part, in bytes.
const BODIES: usize = 256 * 1024 * 1024;

/// The server's present load.
pub(super) struct Load {
    requests: AtomicUsize,
    most_requests: usize,
    body_bytes: AtomicUsize,
    most_body_bytes: usize,
}

/// One admitted request and its share of the memory; dropping it frees both.
pub(super) struct Admitted {
    load: Arc<Load>,
    held: usize,
}

impl Load {
    /// At most `most_requests` requests at once.
    pub(super) fn new(most_requests: usize) -> Self {
        Load {
            requests: AtomicUsize::new(0),
            most_requests,
            body_bytes: AtomicUsize::new(0),
            most_body_bytes: BODIES,
        }
    }

    /// Requests under way.
    pub(super) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    /// Body bytes held beyond the free parts.
    pub(super) fn body_bytes(&self) -> usize {
        self.body_bytes.load(Ordering::Relaxed)
    }

    /// Admits one more request, whose body is `announced` bytes long if it says so.
    ///
    /// # Errors
    /// [`Fault::Overloaded`] when there are too many, or no memory for the announced body.
    pub(super) fn admit(self: &Arc<Self>, announced: Option<usize>) -> Result<Admitted, Fault> {
        // Counted first: the guard takes it back if the request is one too many.
        let before = self.requests.fetch_add(1, Ordering::Relaxed);
        let admitted = Admitted { load: Arc::clone(self), held: 0 };
        if before >= self.most_requests {
            return Err(Fault::Overloaded);
        }
        let wanted = announced.unwrap_or(0);
        if wanted > FREE && self.body_bytes().saturating_add(wanted) > self.most_body_bytes {
            return Err(Fault::Overloaded);
        }
        Ok(admitted)
    }
}

impl Admitted {
    /// The body has grown to `length` bytes.
    ///
    /// # Errors
    /// [`Fault::Overloaded`] when the common memory is used up.
    pub(super) fn hold(&mut self, length: usize) -> Result<(), Fault> {
        let needed = length.saturating_sub(FREE).next_multiple_of(STEP);
        let Some(more) = needed.checked_sub(self.held).filter(|more| *more > 0) else { return Ok(()) };
        let before = self.load.body_bytes.fetch_add(more, Ordering::Relaxed);
        self.held = needed;
        if before.saturating_add(more) > self.load.most_body_bytes {
            return Err(Fault::Overloaded);
        }
        Ok(())
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.load.requests.fetch_sub(1, Ordering::Relaxed);
        self.load.body_bytes.fetch_sub(self.held, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]
    use super::*;

    #[test]
    fn one_request_too_many_is_shed_and_the_place_comes_back() {
        let load = Arc::new(Load::new(2));
        let first = load.admit(None).expect("the first");
        let _second = load.admit(None).expect("the second");
        assert_eq!(load.admit(None).err(), Some(Fault::Overloaded));
        assert_eq!(load.requests(), 2, "the refused one is not counted");
        drop(first);
        assert!(load.admit(None).is_ok());
    }

    #[test]
    fn large_bodies_share_a_memory_and_small_ones_are_free() {
        let load = Arc::new(Load { most_body_bytes: 2 * STEP, ..Load::new(100) });
        let mut large = load.admit(None).expect("admitted");
        assert_eq!(large.hold(FREE + STEP + 1), Ok(()));
        assert_eq!(load.body_bytes(), 2 * STEP);
        let mut other = load.admit(None).expect("a length that is not announced");
        assert_eq!(other.hold(FREE), Ok(()), "free");
        assert_eq!(other.hold(FREE + 1), Err(Fault::Overloaded));
        drop(other);
        assert_eq!(load.admit(Some(FREE + 1)).err(), Some(Fault::Overloaded), "known before the body");
        assert!(load.admit(Some(FREE)).is_ok());
        drop(large);
        assert_eq!(load.body_bytes(), 0);
    }
}
