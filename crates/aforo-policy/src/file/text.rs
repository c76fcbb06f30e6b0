//! The texts that have a form of their own.

use std::net::SocketAddr;
use std::time::Duration;

use super::field::Text;
use super::settings::StoreSettings;
use crate::allowance::Amount;
use crate::names::is_token;
use crate::{Fact, Invalid, Match, Methods, Percent, Template, duration};

/// The longest duration of a setting.
const LONGEST: Duration = Duration::from_secs(366 * 86_400);
/// The longest that a request may wait for its decision.
const LONGEST_DEADLINE: Duration = Duration::from_secs(10);
/// The farthest that clocks may differ.
const LONGEST_LEEWAY: Duration = Duration::from_secs(600);
/// The longest name of a user, in bytes.
const LONGEST_USER: usize = 256;
/// The longest prefix of keys.
const LONGEST_PREFIX: usize = 64;

/// Whether a text has its form.
pub(super) fn conforms(form: Text, text: &str) -> Result<(), Invalid> {
    match form {
        Text::Any | Text::File | Text::Network if !text.trim().is_empty() => Ok(()),
        Text::Any | Text::File | Text::Network => {
            Err(Invalid::new("the text is empty", "leave the key out, or write something"))
        }
        Text::Secret if !text.trim().is_empty() => Ok(()),
        Text::Secret => Err(Invalid::new("the secret is empty", "set the value, for example in the environment")),
        Text::Address => address(text).map(drop),
        Text::Deadline => deadline(text).map(drop),
        Text::Duration => setting(text).map(drop),
        Text::Fact => text.parse::<Fact>().map(drop),
        Text::HeaderName if is_token(text) => Ok(()),
        Text::HeaderName => {
            Err(Invalid::new(format!("`{text}` is no header's name"), "write the name alone, for example x-request-id"))
        }
        Text::Host => at_any_path(text).map(drop),
        Text::Leeway => leeway(text).map(drop),
        Text::Match => text.parse::<Match>().map(drop),
        Text::Origin => origin(text).map(drop),
        Text::Path => text.parse::<Template>().map(drop),
        Text::Percent => text.parse::<Percent>().map(drop),
        Text::Prefix => prefix(text),
        Text::Quota => text.parse::<Amount>().map(drop),
        Text::Sha256 => super::identity::sha256(text).map(drop),
        Text::Store => StoreSettings::named(text).map(drop),
        Text::Url => url(text),
        Text::User => user(text),
    }
}

fn at_any_path(host: &str) -> Result<Match, Invalid> {
    Match::every(Methods::Any, "/".parse()?).at_host(host)
}

/// `127.0.0.1:8080`, `[::1]:8080`.
pub(super) fn address(text: &str) -> Result<SocketAddr, Invalid> {
    let help = "write an address and a port: 127.0.0.1:8080, [::1]:8080, or 0.0.0.0:8080 for every interface";
    text.parse().map_err(|_| {
        let what = match text.rsplit_once(':') {
            Some((host, port)) if port.parse::<u16>().is_ok() && !host.is_empty() => "no IP address before the port",
            Some((_, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => {
                "no port up to 65535"
            }
            _ => "no address and port",
        };
        Invalid::new(format!("`{text}` is {what}"), help)
    })
}

/// A duration that something waits: more than nothing.
pub(super) fn setting(text: &str) -> Result<Duration, Invalid> {
    let duration = duration::read(text, false)?;
    if duration.is_zero() || duration > LONGEST {
        return Err(Invalid::new(format!("`{text}` is no time to wait"), "write a time from 1ms to 366d"));
    }
    Ok(duration)
}

/// How long a request may wait for its decision.
pub(super) fn deadline(text: &str) -> Result<Duration, Invalid> {
    let duration = duration::read(text, false)?;
    if duration.is_zero() || duration > LONGEST_DEADLINE {
        let help = "write a time from 1ms to 10s: every request may have to wait so long";
        return Err(Invalid::new(format!("`{text}` is no time to wait for a decision"), help));
    }
    Ok(duration)
}

/// How far clocks may differ.
pub(super) fn leeway(text: &str) -> Result<Duration, Invalid> {
    let duration = duration::read(text, false)?;
    if duration > LONGEST_LEEWAY {
        let help = "write a time up to 10min: for so long a token lives on after its end";
        return Err(Invalid::new(format!("`{text}` is too far for clocks to differ"), help));
    }
    Ok(duration)
}

/// A name that may stand in keys and on pages.
fn user(text: &str) -> Result<(), Invalid> {
    if (1..=LONGEST_USER).contains(&text.len()) && !text.trim().is_empty() && !text.contains(char::is_control) {
        return Ok(());
    }
    let message = format!("`{}` is no name of a user", text.escape_debug());
    Err(Invalid::new(message, "write 1 to 256 bytes without control characters, for example alice"))
}

/// An origin as browsers write it, or `*` for each.
pub(super) fn origin(text: &str) -> Result<String, Invalid> {
    if text == "*" {
        return Ok(text.to_owned());
    }
    let help = "write for example https://app.example, or https://app.example:8443";
    let origin = text.to_ascii_lowercase();
    if origin.ends_with('/') || url(&origin).is_err() {
        return Err(Invalid::new(format!("`{text}` is no origin"), help));
    }
    let port = [("http://", ":80"), ("https://", ":443")];
    if let Some((_, port)) = port.iter().find(|(scheme, port)| origin.starts_with(scheme) && origin.ends_with(port)) {
        let shorter = origin.strip_suffix(port).unwrap_or(&origin);
        return Err(Invalid::new(
            format!("`{text}` names the usual port"),
            format!("browsers leave it out: write {shorter}"),
        ));
    }
    Ok(origin)
}

/// What the names of keys may begin with.
pub(super) fn prefix(text: &str) -> Result<(), Invalid> {
    // A brace would end or begin what Redis Cluster spreads keys by.
    let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'{' && byte != b'}';
    if (1..=LONGEST_PREFIX).contains(&text.len()) && text.bytes().all(plain) {
        return Ok(());
    }
    let help = "write 1 to 64 printable ASCII characters without spaces and braces, for example shop";
    Err(Invalid::new(format!("`{}` is no prefix of keys", text.escape_debug()), help))
}

/// An origin: a scheme, a host and perhaps a port.
fn url(text: &str) -> Result<(), Invalid> {
    let help = "write for example http://127.0.0.1:3000";
    let wrong = |what: &str| Err(Invalid::new(format!("`{text}` {what}"), help));
    if text.contains('@') {
        // It may hold a password, wherever in it, so it is not repeated.
        return Err(Invalid::new("the URL has a user in it", "write the host and the port alone"));
    }
    let Some((scheme, rest)) = text.split_once("://") else {
        return wrong("is no URL");
    };
    if scheme != "http" && scheme != "https" {
        return wrong("has a scheme that is neither http nor https");
    }
    let (authority, path) = rest.find(['/', '?', '#']).map_or((rest, ""), |at| rest.split_at(at));
    if !path.is_empty() && path != "/" {
        return Err(Invalid::new(
            format!("`{text}` has more than a host and a port"),
            format!("requests keep their own path: write {scheme}://{authority}"),
        ));
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    if port.is_some_and(|port| !port.parse::<u16>().is_ok_and(|port| port > 0)) {
        return wrong("has no port from 1 to 65535 after the colon");
    }
    if at_any_path(host).is_err() {
        return wrong("has no host");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_is_an_origin() {
        for text in ["http://127.0.0.1:3000", "https://api.example", "http://[::1]:80", "http://localhost:1/"] {
            assert!(url(text).is_ok(), "{text}");
        }
        for text in [
            "127.0.0.1:3000",
            "ftp://a",
            "http://",
            "http://:80",
            "http://a:0",
            "http://a:99999",
            "http://a:",
            "http://a/b",
            "http://a?b",
            "http://u:p@a",
            "http://[::1",
            "http://a b",
            "",
        ] {
            assert!(url(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_password_in_a_url_is_not_repeated() {
        for text in ["http://user:hunter2@a", "user:hunter2@a", "ftp://u:hunter2@a", "http://u:hun/ter2@a"] {
            assert!(!url(text).unwrap_err().to_string().contains("ter2"), "{text}");
        }
    }
}
