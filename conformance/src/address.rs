//! Which addresses Millwork would call: none that is private or otherwise reserved.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Reserved blocks of IPv4 (the IANA special-purpose registry, multicast and class E).
const V4: &[([u8; 4], u32)] = &[
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

/// Reserved blocks of IPv6, by their first two groups.
const V6: &[([u16; 2], u32)] = &[
    ([0x0064, 0xff9b], 32),
    ([0x0100, 0x0000], 32),
    ([0x2001, 0x0000], 23),
    ([0x2001, 0x0db8], 32),
    ([0x2002, 0x0000], 16),
    ([0x3fff, 0x0000], 20),
    ([0x5f00, 0x0000], 16),
    ([0xfc00, 0x0000], 7),
    ([0xfe80, 0x0000], 10),
    ([0xfec0, 0x0000], 10),
    ([0xff00, 0x0000], 8),
];

/// Whether an address may be called.
#[must_use]
pub fn may_call(address: IpAddr, allow_loopback: bool) -> bool {
    let address = address.to_canonical();
    (allow_loopback && address.is_loopback()) || !is_reserved(address)
}

fn is_reserved(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => v4_is_reserved(address),
        IpAddr::V6(address) => v6_is_reserved(address),
    }
}

fn v4_is_reserved(address: Ipv4Addr) -> bool {
    V4.iter().any(|(block, length)| {
        let shift = 32 - length;
        u32::from(address) >> shift == u32::from(Ipv4Addr::from(*block)) >> shift
    })
}

fn v6_is_reserved(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let start = (u32::from(first) << 16) | u32::from(second);
    // `::` and below: unspecified, loopback, and the old forms that hold an IPv4 address.
    let low = u128::from(address) >> 32 == 0;
    low || V6.iter().any(|([a, b], length)| {
        let shift = 32 - length;
        start >> shift == ((u32::from(*a) << 16) | u32::from(*b)) >> shift
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_called() {
        let refused = [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.8.8.8",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "192.0.2.1",
            "198.19.255.255",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:10.0.0.1",
            "::10.0.0.1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001:db8::1",
            "2001:1ff::1",
            "2002:a00:1::",
            "3fff:fff::1",
            "fd00::1",
            "fe80::1",
            "febf::1",
            "ff02::1",
        ];
        for address in refused {
            assert!(!may_call(address.parse().unwrap(), false), "{address}");
        }
        let called = [
            "1.1.1.1",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.0.1",
            "172.32.0.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2001:200::1",
            "2a00:1450::1",
            "::ffff:1.1.1.1",
            "3fff:1000::1",
        ];
        for address in called {
            assert!(may_call(address.parse().unwrap(), false), "{address}");
        }
    }

    #[test]
    fn loopback_can_be_allowed_and_nothing_else_with_it() {
        for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            assert!(may_call(address.parse().unwrap(), true), "{address}");
        }
        for address in ["10.0.0.1", "169.254.169.254", "fd00::1"] {
            assert!(!may_call(address.parse().unwrap(), true), "{address}");
        }
    }
}
