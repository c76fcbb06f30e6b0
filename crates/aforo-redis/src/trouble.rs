//! Trouble: why a call brought no answer, and what that says about the server.

use std::borrow::Cow;
use std::fmt;

use aforo_core::{StoreError, StoreErrorKind};
use redis::{ErrorKind, RedisError, ServerErrorKind};

/// Why a call brought no answer.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    pub(crate) kind: StoreErrorKind,
    pub(crate) sign: Sign,
    /// Whether it is why the breaker is open, and not this call's own: the call was not sent.
    pub(crate) known: bool,
    text: Cow<'static, str>,
}

/// What a failed call says about the server that it was put to.
///
/// | the server's word | sign | because |
/// |---|---|---|
/// | nothing in time, a lost connection | `Doubtful` | one packet may be late; several in a row are a server that is gone |
/// | `READONLY`, `MASTERDOWN` | `Unable` | a replica: the primary must be looked for, and no write can succeed until then |
/// | `LOADING` | `Unable` | it reads its data, and says so to everyone |
/// | `NOAUTH`, `WRONGPASS`, `NOPERM` | `Unable` | every call needs the same permission; only an operator ends it, and the probe notices |
/// | `CLUSTERDOWN`, `BUSY` | `Doubtful` | the first may concern one slot, the second one moment |
/// | `ERR` and what else a script meets | `Doubtful` | one odd key must not switch the store off, a script that always fails must |
/// | `OOM`, `MISCONF`, `NOREPLICAS` | `Well` | it refuses to write, so takes fail, at once; but its denials are still right, and worth asking for |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// It answered. The trouble is this call's own.
    Well,
    /// A few of these in a row, and it counts as gone.
    Doubtful,
    /// It cannot serve anyone, by its own word.
    Unable,
}

// === impl Trouble ===

impl Trouble {
    pub(crate) fn new(kind: StoreErrorKind, sign: Sign, text: impl Into<Cow<'static, str>>) -> Trouble {
        Trouble { kind, sign, known: false, text: text.into() }
    }

    /// Nothing came in time.
    pub(crate) fn late(text: impl Into<Cow<'static, str>>) -> Trouble {
        Trouble::new(StoreErrorKind::Timeout, Sign::Doubtful, text)
    }

    /// It could not be reached, or was lost.
    pub(crate) fn unreachable(text: impl Into<Cow<'static, str>>) -> Trouble {
        Trouble::new(StoreErrorKind::Connection, Sign::Doubtful, text)
    }

    /// It does not let us in.
    pub(crate) fn refused(error: &RedisError) -> Trouble {
        Trouble::new(StoreErrorKind::Other, Sign::Unable, in_words(error))
    }

    /// The same, for a call that was not sent because of it.
    pub(crate) fn known(self) -> Trouble {
        Trouble { known: true, ..self }
    }

    /// The same, said of a server.
    pub(crate) fn of(self, server: impl fmt::Display) -> Trouble {
        Trouble { text: format!("{server}: {}", self.text).into(), ..self }
    }
}

impl From<RedisError> for Trouble {
    fn from(error: RedisError) -> Trouble {
        let (kind, sign) = match error.kind() {
            ErrorKind::Server(ServerErrorKind::ResponseError) | ErrorKind::Extension => {
                in_the_words_of_the_server(error.code().unwrap_or_default(), error.detail().unwrap_or_default())
            }
            ErrorKind::Server(
                ServerErrorKind::ReadOnly | ServerErrorKind::MasterDown | ServerErrorKind::BusyLoading,
            ) => (StoreErrorKind::Other, Sign::Unable),
            ErrorKind::Server(ServerErrorKind::NoPerm) => (StoreErrorKind::Script, Sign::Unable),
            ErrorKind::Server(ServerErrorKind::NoScript | ServerErrorKind::CrossSlot) => {
                (StoreErrorKind::Script, Sign::Doubtful)
            }
            ErrorKind::Io => (StoreErrorKind::Connection, Sign::Doubtful),
            _ => (StoreErrorKind::Other, Sign::Doubtful),
        };
        Trouble::new(kind, sign, in_words(&error))
    }
}

impl From<Trouble> for StoreError {
    fn from(trouble: Trouble) -> StoreError {
        StoreError::new(trouble.kind)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// An error that the client library leaves to its code. Up to 6.2 a script's own error came as ERR, with the code of the
/// command that failed somewhere in the text.
fn in_the_words_of_the_server(code: &str, detail: &str) -> (StoreErrorKind, Sign) {
    let says = |word: &str| code == word || (code == "ERR" && detail.split([' ', '-']).any(|part| part == word));
    if says("READONLY") || says("LOADING") || says("MASTERDOWN") || says("NOAUTH") || says("WRONGPASS") {
        (StoreErrorKind::Other, Sign::Unable)
    } else if says("NOPERM") {
        (StoreErrorKind::Script, Sign::Unable)
    } else if says("OOM") || says("MISCONF") || says("NOREPLICAS") {
        (StoreErrorKind::Other, Sign::Well)
    } else if code == "BUSY" {
        (StoreErrorKind::Other, Sign::Doubtful)
    } else {
        (StoreErrorKind::Script, Sign::Doubtful)
    }
}

/// The server's own line for its errors; the library's for the others.
fn in_words(error: &RedisError) -> String {
    match (error.code(), error.detail()) {
        (Some(code), Some(detail)) => format!("{code} {detail}"),
        (Some(code), None) => code.to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> Trouble {
        let reply = redis::parse_redis_value(format!("-{line}\r\n").as_bytes()).and_then(redis::Value::extract_error);
        reply.unwrap_err().into()
    }

    #[test]
    fn a_replica_cannot_serve_whether_it_says_so_itself_or_through_a_script() {
        for line in [
            "READONLY You can't write against a read only replica.",
            "READONLY You can't write against a read only replica. script: c0ffee, on @user_script:1.",
            "ERR Error running script (call to f_c0ffee): @user_script:1: -READONLY You can't write against a read only replica.",
        ] {
            assert_eq!(said(line).sign, Sign::Unable, "{line}");
        }
    }

    #[test]
    fn a_full_memory_is_no_reason_to_stop_asking() {
        for line in [
            "OOM command not allowed when used memory > 'maxmemory'. script: c0ffee, on @user_script:1.",
            "ERR Error running script (call to f_c0ffee): @user_script:1: -OOM command not allowed when used memory > 'maxmemory'.",
        ] {
            assert_eq!(said(line).sign, Sign::Well, "{line}");
            assert_eq!(said(line).kind, StoreErrorKind::Other, "{line}");
        }
    }

    #[test]
    fn what_is_forbidden_is_not_a_server_that_is_well() {
        let trouble = said("NOPERM User limits has no permissions to run the 'evalsha' command");
        assert_eq!((trouble.kind, trouble.sign), (StoreErrorKind::Script, Sign::Unable));
        assert_eq!(trouble.to_string(), "NOPERM User limits has no permissions to run the 'evalsha' command");
        assert_eq!(said("NOAUTH Authentication required.").sign, Sign::Unable);
    }

    #[test]
    fn a_script_that_fails_is_doubtful() {
        for line in [
            "ERR Error running script (call to f_c0ffee): @user_script:1: attempt to index a nil value",
            "WRONGTYPE Operation against a key holding the wrong kind of value script: c0ffee, on @user_script:1.",
        ] {
            let trouble = said(line);
            assert_eq!((trouble.kind, trouble.sign), (StoreErrorKind::Script, Sign::Doubtful), "{line}");
        }
    }

    #[test]
    fn a_lost_connection_is_trouble_with_the_connection() {
        let trouble = Trouble::from(RedisError::from(std::io::Error::from(std::io::ErrorKind::ConnectionReset)));
        assert_eq!((trouble.kind, trouble.sign), (StoreErrorKind::Connection, Sign::Doubtful));
    }
}
