//! Whom a connection belongs to, and what it is doing right now.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::config::Limits;

/// A caller as the limits count it: an IPv4 address, or the /64 of an IPv6 address, which is what one
/// customer is usually given.
///
/// It lives in memory for as long as the limits need it and is never logged. The store sees it for a day where a free
/// pre-check has no other caller to count for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Client {
    V4(Ipv4Addr),
    V6([u16; 4]),
}

impl From<IpAddr> for Client {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Client::V4(address),
            IpAddr::V6(address) => {
                let [one, two, three, four, ..] = address.segments();
                Client::V6([one, two, three, four])
            }
        }
    }
}

/// As the store names whoever has no wallet: the address, or the network.
impl std::fmt::Display for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Client::V4(address) => address.fmt(f),
            Client::V6([one, two, three, four]) => write!(f, "{one:x}:{two:x}:{three:x}:{four:x}::/64"),
        }
    }
}

/// Open connections per client.
#[derive(Default)]
pub(super) struct Clients {
    open: Mutex<HashMap<Client, usize>>,
}

/// One client's open connection; dropping it frees the place.
pub(super) struct Place {
    clients: Arc<Clients>,
    client: Client,
}

impl Clients {
    /// A place for one more connection of `client`, unless it has `most` already.
    pub(super) fn admit(self: &Arc<Self>, client: Client, most: usize) -> Option<Place> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(client).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Place { clients: Arc::clone(self), client })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.clients.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.client);
            }
        }
    }
}

/// What one connection is doing: answering requests, receiving a head, or nothing.
pub(super) struct Activity {
    opened: Instant,
    /// Requests between their head and their answer.
    answering: AtomicU32,
    /// Bytes came since the last answer: a head is on its way.
    head_begun: AtomicBool,
    /// When the present state began, in milliseconds after `opened`.
    since: AtomicU64,
}

/// One request under way on a connection.
pub(super) struct Answering<'a>(&'a Activity);

impl Activity {
    pub(super) fn new() -> Self {
        Activity {
            opened: Instant::now(),
            answering: AtomicU32::new(0),
            head_begun: AtomicBool::new(false),
            since: AtomicU64::new(0),
        }
    }

    /// When the connection was opened.
    pub(super) fn opened(&self) -> Instant {
        self.opened
    }

    /// Bytes arrived.
    pub(super) fn received(&self) {
        let between_requests = self.answering.load(Ordering::Relaxed) == 0;
        if between_requests && !self.head_begun.swap(true, Ordering::Relaxed) {
            self.mark();
        }
    }

    /// A head is complete: its request is under way until the returned value is dropped.
    pub(super) fn answer(&self) -> Answering<'_> {
        self.answering.fetch_add(1, Ordering::Relaxed);
        Answering(self)
    }

    /// When the connection has been without a request for too long, if nothing happens until then; `None`
    /// while a request is under way.
    pub(super) fn overdue(&self, limits: &Limits) -> Option<Instant> {
        if self.answering.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let allowed = if self.head_begun.load(Ordering::Relaxed) { limits.header } else { limits.idle };
        Some(self.opened + Duration::from_millis(self.since.load(Ordering::Relaxed)) + allowed)
    }

    fn mark(&self) {
        let since = self.opened.elapsed().as_millis();
        self.since.store(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        let activity = self.0;
        activity.head_begun.store(false, Ordering::Relaxed);
        activity.mark();
        activity.answering.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]
    use super::*;

    #[test]
    fn one_ipv6_network_is_one_client() {
        let client = |text: &str| Client::from(text.parse::<IpAddr>().expect("an address"));
        assert!(client("2001:db8:1:2::1") == client("2001:db8:1:2:ffff::9"));
        assert!(client("2001:db8:1:2::1") != client("2001:db8:1:3::1"));
        assert!(client("::ffff:192.0.2.7") == client("192.0.2.7"));
        assert!(client("192.0.2.7") != client("192.0.2.8"));
    }

    #[test]
    fn a_client_has_so_many_places_and_gets_them_back() {
        let clients = Arc::new(Clients::default());
        let client = Client::V4(Ipv4Addr::LOCALHOST);
        let first = clients.admit(client, 2).expect("the first");
        let _second = clients.admit(client, 2).expect("the second");
        assert!(clients.admit(client, 2).is_none());
        assert!(clients.admit(Client::V6([0; 4]), 2).is_some(), "another client is not affected");
        drop(first);
        assert!(clients.admit(client, 2).is_some());
    }

    #[test]
    fn a_vanished_client_leaves_nothing_behind() {
        let clients = Arc::new(Clients::default());
        drop(clients.admit(Client::V4(Ipv4Addr::LOCALHOST), 1));
        assert!(clients.open.lock().expect("the table").is_empty());
    }
}
