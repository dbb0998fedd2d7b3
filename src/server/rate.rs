//! Rate limits: one token bucket per dock and client address.
//!
//! The table cannot grow: a client falls into one of 65,536 places by a hash whose key is drawn at start.
//! Two clients in one place share an allowance; nobody can aim for another's place, and no entry need
//! ever be removed.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use governor::clock::DefaultClock;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};

use super::peer::Client;
use crate::config::RateLimit;
use crate::fault::Fault;

/// One dock's rate limit.
pub(super) struct Rate {
    limiter: RateLimiter<u16, DashMapStateStore<u16>, DefaultClock, NoOpMiddleware>,
    place: RandomState,
    limit: RateLimit,
}

impl Rate {
    pub(super) fn new(limit: RateLimit) -> Self {
        let quota = Quota::per_second(limit.per_second).allow_burst(limit.burst);
        Rate { limiter: RateLimiter::dashmap(quota), place: RandomState::new(), limit }
    }

    /// It was made for this limit.
    pub(super) fn is_of(&self, limit: RateLimit) -> bool {
        self.limit == limit
    }

    /// Takes one token of `client`'s.
    ///
    /// # Errors
    /// [`Fault::RateLimited`] when none is left. At one token a second or more, the next is at most a
    /// second away: so the answer may always say `Retry-After: 1`.
    pub(super) fn admit(&self, client: Client) -> Result<(), Fault> {
        let [low, high, ..] = self.place.hash_one(client).to_le_bytes();
        self.limiter.check_key(&u16::from_le_bytes([low, high])).map_err(|_| Fault::RateLimited)
    }
}

/// What `Retry-After` says, in seconds.
pub(super) const RETRY_AFTER: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]
    use std::net::Ipv4Addr;
    use std::num::NonZeroU32;

    use super::*;

    fn rate(burst: u32) -> Rate {
        let one = NonZeroU32::MIN;
        Rate::new(RateLimit { per_second: one, burst: NonZeroU32::new(burst).expect("a burst") })
    }

    #[test]
    fn a_client_has_its_burst_and_no_more() {
        let rate = rate(3);
        let client = Client::V4(Ipv4Addr::LOCALHOST);
        for _ in 0..3 {
            assert_eq!(rate.admit(client), Ok(()));
        }
        assert_eq!(rate.admit(client), Err(Fault::RateLimited));
    }

    #[test]
    fn the_table_is_bounded_whoever_calls() {
        let rate = rate(1);
        for (high, low) in (0..400).flat_map(|high| (0..500).map(move |low| (high, low))) {
            let _ = rate.admit(Client::V6([0x2001, 0xdb8, high, low]));
        }
        assert!(rate.limiter.len() <= 1 << 16);
    }
}
