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
/// | `NOAUTH`, `WRONGPASS`, `NOPERM`, of a script too | `Unable` | every call needs the same permission; only an operator ends it, and the probe notices |
/// | `CLUSTERDOWN`, `BUSY` | `Doubtful` | the first may concern one slot, the second one moment |
/// | `ERR` and what else a script meets | `Doubtful` | one odd key must not switch the store off, a script that always fails must |
/// | `OOM`, `MISCONF`, `NOREPLICAS` | `Hindered` | it refuses to write, so takes fail, at once; but its denials are still right, and worth asking for |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// It answered. The trouble is this call's own.
    Well,
    /// It answered that it refuses to write.
    Hindered,
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

    /// Whether the server lets nobody in without a password, and we have none.
    pub(crate) fn asks_for_password(&self) -> bool {
        self.text == PASSWORD
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
    let shut_out = asks_for_password(code, detail) || says("NOAUTH") || says("WRONGPASS");
    let misplaced = runs_no_scripts(detail) || says("READONLY") || says("LOADING") || says("MASTERDOWN");
    if shut_out || misplaced {
        (StoreErrorKind::Other, Sign::Unable)
    } else if says("NOPERM") || is_forbidden_in_script(detail) {
        (StoreErrorKind::Script, Sign::Unable)
    } else if says("OOM") || says("MISCONF") || says("NOREPLICAS") {
        (StoreErrorKind::Other, Sign::Hindered)
    } else if code == "BUSY" {
        (StoreErrorKind::Other, Sign::Doubtful)
    } else {
        (StoreErrorKind::Script, Sign::Doubtful)
    }
}

const PASSWORD: &str =
    "the server asks for a password: write redis://:PASSWORD@HOST, or USER:PASSWORD@ for an ACL user (NOAUTH)";

/// A question has more words than a server reads from somebody who has not logged in, so it may not even come to NOAUTH.
fn asks_for_password(code: &str, detail: &str) -> bool {
    code == "NOAUTH" || detail.contains("unauthenticated multibulk length")
}

/// The words up to 7.0, and those since.
fn is_forbidden_in_script(detail: &str) -> bool {
    detail.contains("The user executing the script can't") || detail.contains("ACL failure in script")
}

fn runs_no_scripts(detail: &str) -> bool {
    let detail = detail.to_ascii_lowercase();
    detail.starts_with("unknown command") && (detail.contains("evalsha") || detail.contains("'eval'"))
}

/// What would be right, where the server's line does not say it; else that line, and the library's for other errors.
fn in_words(error: &RedisError) -> String {
    let (code, detail) = (error.code().unwrap_or_default(), error.detail().unwrap_or_default());
    if asks_for_password(code, detail) {
        return PASSWORD.to_owned();
    }
    if runs_no_scripts(detail) {
        return "the server knows no EVALSHA, so no script can be run there: if it is a Sentinel, write \
                redis-sentinel://HOST/SERVICE"
            .to_owned();
    }
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
            assert_eq!(said(line).sign, Sign::Hindered, "{line}");
            assert_eq!(said(line).kind, StoreErrorKind::Other, "{line}");
        }
    }

    #[test]
    fn what_is_forbidden_is_not_a_server_that_is_well() {
        let trouble = said("NOPERM User limits has no permissions to run the 'evalsha' command");
        assert_eq!((trouble.kind, trouble.sign), (StoreErrorKind::Script, Sign::Unable));
        assert_eq!(trouble.to_string(), "NOPERM User limits has no permissions to run the 'evalsha' command");
    }

    #[test]
    fn what_is_forbidden_to_a_script_is_forbidden() {
        for line in [
            "ERR Error running script (call to f_c0ffee): @user_script:1: @user_script: 1: The user executing the script can't run this command or subcommand",
            "ERR The user executing the script can't run this command or subcommand script: c0ffee, on @user_script:1.",
            "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments script: c0ffee, on @user_script:1.",
            "ERR ACL failure in script: User limits has no permissions to run the 'set' command script: c0ffee, on @user_script:1.",
            "NOPERM ACL failure in script: User limits has no permissions to run the 'set' command",
        ] {
            let trouble = said(line);
            assert_eq!((trouble.kind, trouble.sign), (StoreErrorKind::Script, Sign::Unable), "{line}");
        }
    }

    #[test]
    fn a_password_that_is_missing_is_told_with_where_to_write_it() {
        for line in ["NOAUTH Authentication required.", "ERR Protocol error: unauthenticated multibulk length"] {
            let trouble = said(line);
            assert_eq!(trouble.sign, Sign::Unable, "{line}");
            assert!(trouble.to_string().contains("redis://:PASSWORD@HOST"), "{trouble}");
        }
    }

    #[test]
    fn a_server_without_scripts_is_asked_whether_it_is_a_sentinel() {
        let trouble = said("ERR unknown command 'EVALSHA', with args beginning with: 'c0ffee' '1' 'aforo:{a}:b' ");
        assert_eq!(trouble.sign, Sign::Unable);
        assert!(trouble.to_string().contains("redis-sentinel://"), "{trouble}");
        let missing = said("ERR Unknown Redis command called from script script: c0ffee, on @user_script:1.");
        assert_eq!(missing.sign, Sign::Doubtful);
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
