//! What lies in a server.

use std::io;
use std::time::Duration;

use super::{Connection, Reply};

/// A key of Redis.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredKey {
    /// Its name.
    pub name: String,
    /// How long it will still be there; `None`: for ever.
    pub expires_in: Option<Duration>,
}

impl StoredKey {
    /// All keys whose name matches the pattern, sorted. A key that goes away meanwhile is left out.
    pub(super) fn scan(connection: &mut Connection, pattern: &str) -> io::Result<Vec<StoredKey>> {
        let mut keys = Vec::new();
        let mut cursor = "0".to_owned();
        loop {
            let page = connection.ask(&["SCAN", &cursor, "MATCH", pattern, "COUNT", "1000"])?;
            let [next, names] = page.list() else { return Err(io::Error::other(format!("no page: {page:?}"))) };
            let names: Vec<String> = names.list().iter().map(Reply::text).collect();
            for name in &names {
                connection.send(&["PTTL", name])?;
            }
            for name in names {
                match connection.reply()?.integer() {
                    -2 => {}
                    -1 => keys.push(StoredKey { name, expires_in: None }),
                    millis => {
                        let expires_in = Some(Duration::from_millis(millis.unsigned_abs()));
                        keys.push(StoredKey { name, expires_in });
                    }
                }
            }
            cursor = next.text();
            if cursor == "0" {
                // A key may come twice.
                keys.sort_unstable();
                keys.dedup_by(|a, b| a.name == b.name);
                return Ok(keys);
            }
        }
    }
}
