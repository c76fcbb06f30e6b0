//! Networks: sets of addresses, as CIDRs and by name.

use std::fmt;
use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net};

use crate::Invalid;
use crate::names::nearest;

/// A set of addresses.
///
/// An IPv4 address within IPv6 counts as IPv4, in the set as well as in what is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(
    /// In order, and no two overlap: so a long list of a provider's costs a few steps to look in.
    Vec<IpNet>,
);

/// What is called `loopback`: this machine (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3).
const LOOPBACK: [&str; 2] = ["127.0.0.0/8", "::1/128"];
/// What is called `private`: addresses that mean something else in every network (RFC 1918; RFC 4193).
const PRIVATE: [&str; 4] = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"];

impl Networks {
    /// Whether an address lies in one of them.
    #[inline]
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let after = self.0.partition_point(|network| network.network() <= address);
        after.checked_sub(1).and_then(|at| self.0.get(at)).is_some_and(|network| network.contains(&address))
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether every address there is of IPv4, or every one of IPv6, lies in them.
    pub fn hold_everyone(&self) -> bool {
        self.0.iter().any(|network| network.prefix_len() == 0)
    }
}

impl FromIterator<IpNet> for Networks {
    fn from_iter<I: IntoIterator<Item = IpNet>>(networks: I) -> Networks {
        let mut networks = IpNet::aggregate(&networks.into_iter().map(canonical).collect());
        networks.sort_unstable_by_key(IpNet::network);
        Networks(networks)
    }
}

impl fmt::Display for Networks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, network) in self.0.iter().enumerate() {
            write!(f, "{}{network}", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// The IPv4 network that lies in a network of IPv6, if that has no other addresses.
fn canonical(network: IpNet) -> IpNet {
    match (network.network().to_canonical(), network.prefix_len().checked_sub(96)) {
        (IpAddr::V4(address), Some(prefix)) => Ipv4Net::new(address, prefix).map_or(network, IpNet::V4),
        _ => network,
    }
}

/// The networks of that name.
pub(crate) fn named(name: &str) -> Option<impl Iterator<Item = IpNet>> {
    let networks: &[&str] = match name {
        "loopback" => &LOOPBACK,
        "private" => &PRIVATE,
        _ => return None,
    };
    Some(networks.iter().filter_map(|network| network.parse().ok()))
}

/// Whether a text can be nothing but an address or a network, right or wrong: `10.0.0.0/33` is no file.
pub(crate) fn looks_like_one(text: &str) -> bool {
    let part = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':' | b'/');
    text.bytes().all(part) && text.contains(['.', ':']) && !text.starts_with(['.', '/'])
}

/// Reads a CIDR or a single address.
pub(crate) fn read(text: &str) -> Result<IpNet, Invalid> {
    let help = "write an address or a CIDR: 203.0.113.7, 10.0.0.0/8, 2001:db8::/32";
    let text = text.trim();
    let Some((address, prefix)) = text.split_once('/') else {
        let address: IpAddr = text.parse().map_err(|_| Invalid::new(format!("`{text}` is no address"), help))?;
        return Ok(address.into());
    };
    let Ok(address) = address.parse::<IpAddr>() else {
        return Err(Invalid::new(format!("`{text}` has no address before the slash"), help));
    };
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let number = prefix.parse().ok().filter(|_| prefix.bytes().all(|byte| byte.is_ascii_digit()));
    let Some(network) = number.and_then(|bits| IpNet::new(address, bits).ok()) else {
        return Err(Invalid::new(format!("`{text}` has no number from 0 to {longest} after the slash"), help));
    };
    if network.network() != address {
        // Nobody knows which of both was meant, and to trust too many is no small thing.
        return Err(Invalid::new(
            format!("`{text}` has bits set beyond its prefix"),
            format!("write {} for the network, or {address} for the address alone", network.trunc()),
        ));
    }
    Ok(network)
}

/// Why a text is neither a network nor the name of any, where no file is called so.
pub(crate) fn no_such(text: &str, reason: &str) -> Invalid {
    let meant = nearest(text, ["loopback", "private"]).map(|name| format!("did you mean `{name}`? "));
    Invalid::new(
        format!("`{text}` is no network, and no file that can be read: {reason}"),
        format!(
            "{}write a CIDR, `loopback`, `private`, or a file with a CIDR a line, beside the policy",
            meant.unwrap_or_default()
        ),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn networks(texts: &[&str]) -> Networks {
        texts.iter().map(|text| read(text).unwrap()).collect()
    }

    #[test]
    fn an_address_lies_in_a_network_however_either_is_written() {
        for (network, address, inside) in [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.0", false),
            ("10.0.0.0/8", "::ffff:10.0.0.1", true),
            ("::ffff:10.0.0.0/104", "10.0.0.1", true),
            ("::ffff:10.0.0.1", "10.0.0.1", true),
            ("::ffff:0:0/96", "203.0.113.7", true),
            ("::ffff:0:0/96", "2001:db8::1", false),
            ("203.0.113.7", "203.0.113.7", true),
            ("203.0.113.7", "203.0.113.8", false),
            ("2001:db8::/32", "2001:db8:ffff::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("0.0.0.0/0", "255.255.255.255", true),
            ("0.0.0.0/0", "::1", false),
            ("::/0", "::1", true),
            ("::/0", "10.0.0.1", false),
        ] {
            assert_eq!(networks(&[network]).contains(address.parse().unwrap()), inside, "{network} {address}");
        }
        assert!(!Networks::default().contains(IpAddr::from([127, 0, 0, 1])));
    }

    #[test]
    fn named_networks_are_what_their_names_say() {
        let of = |name: &str| named(name).unwrap().collect::<Networks>();
        let has = |networks: &Networks, address: &str| networks.contains(address.parse().unwrap());
        let (loopback, private) = (of("loopback"), of("private"));
        assert!(has(&loopback, "127.1.2.3") && has(&loopback, "::1") && !has(&loopback, "10.0.0.1"));
        for inside in ["10.1.2.3", "172.31.0.1", "192.168.0.1", "fd00::1"] {
            assert!(has(&private, inside), "{inside}");
        }
        for outside in ["127.0.0.1", "172.32.0.1", "100.64.0.1", "169.254.0.1", "fe80::1", "203.0.113.7"] {
            assert!(!has(&private, outside), "{outside}");
        }
        assert!(named("public").is_none());
    }

    #[test]
    fn all_of_ipv4_is_seen_also_in_two_halves() {
        assert!(networks(&["0.0.0.0/0"]).hold_everyone() && networks(&["::/0"]).hold_everyone());
        assert!(networks(&["0.0.0.0/1", "128.0.0.0/1"]).hold_everyone());
        assert!(!networks(&["0.0.0.0/1", "10.0.0.0/8"]).hold_everyone());
    }

    #[test]
    fn the_faulty_part_of_a_network_is_named() {
        for (text, message) in [
            ("10.0.0", "`10.0.0` is no address"),
            ("010.0.0.1", "`010.0.0.1` is no address"),
            ("10.0.0/8", "`10.0.0/8` has no address before the slash"),
            ("10.0.0.0/33", "`10.0.0.0/33` has no number from 0 to 32 after the slash"),
            ("10.0.0.0/+8", "`10.0.0.0/+8` has no number from 0 to 32 after the slash"),
            ("::/129", "`::/129` has no number from 0 to 128 after the slash"),
            ("10.0.0.0/", "`10.0.0.0/` has no number from 0 to 32 after the slash"),
            ("10.0.0.1/8", "`10.0.0.1/8` has bits set beyond its prefix"),
            ("2001:db8::1/64", "`2001:db8::1/64` has bits set beyond its prefix"),
        ] {
            assert_eq!(read(text).unwrap_err().message(), message);
            assert!(looks_like_one(text) || text.contains('+'), "{text}");
        }
        assert!(!looks_like_one("proxies.txt") && !looks_like_one("./a") && !looks_like_one("/etc/b.d"));
        assert!(!looks_like_one("cafe"), "a file may be called by letters that are digits too");
    }

    proptest! {
        /// However many networks overlap, the set holds what any of them holds.
        #[test]
        fn a_set_holds_what_one_of_its_networks_holds(
            parts in proptest::collection::vec((any::<[u8; 2]>(), 0..=16_u8, any::<bool>()), 0..12),
            looked_for in any::<[u8; 2]>(),
            v6 in any::<bool>(),
        ) {
            let address = |[a, b]: [u8; 2], v6: bool| match v6 {
                true => IpAddr::from([a, b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
                false => IpAddr::from([a, b, 0, 1]),
            };
            let all: Vec<IpNet> =
                parts.iter().map(|(bytes, prefix, v6)| IpNet::new(address(*bytes, *v6), *prefix).unwrap()).collect();
            let looked_for = address(looked_for, v6);
            let expected = all.iter().any(|network| network.contains(&looked_for.to_canonical()));
            prop_assert_eq!(all.into_iter().collect::<Networks>().contains(looked_for), expected);
        }
    }
}
